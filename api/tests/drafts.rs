//! Drafted certificates, signed with software keys and read by OpenSSL.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "these are tests")]

use std::path::Path;
use std::process::Command;

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair};
use chancery_api::certificate::CertificateFacts;
use chancery_api::inventory::profile_definition::ProfileDefinition;
use chancery_api::issuance::ca_certificate::{CaSubject, draft_own, draft_subordinate};
use chancery_api::issuance::end_entity::{Plan, Subject};
use chancery_api::issuance::extensions::Pointers;
use chancery_api::issuance::issuing_ca::IssuingCa;
use chancery_api::issuance::name_constraints::NameConstraintsText;
use chancery_api::issuance::subject_key::SubjectKeyKind;
use chancery_api::issuance::tbs::Draft;
use chancery_api::name::{DistinguishedName, SubjectAltName, dn_text};
use chancery_shared::bytes::Fixed;
use chancery_shared::certificate::assemble;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-11-28 12:00:00 UTC);

type Sign = dyn Fn(&[u8]) -> Vec<u8>;

/// A key pair in memory, and how it signs.
struct Key {
    spki: Vec<u8>,
    algorithm: SignatureAlgorithm,
    sign: Box<Sign>,
}

fn ecdsa(scheme: &'static signature::EcdsaSigningAlgorithm, algorithm: SignatureAlgorithm) -> Key {
    let pair = EcdsaKeyPair::generate(scheme).unwrap();
    let spki = pair.public_key().as_der().unwrap().as_ref().to_vec();
    let sign = move |tbs: &[u8]| pair.sign(&SystemRandom::new(), tbs).unwrap().as_ref().to_vec();
    Key { spki, algorithm, sign: Box::new(sign) }
}

fn ed25519() -> Key {
    let pair = Ed25519KeyPair::generate().unwrap();
    let spki = pair.public_key().as_der().unwrap().as_ref().to_vec();
    let sign = move |tbs: &[u8]| pair.sign(tbs).as_ref().to_vec();
    Key { spki, algorithm: SignatureAlgorithm::Ed25519, sign: Box::new(sign) }
}

fn rsa(scheme: &'static signature::RsaSignatureEncoding, algorithm: SignatureAlgorithm) -> Key {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let spki = pair.public_key().as_der().unwrap().as_ref().to_vec();
    let sign = move |tbs: &[u8]| {
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(scheme, &SystemRandom::new(), tbs, &mut signature).unwrap();
        signature
    };
    Key { spki, algorithm, sign: Box::new(sign) }
}

fn p256() -> Key {
    ecdsa(&signature::ECDSA_P256_SHA256_ASN1_SIGNING, SignatureAlgorithm::EcdsaSha256)
}

fn keys() -> Vec<Key> {
    vec![
        rsa(&signature::RSA_PKCS1_SHA256, SignatureAlgorithm::RsaPkcs1Sha256),
        rsa(&signature::RSA_PSS_SHA384, SignatureAlgorithm::RsaPssSha384),
        p256(),
        ecdsa(&signature::ECDSA_P384_SHA384_ASN1_SIGNING, SignatureAlgorithm::EcdsaSha384),
        ecdsa(&signature::ECDSA_P521_SHA512_ASN1_SIGNING, SignatureAlgorithm::EcdsaSha512),
        ed25519(),
    ]
}

fn certificate(draft: &Draft, key: &Key) -> Vec<u8> {
    assemble(&draft.tbs, &(key.sign)(&draft.tbs)).unwrap()
}

fn ca_subject<'a>(name: &'a DistinguishedName, key: &'a Key) -> CaSubject<'a> {
    CaSubject {
        name,
        spki: &key.spki,
        lifetime_in_days: 3650,
        path_length: None,
        name_constraints: None,
        policies: &[],
    }
}

fn pointers() -> Pointers {
    Pointers {
        cdps: vec!["http://ca.example.test/crl/1.crl".into()],
        aia_ocsp_urls: vec!["http://ca.example.test/ocsp".into()],
        aia_issuer_urls: vec!["http://ca.example.test/ca/1.cer".into()],
    }
}

/// A root and a CA below it, each with its certificate.
struct Cas {
    root: Vec<u8>,
    issuing: Vec<u8>,
    issuer: IssuingCa,
}

fn cas(root_key: &Key, issuing_key: &Key, constraints: &NameConstraintsText) -> Cas {
    let root_name = dn_text::parse("CN=Example Root CA,O=Example,C=DE").unwrap();
    let own = draft_own(&ca_subject(&root_name, root_key), root_key.algorithm, Fixed([1; 40]), NOW);
    let root = certificate(&own.unwrap(), root_key);
    let above = IssuingCa::new(&root, root_key.algorithm, pointers()).unwrap();

    let name = dn_text::parse("CN=Example Issuing CA,O=Example,C=DE").unwrap();
    let constraints = constraints.parse().unwrap();
    let subject = CaSubject {
        path_length: Some(0),
        name_constraints: constraints.as_ref(),
        policies: &["CPS|1.3.6.1.4.1.55555.1|https://cps.example.test/".parse().unwrap()],
        ..ca_subject(&name, issuing_key)
    };
    let below = draft_subordinate(&subject, &above, Fixed([2; 40]), NOW).unwrap();
    let issuing = certificate(&below, root_key);
    let issuer = IssuingCa::new(&issuing, issuing_key.algorithm, pointers()).unwrap();
    Cas { root, issuing, issuer }
}

