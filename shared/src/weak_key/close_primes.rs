//! RSA moduli whose primes lie so close that Fermat's method finds them.

use std::sync::LazyLock;

use num_bigint::BigUint;

/// How many steps of Fermat's method are tried, as other CAs do.
const FERMAT_ROUNDS: u32 = 100;

/// CVE-2022-26320: where the primes share their upper half, Fermat's method finds them at once.
pub(super) fn has_close_primes(modulus: &[u8]) -> bool {
    let modulus = BigUint::from_bytes_be(modulus);
    let root = modulus.sqrt();
    if &root * &root == modulus {
        return true;
    }
    // With n = a² − b², the factors are a − b and a + b.
    let first = root + 1_u32;
    let of_modulus = SmallResidues::of(&modulus);
    let of_first = SmallResidues::of(&first);
    (0..FERMAT_ROUNDS).any(|round| {
        of_first.may_exceed_by_a_square(round, of_modulus) && {
            let a = &first + round;
            is_square(&(&a * &a - &modulus))
        }
    })
}

/// A square is one modulo every number; by these, none over 64, two of a thousand others look like one.
const SIEVES: [u32; 6] = [64, 63, 61, 59, 55, 53];

/// A large number modulo each of [`SIEVES`].
#[derive(Clone, Copy)]
struct SmallResidues([u32; SIEVES.len()]);

impl SmallResidues {
    fn of(number: &BigUint) -> Self {
        // 64 divides a word, and the product of the others fits into one.
        let product: u32 = SIEVES.iter().skip(1).product();
        let low = number.iter_u32_digits().next().unwrap_or(0);
        let others = u32::try_from(number % product).unwrap_or(0);
        Self(SIEVES.map(|sieve| if sieve == 64 { low % sieve } else { others % sieve }))
    }

    /// Whether (this + more)² − `other` may be a square.
    fn may_exceed_by_a_square(self, more: u32, other: Self) -> bool {
        let sieves = SIEVES.iter().zip(SQUARES.iter()).zip(self.0.iter().zip(&other.0));
        for ((sieve, squares), (this, other)) in sieves {
            let sum = this + more;
            let difference = (sum * sum + sieve - other) % sieve;
            if squares >> difference & 1 == 0 {
                return false;
            }
        }
        true
    }
}

/// The residues of squares modulo each of [`SIEVES`], a bit each.
static SQUARES: LazyLock<[u64; SIEVES.len()]> = LazyLock::new(|| {
    SIEVES.map(|sieve| (0..sieve).fold(0, |squares, root| squares | 1 << (root * root % sieve)))
});

fn is_square(number: &BigUint) -> bool {
    let root = number.sqrt();
    &root * &root == *number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Step by step, as Fermat did it.
    fn has_close_factors(number: u128) -> bool {
        let root = number.isqrt();
        let squares = (1..=u128::from(FERMAT_ROUNDS)).map(|round| (root + round).pow(2) - number);
        root.pow(2) == number || squares.into_iter().any(|square| square.isqrt().pow(2) == square)
    }

    proptest::proptest! {
        #[test]
        fn close_factors_are_those_of_fermats_method(one in 1_u64..1 << 60, apart in 0_u64..1 << 36) {
            for apart in [apart, apart >> 4, apart >> 12, apart >> 35] {
                let number = u128::from(one) * u128::from(one + apart);
                let found = has_close_primes(&number.to_be_bytes());

                proptest::prop_assert_eq!(found, has_close_factors(number), "{} apart", apart);
            }
        }
    }
}
