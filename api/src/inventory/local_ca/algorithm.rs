//! The names by which administrators choose a CA's algorithms.

use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};

const KEYS: [(&str, KeyAlgorithm); 7] = [
    ("RSA 2048", KeyAlgorithm::Rsa2048),
    ("RSA 3072", KeyAlgorithm::Rsa3072),
    ("RSA 4096", KeyAlgorithm::Rsa4096),
    ("ECDSA P-256", KeyAlgorithm::EcdsaP256),
    ("ECDSA P-384", KeyAlgorithm::EcdsaP384),
    ("ECDSA P-521", KeyAlgorithm::EcdsaP521),
    ("Ed25519", KeyAlgorithm::Ed25519),
];

/// The kind of key of this name.
pub fn key_algorithm(name: &str) -> Option<KeyAlgorithm> {
    KEYS.iter().find_map(|(known, algorithm)| (*known == name).then_some(*algorithm))
}

/// The name of a kind of key.
pub fn key_name(algorithm: KeyAlgorithm) -> &'static str {
    KEYS.iter().find_map(|(name, known)| (*known == algorithm).then_some(*name)).unwrap_or_default()
}

/// Every name of a kind of key, for the message that refuses another.
pub fn key_names() -> String {
    KEYS.map(|(name, _)| name).join(", ")
}

/// How a key signs with this hash; without one, with what suits the key.
pub fn signature_algorithm(
    key: KeyAlgorithm,
    hash: Option<&str>,
    is_pss: bool,
) -> Option<SignatureAlgorithm> {
    use KeyAlgorithm as K;
    use SignatureAlgorithm as S;
    let suits = match key {
        K::EcdsaP384 => "SHA-384",
        K::EcdsaP521 => "SHA-512",
        _ => "SHA-256",
    };
    match (key, hash.unwrap_or(suits), is_pss) {
        (K::Ed25519, _, false) if hash.is_none() => Some(S::Ed25519),
        (K::Rsa2048 | K::Rsa3072 | K::Rsa4096, hash, is_pss) => match (hash, is_pss) {
            ("SHA-256", false) => Some(S::RsaPkcs1Sha256),
            ("SHA-384", false) => Some(S::RsaPkcs1Sha384),
            ("SHA-512", false) => Some(S::RsaPkcs1Sha512),
            ("SHA-256", true) => Some(S::RsaPssSha256),
            ("SHA-384", true) => Some(S::RsaPssSha384),
            ("SHA-512", true) => Some(S::RsaPssSha512),
            _ => None,
        },
        (K::EcdsaP256 | K::EcdsaP384 | K::EcdsaP521, hash, false) => match hash {
            "SHA-256" => Some(S::EcdsaSha256),
            "SHA-384" => Some(S::EcdsaSha384),
            "SHA-512" => Some(S::EcdsaSha512),
            _ => None,
        },
        _ => None,
    }
}

/// The hash of a signature, and whether it is RSASSA-PSS.
pub fn hash_and_pss(algorithm: SignatureAlgorithm) -> (&'static str, bool) {
    use SignatureAlgorithm as S;
    match algorithm {
        S::RsaPkcs1Sha256 | S::EcdsaSha256 => ("SHA-256", false),
        S::RsaPkcs1Sha384 | S::EcdsaSha384 => ("SHA-384", false),
        S::RsaPkcs1Sha512 | S::EcdsaSha512 => ("SHA-512", false),
        S::RsaPssSha256 => ("SHA-256", true),
        S::RsaPssSha384 => ("SHA-384", true),
        S::RsaPssSha512 => ("SHA-512", true),
        S::Ed25519 => ("", false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_algorithm_can_be_chosen_and_is_shown_as_it_was_chosen() {
        for (name, key) in KEYS {
            assert_eq!((key_algorithm(name), key_name(key)), (Some(key), name));
            for algorithm in SignatureAlgorithm::ALL.into_iter().filter(|s| key.makes(*s)) {
                let (hash, is_pss) = hash_and_pss(algorithm);
                let hash = Some(hash).filter(|hash| !hash.is_empty());

                assert_eq!(signature_algorithm(key, hash, is_pss), Some(algorithm), "{name}");
            }
        }
    }

    #[test]
    fn what_no_key_makes_can_not_be_chosen() {
        for (key, hash, is_pss) in [
            (KeyAlgorithm::Ed25519, Some("SHA-256"), false),
            (KeyAlgorithm::Ed25519, None, true),
            (KeyAlgorithm::EcdsaP256, None, true),
            (KeyAlgorithm::Rsa2048, Some("SHA-1"), false),
        ] {
            assert_eq!(signature_algorithm(key, hash, is_pss), None);
        }
    }
}
