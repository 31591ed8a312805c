//! Signature algorithms as PKCS#11 mechanisms: what the token is given, and what it gives back.

use aws_lc_rs::digest::{self, SHA256, SHA384, SHA512};
use chancery_shared::wire::MAX_DER;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::KeyType;
use cryptoki::types::Ulong;
use der::asn1::UintRef;
use der::{Encode as _, Sequence};

/// What the token is asked to sign: SoftHSM2 has no ECDSA with a hash, so the digest is made here;
/// RSA and Ed25519 take the message itself.
pub(super) fn prepare(algorithm: SignatureAlgorithm, message: &[u8]) -> Vec<u8> {
    match ecdsa_digest(algorithm) {
        Some(hash) => digest::digest(hash, message).as_ref().to_vec(),
        None => message.to_vec(),
    }
}

/// Whether the length of `data` is one that `prepare` makes. A token signs any.
pub(super) fn fits(algorithm: SignatureAlgorithm, data: &[u8]) -> bool {
    match ecdsa_digest(algorithm) {
        Some(hash) => data.len() == hash.output_len(),
        None => !data.is_empty() && data.len() <= MAX_DER,
    }
}

/// The mechanism that makes signatures of this kind.
pub(super) fn mechanism(algorithm: SignatureAlgorithm) -> Mechanism<'static> {
    use SignatureAlgorithm as S;
    match algorithm {
        S::RsaPkcs1Sha256 => Mechanism::Sha256RsaPkcs,
        S::RsaPkcs1Sha384 => Mechanism::Sha384RsaPkcs,
        S::RsaPkcs1Sha512 => Mechanism::Sha512RsaPkcs,
        S::RsaPssSha256 => Mechanism::Sha256RsaPkcsPss(pss(
            MechanismType::SHA256,
            PkcsMgfType::MGF1_SHA256,
            Ulong::new(32),
        )),
        S::RsaPssSha384 => Mechanism::Sha384RsaPkcsPss(pss(
            MechanismType::SHA384,
            PkcsMgfType::MGF1_SHA384,
            Ulong::new(48),
        )),
        S::RsaPssSha512 => Mechanism::Sha512RsaPkcsPss(pss(
            MechanismType::SHA512,
            PkcsMgfType::MGF1_SHA512,
            Ulong::new(64),
        )),
        S::EcdsaSha256 | S::EcdsaSha384 | S::EcdsaSha512 => Mechanism::Ecdsa,
        S::Ed25519 => Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Ed25519)),
    }
}

/// The type of key that the mechanism wants. SoftHSM2 answers a wrong one with a general error.
pub(super) fn key_type(algorithm: SignatureAlgorithm) -> KeyType {
    use SignatureAlgorithm as S;
    match algorithm {
        S::EcdsaSha256 | S::EcdsaSha384 | S::EcdsaSha512 => KeyType::EC,
        S::Ed25519 => KeyType::EC_EDWARDS,
        S::RsaPkcs1Sha256
        | S::RsaPkcs1Sha384
        | S::RsaPkcs1Sha512
        | S::RsaPssSha256
        | S::RsaPssSha384
        | S::RsaPssSha512 => KeyType::RSA,
    }
}

/// What stands in a certificate's BIT STRING for the token's `raw` answer: the DER of
/// Ecdsa-Sig-Value (RFC 3279, section 2.2.3) for r ‖ s, everything else as it is.
///
/// `None` where the answer is no r ‖ s.
pub(super) fn finish(algorithm: SignatureAlgorithm, raw: Vec<u8>) -> Option<Vec<u8>> {
    if ecdsa_digest(algorithm).is_none() {
        return Some(raw);
    }
    if raw.is_empty() || !raw.len().is_multiple_of(2) {
        return None;
    }
    let (r, s) = raw.split_at(raw.len() / 2);
    let value = EcdsaSigValue { r: UintRef::new(r).ok()?, s: UintRef::new(s).ok()? };
    value.to_der().ok()
}

#[derive(Sequence)]
struct EcdsaSigValue<'a> {
    r: UintRef<'a>,
    s: UintRef<'a>,
}

fn ecdsa_digest(algorithm: SignatureAlgorithm) -> Option<&'static digest::Algorithm> {
    match algorithm {
        SignatureAlgorithm::EcdsaSha256 => Some(&SHA256),
        SignatureAlgorithm::EcdsaSha384 => Some(&SHA384),
        SignatureAlgorithm::EcdsaSha512 => Some(&SHA512),
        _ => None,
    }
}

fn pss(hash_alg: MechanismType, mgf: PkcsMgfType, s_len: Ulong) -> PkcsPssParams {
    PkcsPssParams { hash_alg, mgf, s_len }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ecdsa_answer_becomes_two_integers_without_leading_zeros() {
        // r has a leading zero octet, s a leading one bit.
        let der = finish(SignatureAlgorithm::EcdsaSha256, vec![0x00, 0x01, 0x80, 0x00]);

        assert_eq!(der.as_deref(), Some(b"\x30\x08\x02\x01\x01\x02\x03\x00\x80\x00".as_slice()));
    }

    #[test]
    fn an_odd_or_empty_ecdsa_answer_is_no_signature() {
        for raw in [vec![], vec![1], vec![1, 2, 3]] {
            assert_eq!(finish(SignatureAlgorithm::EcdsaSha384, raw), None);
        }
    }

    #[test]
    fn only_what_prepare_makes_is_given_to_the_token() {
        for algorithm in SignatureAlgorithm::ALL {
            let data = prepare(algorithm, b"message");

            assert!(fits(algorithm, &data), "{algorithm:?}");
            assert!(!fits(algorithm, &[]), "{algorithm:?}");
            assert!(!fits(algorithm, &vec![0; MAX_DER + 1]), "{algorithm:?}");
        }
    }
}
