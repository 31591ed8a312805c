//! RSA moduli that are easy to factor: small factors, and the fingerprint of ROCA.

/// How many bits a big-endian number has.
pub(crate) fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let Some(first) = number.get(zeros) else { return 0 };
    let top = usize::try_from(8 - first.leading_zeros()).unwrap_or_default();
    (number.len() - zeros - 1) * 8 + top
}

/// Whether the modulus has a factor below 752, or the structure of CVE-2017-15361.
pub(super) fn is_weak(modulus: &[u8]) -> bool {
    let has_small_factor = primes().any(|prime| remainder(modulus, prime) == 0);
    has_small_factor || is_roca(modulus)
}

/// Keys of the flawed library are powers of 65,537 modulo each of these primes; a random one
/// passes with a chance of 2^-28 (Nemec et al., "The Return of Coppersmith's Attack", section 2).
fn is_roca(modulus: &[u8]) -> bool {
    primes().skip(1).take_while(|prime| *prime <= 167).all(|prime| {
        let residue = remainder(modulus, prime);
        let mut power = 1;
        loop {
            if power == residue {
                return true;
            }
            power = power * 65_537 % prime;
            if power == 1 {
                return false;
            }
        }
    })
}

fn primes() -> impl Iterator<Item = u64> {
    (2..752).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

fn remainder(number: &[u8], divisor: u64) -> u64 {
    number.iter().fold(0, |rest, byte| (rest * 256 + u64::from(*byte)) % divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_without_leading_zeros() {
        for (number, expected) in
            [(&[][..], 0), (&[0, 0], 0), (&[0, 1], 1), (&[0x80, 0], 16), (&[0x7f, 0xff], 15)]
        {
            assert_eq!(bits(number), expected);
        }
    }

    #[test]
    fn a_small_factor_and_the_structure_of_roca_are_found() {
        // A prime of more than 64 bits, 2^127 - 1.
        let mut prime = [0xff; 16];
        prime[0] = 0x7f;
        // 65,537 is a power of itself modulo every prime.
        let roca = [1, 0, 1];

        assert!(!is_weak(&prime));
        assert!(is_weak(&roca));
        assert!(is_weak(&(743_u32 * 1_000_003).to_be_bytes()));
    }
}