fn openssl(arguments: &[&str]) -> String {
    let output = Command::new("openssl").args(arguments).output().expect("openssl is installed");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// `openssl verify` at the time of the drafts, as strict as it can be.
fn verify(folder: &Path, root: &[u8], issuing: &[u8], leaf: &[u8]) {
    let file = |name: &str, der: &[u8]| {
        let path = folder.join(name);
        let pem = chancery_api::packaging::pem::certificate(der);
        std::fs::write(&path, pem).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (root, issuing, leaf) =
        (file("root.pem", root), file("issuing.pem", issuing), file("leaf.pem", leaf));
    let now = NOW.unix_timestamp().to_string();
    let verify = ["verify", "-x509_strict", "-policy_check", "-attime", &now];
    openssl(&[&verify[..], &["-CAfile", &root, "-untrusted", &issuing, &leaf]].concat());
}

fn leaf(key: &Key, kind: SubjectKeyKind, cas: &Cas, subject: &str, names: &[&str]) -> Draft {
    let name = match subject {
        "" => DistinguishedName::empty(),
        subject => dn_text::parse(subject).unwrap(),
    };
    let names: Vec<_> = names.iter().map(|name| SubjectAltName::parse(name).unwrap()).collect();
    let subject = Subject { name: &name, alternative_names: &names, spki: &key.spki, key: kind };
    let profile = ProfileDefinition::first();
    let plan = Plan::new(&profile, &cas.issuer, &subject, NOW).unwrap();
    plan.draft(&cas.issuer, &subject, Fixed([3; 40])).unwrap()
}

#[test]
fn openssl_accepts_chains_of_every_algorithm() {
    let kinds = [
        SubjectKeyKind::Rsa { bits: 2048 },
        SubjectKeyKind::Rsa { bits: 2048 },
        SubjectKeyKind::EcP256,
        SubjectKeyKind::EcP384,
        SubjectKeyKind::EcP521,
        SubjectKeyKind::Ed25519,
    ];
    let constraints = NameConstraintsText {
        permitted: vec![
            "DNS:example.test".into(),
            "IP:192.0.2.0/24".into(),
            "EMAIL:.example.test".into(),
        ],
        excluded: vec!["DNS:secret.example.test".into()],
    };
    for (kind, (root, issuing)) in kinds.into_iter().zip(keys().iter().zip(keys())) {
        let folder = tempfile::tempdir().unwrap();
        let cas = cas(root, &issuing, &constraints);
        let names = ["DNS:www.example.test", "IP:192.0.2.7", "EMAIL:a@mail.example.test"];

        let draft = leaf(root, kind, &cas, "CN=www.example.test,O=Müller", &names);

        verify(folder.path(), &cas.root, &cas.issuing, &certificate(&draft, &issuing));
    }
}

#[test]
fn an_empty_subject_makes_the_alternative_names_critical() {
    let folder = tempfile::tempdir().unwrap();
    let (root, issuing, key) = (p256(), p256(), p256());
    let cas = cas(&root, &issuing, &NameConstraintsText::default());

    let draft = leaf(&key, SubjectKeyKind::EcP256, &cas, "", &["DNS:www.example.test"]);

    let der = certificate(&draft, &issuing);
    verify(folder.path(), &cas.root, &cas.issuing, &der);
    let path = folder.path().join("leaf.pem");
    let text = openssl(&["x509", "-noout", "-text", "-in", path.to_str().unwrap()]);
    assert!(text.contains("X509v3 Subject Alternative Name: critical"), "{text}");
    // keyEncipherment is for RSA keys alone.
    assert!(text.contains("X509v3 Key Usage: critical\n                Digital Signature\n"));
}

#[test]
fn the_facts_of_a_drafted_certificate_are_those_that_went_in() {
    let (root, issuing, key) = (p256(), p256(), p256());
    let cas = cas(&root, &issuing, &NameConstraintsText::default());

    let draft = leaf(&key, SubjectKeyKind::EcP256, &cas, "CN=a.test,C=DE", &["DNS:a.test"]);

    let der = certificate(&draft, &issuing);
    let facts = CertificateFacts::read(&der).unwrap();
    assert_eq!(facts.recorded.subject_dn, "CN=a.test, C=DE");
    assert_eq!(facts.recorded.issuer_dn, "CN=Example Issuing CA, O=Example, C=DE");
    assert_eq!(
        (facts.recorded.not_before, facts.recorded.not_after),
        (draft.not_before, draft.not_after)
    );
    assert_eq!(facts.recorded.subject_alt_names, ["DNS:a.test"]);
    assert_eq!(facts.cdps, ["http://ca.example.test/crl/1.crl"]);
    assert_eq!(
        facts.aias,
        ["OCSP:http://ca.example.test/ocsp", "CAISSUERS:http://ca.example.test/ca/1.cer"]
    );
    assert_eq!((facts.signature_algorithm.as_str(), facts.hash_algorithm), ("ECDSA", "SHA-256"));
    assert_eq!((facts.key_size.as_str(), facts.ecc_curve.as_deref()), ("256", Some("P-256")));
    assert!(!facts.recorded.is_ca);
    let ca = CertificateFacts::read(&cas.issuing).unwrap();
    assert!(ca.recorded.is_ca);
    assert_eq!(ca.policies[0].to_string(), "CPS|1.3.6.1.4.1.55555.1|https://cps.example.test/");
}
