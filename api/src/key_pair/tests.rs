//! Keys and CSRs of every kind.

use aws_lc_rs::signature::{EcdsaKeyPair, Ed25519KeyPair};
use chancery_shared::wire::algorithm::KeyAlgorithm;

use super::KeyPair;
use crate::inventory::csr_generator::csr_signature;
use crate::inventory::local_ca::algorithm::key_name;
use crate::issuance::csr_request::ParsedCsr;
use crate::name::{SubjectAltName, dn_text};

#[test]
fn a_csr_of_every_kind_of_key_proves_possession_and_asks_for_its_names() {
    let subject = dn_text::parse("CN=www.example.test,O=Example").unwrap();
    let names = vec![SubjectAltName::parse("DNS:www.example.test").unwrap()];
    for key in KeyAlgorithm::ALL {
        for hash in [None, Some("SHA-256"), Some("SHA-384"), Some("SHA-512")] {
            let Some(how) = csr_signature(key, hash) else { continue };
            let pair = KeyPair::generate(key).unwrap();

            let csr = ParsedCsr::read(pair.csr(&subject, &names, how).unwrap()).unwrap();

            let shown = key_name(key);
            assert_eq!(csr.verify_possession(), Ok(()), "{shown} {hash:?}");
            assert_eq!((csr.spki(), csr.subject()), (pair.spki(), &subject), "{shown}");
            assert_eq!(csr.subject_alt_names(), names, "{shown}");
        }
    }
}

#[test]
fn a_csr_without_names_or_without_a_subject_can_be_read_too() {
    let pair = KeyPair::generate(KeyAlgorithm::Ed25519).unwrap();
    let how = csr_signature(KeyAlgorithm::Ed25519, None).unwrap();
    let names = [SubjectAltName::parse("EMAIL:a@example.test").unwrap()];
    for (dn, names) in [("CN=x", &names[..0]), ("", &names[..])] {
        let subject = if dn.is_empty() {
            crate::name::DistinguishedName::empty()
        } else {
            dn_text::parse(dn).unwrap()
        };

        let csr = ParsedCsr::read(pair.csr(&subject, names, how).unwrap()).unwrap();

        assert_eq!(csr.verify_possession(), Ok(()));
        assert_eq!(csr.subject_alt_names(), names);
    }
}

#[test]
fn a_private_key_comes_back_from_its_pkcs8_and_is_never_printed() {
    let elliptic = KeyPair::generate(KeyAlgorithm::EcdsaP521).unwrap();
    let edwards = KeyPair::generate(KeyAlgorithm::Ed25519).unwrap();
    let rsa = KeyPair::generate(KeyAlgorithm::Rsa2048).unwrap();

    let algorithm = &aws_lc_rs::signature::ECDSA_P521_SHA512_ASN1_SIGNING;
    assert!(EcdsaKeyPair::from_pkcs8(algorithm, &elliptic.to_pkcs8().unwrap()).is_ok());
    let pkcs8 = edwards.to_pkcs8().unwrap();
    assert!(Ed25519KeyPair::from_pkcs8_maybe_unchecked(&pkcs8).is_ok());
    let again = aws_lc_rs::rsa::KeyPair::from_pkcs8(&rsa.to_pkcs8().unwrap());
    assert!(again.is_ok());
    assert_eq!(format!("{rsa:?}"), "KeyPair { algorithm: Rsa2048, .. }");
}
