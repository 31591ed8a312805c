//! Keys that are well-formed and known to be weak all the same.
//!
//! Debian's weak keys of 2008 (CVE-2008-0166) are not among them: their lists are megabytes, and
//! the makers of such keys are long gone.

use std::sync::LazyLock;

use close_primes::has_close_primes;

mod close_primes;

/// Why an RSA key is as good as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakModulus {
    /// A small factor.
    #[error("its modulus can be divided by {0}; make a new key")]
    SmallFactor(u32),
    /// The mark of a flawed library.
    #[error("it has the mark of CVE-2017-15361 (ROCA); make a new key elsewhere")]
    Roca,
    /// Primes that Fermat's method finds.
    #[error("its primes lie so close that it can be factored; make a new key")]
    ClosePrimes,
}

/// Checks an RSA modulus, odd and big-endian.
///
/// # Errors
///
/// The modulus can be factored, and how.
pub fn check_modulus(modulus: &[u8]) -> Result<(), WeakModulus> {
    let residues: Vec<_> = residues(modulus).collect();
    if let Some((prime, _)) = residues.iter().find(|(_, residue)| *residue == 0) {
        // CA/Browser Forum baseline requirements, section 6.1.6: no factor below 752.
        return Err(WeakModulus::SmallFactor(*prime));
    }
    if has_roca_mark(&residues) {
        return Err(WeakModulus::Roca);
    }
    if has_close_primes(modulus) { Err(WeakModulus::ClosePrimes) } else { Ok(()) }
}

/// CVE-2017-15361: Infineon's library made primes `k · M + (65537^a mod M)`, where `M` is the
/// product of the first primes. So modulo each of them the modulus is a power of 65537, which
/// befalls another key about once in 2^28.
fn has_roca_mark(residues: &[(u32, u32)]) -> bool {
    residues.iter().take_while(|(prime, _)| *prime <= LAST_ROCA_PRIME).all(|(prime, residue)| {
        let generator = 65_537 % prime;
        let mut power = 1;
        for _ in 0..*prime {
            if power == *residue {
                return true;
            }
            power = power * generator % prime;
        }
        false
    })
}

/// The last of the 39 primes in the shortest keys' `M`; longer keys have these and more.
const LAST_ROCA_PRIME: u32 = 167;

/// The odd primes below 752, in ascending order, each with the residue of `number`, big-endian.
fn residues(number: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let words = words(number);
    PRODUCTS.iter().flat_map(move |product| {
        let residue = product.remainder(&words);
        product.primes.iter().map(move |prime| (*prime, residue % prime))
    })
}

/// A number in words of 32 bits, the lowest first.
fn words(number: &[u8]) -> Vec<u32> {
    let (head, words) = number.as_rchunks::<4>();
    let head = head.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let head = (head != 0).then_some(head);
    words.iter().rev().map(|word| u32::from_be_bytes(*word)).chain(head).collect()
}

/// Some primes whose product has 32 bits: a long number is gone through once for all of them, and
/// divided once for many words.
struct Product {
    primes: Vec<u32>,
    value: u64,
    /// What each word counts, modulo the product.
    places: [u32; WORDS],
    /// What the word behind those counts.
    next_place: u64,
}

/// Words that are added up before the sum is divided: all of a key of 2,048 bits.
const WORDS: usize = 64;

impl Product {
    fn of(primes: Vec<u32>) -> Self {
        let value = primes.iter().copied().map(u64::from).product();
        let mut place = 1;
        let places = std::array::from_fn(|_| {
            let next = (place << 32) % value;
            u32::try_from(std::mem::replace(&mut place, next)).unwrap_or(u32::MAX)
        });
        Self { primes, value, places, next_place: place }
    }

    /// Of a number in words, the lowest first.
    fn remainder(&self, words: &[u32]) -> u32 {
        let rest = words.chunks(WORDS).rev().fold(0, |rest: u64, words| {
            // Each half in a sum of its own, which 64 bits hold: several words are done at once.
            let (mut low, mut high) = (0, 0);
            for (word, place) in words.iter().zip(&self.places) {
                let counts = u64::from(*word) * u64::from(*place);
                low += counts & u64::from(u32::MAX);
                high += counts >> 32;
            }
            let high = ((high % self.value) << 32) % self.value;
            (low % self.value + high + (rest * self.next_place) % self.value) % self.value
        });
        u32::try_from(rest).unwrap_or(u32::MAX)
    }
}

/// The odd primes below 752, as many together as have a product of 32 bits.
static PRODUCTS: LazyLock<Vec<Product>> = LazyLock::new(|| {
    let mut products: Vec<Vec<u32>> = Vec::new();
    for prime in (3_u32..752).filter(|n| (3..*n).step_by(2).all(|d| n % d != 0) && n % 2 == 1) {
        match products.last_mut() {
            Some(last)
                if last.iter().try_fold(prime, |all, one| all.checked_mul(*one)).is_some() =>
            {
                last.push(prime);
            }
            _ => products.push(vec![prime]),
        }
    }
    products.into_iter().map(Product::of).collect()
});

/// Whether the encoding is of an Ed25519 point whose order divides 8, or not canonical: under
/// such a key signatures can be made without the private key (RFC 8032, section 5.1.7; the
/// points are those of order 1, 2, 4 and 8).
#[must_use]
pub fn has_small_order(point: &[u8; 32]) -> bool {
    let mut y = *point;
    // The top bit is the sign of x.
    let [.., last] = &mut y;
    *last &= 0x7f;
    let is_not_canonical =
        matches!(y, [0xed..=0xff, middle @ .., 0x7f] if middle.iter().all(|byte| *byte == 0xff));
    is_not_canonical || SMALL_ORDER.contains(&y)
}

/// The y coordinates, little-endian: 0, 1, −1, and the two of order 8.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    [
        1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0,
    ],
    [
        0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0x7f,
    ],
    *b"\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\
       \xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05",
    *b"\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f\
       \x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a",
];

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn what_can_be_factored_is_told_from_what_can_not() {
        // Primes: 2^127 - 1, and two that are nearly the same.
        let prime = (1_u128 << 127) - 1;
        let (close, closer) = (4_294_967_291_u128, 4_294_967_279_u128);

        for (modulus, outcome) in [
            (prime, Ok(())),
            (743 * 1_000_003, Err(WeakModulus::SmallFactor(743))),
            // 65537 is a power of itself modulo every prime.
            (65_537, Err(WeakModulus::Roca)),
            (close * closer, Err(WeakModulus::ClosePrimes)),
            (close * close, Err(WeakModulus::ClosePrimes)),
        ] {
            assert_eq!(check_modulus(&modulus.to_be_bytes()), outcome, "{modulus}");
        }
    }

    proptest::proptest! {
        #[test]
        fn residues_are_those_of_a_long_division(number in proptest::collection::vec(0_u8.., 0..1030)) {
            let whole = BigUint::from_bytes_be(&number);
            let expected = (3_u32..752).filter(|n| (2..*n).all(|d| n % d != 0));
            let expected = expected.map(|prime| (prime, u32::try_from(&whole % prime).unwrap()));

            proptest::prop_assert!(residues(&number).eq(expected));
        }
    }

    #[test]
    fn the_ed25519_points_of_small_order_are_known_with_either_sign() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let mut other_sign = identity;
        other_sign[31] = 0x80;

        assert!(has_small_order(&identity) && has_small_order(&other_sign));
        assert!(!has_small_order(&[9; 32]));
    }
}
