//! What must pass.

use aws_lc_rs::rsa::KeySize;
use chancery_shared::bytes::Fixed;
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::SignatureAlgorithm;

use crate::policy::fixture::keys::{self, Key};
use crate::policy::fixture::parts::{
    AIA, BASIC_CONSTRAINTS, CRL_DISTRIBUTION_POINTS, Critical, EXT_KEY_USAGE, KEY_USAGE, POLICIES,
    SAN, SKI,
};
use crate::policy::fixture::{asn1::*, *};

#[test]
fn an_ordinary_certificate_passes_for_every_type_of_subject_key() {
    let keys = [
        Key::p256(),
        Key::p384(),
        Key::p521(),
        Key::ed25519(),
        Key::rsa(KeySize::Rsa2048),
        Key::rsa(KeySize::Rsa3072),
        Key::rsa(KeySize::Rsa4096),
    ];

    for key in keys {
        let key: &'static Key = Box::leak(Box::new(key));
        let case = Case::certificate_for(key);

        let checked = case.check().unwrap_or_else(|error| panic!("{key:?}: {error}"));

        assert_eq!(checked.der(), case.der());
        assert_eq!(checked.spki(), key.spki);
        assert!(checked.csr().is_some());
        assert_eq!(checked.nonce(), case.nonce);
        assert_eq!(checked.operation(), "sign-certificate");
    }
}

#[test]
fn a_certificate_with_every_known_extension_passes() {
    let mut case = Case::certificate();
    let location = tlv(0x86, b"http://pki.example.org/ca.crl");
    let point = sequence(&[&tlv(0xa0, &tlv(0xa0, &location))]);
    case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &sequence(&[&point]));
    let access = |method| sequence(&[&oid(method), &uri("http://pki.example.org/ca.cer")]);
    let accesses = [access("1.3.6.1.5.5.7.48.1"), access("1.3.6.1.5.5.7.48.2")].concat();
    case.tbs.set(AIA, Critical::No, &tlv(0x30, &accesses));
    let cps = sequence(&[&oid("1.3.6.1.5.5.7.2.1"), &tlv(0x16, b"https://pki.example.org/cps")]);
    let notice =
        sequence(&[&oid("1.3.6.1.5.5.7.2.2"), &sequence(&[&tlv(0x0c, b"For tests only")])]);
    let policy = sequence(&[&oid("1.3.6.1.4.1.55555.1"), &sequence(&[&cps, &notice])]);
    case.tbs.set(POLICIES, Critical::No, &sequence(&[&policy]));
    case.tbs.set("1.3.6.1.5.5.7.1.24", Critical::No, &[0x30, 3, 2, 1, 5]);
    case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &[0x30, 0]);

    assert!(case.check().is_ok(), "{:?}", case.check());
}

#[test]
fn a_cas_own_certificate_passes_for_every_algorithm() {
    use SignatureAlgorithm as S;
    let rsa = [
        S::RsaPkcs1Sha256,
        S::RsaPkcs1Sha384,
        S::RsaPkcs1Sha512,
        S::RsaPssSha256,
        S::RsaPssSha384,
        S::RsaPssSha512,
    ];
    let table: [(Key, &[S]); 5] = [
        (Key::rsa(KeySize::Rsa2048), &rsa),
        (Key::p256(), &[S::EcdsaSha256, S::EcdsaSha384, S::EcdsaSha512]),
        (Key::p384(), &[S::EcdsaSha384]),
        (Key::p521(), &[S::EcdsaSha512]),
        (Key::ed25519(), &[S::Ed25519]),
    ];

    for (key, algorithms) in table {
        for algorithm in algorithms {
            let nonce = Fixed([1; 40]);
            let checked = checked_own(KeyId::from_bytes([2; 12]), &key.spki, *algorithm, nonce);

            assert_eq!(checked.signature_algorithm(), *algorithm);
            assert_eq!(checked.key_id(), KeyId::from_bytes([2; 12]));
            assert_eq!(checked.nonce(), nonce);
        }
    }
}

#[test]
fn a_key_identifier_by_rfc_7093_passes() {
    let mut case = Case::certificate();
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &keys::SUBJECT.bits());
    case.tbs.set(SKI, Critical::No, &tlv(4, &hash.as_ref()[..20]));

    assert!(case.check().is_ok());
}

#[test]
fn an_rsa_key_may_also_encipher_keys() {
    let mut case = Case::certificate_for(&keys::RSA);
    case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 5, 0xa0]);

    assert!(case.check().is_ok());
}

#[test]
fn a_certificate_without_subject_passes_with_a_critical_alternative_name() {
    let mut case = Case::certificate();
    case.tbs.subject = sequence(&[]);
    case.tbs.set(SAN, Critical::Yes, &names(&[uri("spiffe://example.org/db")]));

    assert!(case.check().is_ok());
}

#[test]
fn a_certificate_without_alternative_names_passes_where_policy_allows_it() {
    let mut case = Case::certificate();
    case.tbs.remove(SAN);

    assert!(case.check().is_ok());
}

#[test]
fn time_stamping_passes_alone_and_critical() {
    let mut case = Case::certificate();
    case.policy.extended_key_usages.push("1.3.6.1.5.5.7.3.8".to_owned());
    case.tbs.set(EXT_KEY_USAGE, Critical::Yes, &purposes(&["1.3.6.1.5.5.7.3.8"]));

    assert!(case.check().is_ok());
}

#[test]
fn an_extension_that_policy_names_passes() {
    let mut case = Case::certificate();
    case.policy.other_extensions.push("1.3.6.1.4.1.311.20.2".to_owned());
    case.tbs.set("1.3.6.1.4.1.311.20.2", Critical::No, &tlv(0x1e, b"\0W\0e\0b"));

    assert!(case.check().is_ok());
}

#[test]
fn a_cas_own_certificate_and_one_below_pass() {
    let own = Case::own().check().unwrap();
    let below = Case::ca().check().unwrap();
    let mut without_csr = Case::ca();
    without_csr.csr = CsrOfDraft::Absent;
    without_csr.ca_keys.push(keys::OTHER_CA.spki.clone());

    assert_eq!(own.operation(), "sign-own-certificate");
    assert_eq!(below.operation(), "sign-ca-certificate");
    assert!(without_csr.check().is_ok());
}
