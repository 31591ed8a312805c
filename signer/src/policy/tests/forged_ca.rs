//! Forged: CA certificates, a key's own and those below it.

use time::Duration;

use super::{Forgery, assert_refused, forgery};
use crate::policy::fixture::parts::{
    AKI, BASIC_CONSTRAINTS, Critical, EXT_KEY_USAGE, KEY_USAGE, NAME_CONSTRAINTS, SKI,
};
use crate::policy::fixture::{
    CA_TRUE, CERTIFYING, Case, CsrOfDraft, DAY, NOW, asn1::*, ca_name, keys, purposes,
};

#[test]
fn a_forged_own_certificate_is_refused_by_its_rule() {
    assert_refused(Case::own, OWN);
}

#[test]
fn a_forged_ca_certificate_is_refused_by_its_rule() {
    assert_refused(Case::ca, BELOW);
}

/// basicConstraints: CA true, with a path length.
fn ca_true(path_length: u8) -> Vec<u8> {
    vec![0x30, 6, 1, 1, 0xff, 2, 1, path_length]
}

fn set_issuer_path_length(case: &mut Case, length: u8) {
    case.issuer.as_mut().unwrap().set(BASIC_CONSTRAINTS, Critical::Yes, &ca_true(length));
}

pub(super) const OWN: &[Forgery] = &[
    forgery("ca.not-allowed", "policy certifies no CAs", |case| case.policy.certify_cas = None),
    forgery("ca.own-subject", "another subject", |case| case.tbs.subject = common_name("Other")),
    forgery("ca.own-subject", "another issuer", |case| case.tbs.issuer = common_name("Other")),
    forgery("ca.own-key", "another key", |case| case.tbs.spki.clone_from(&keys::STRANGER.spki)),
    forgery("tbs.signature-algorithm", "an algorithm of another key", |case| {
        case.tbs.signature_algorithm = sequence(&[&oid("1.3.101.112")]);
    }),
    forgery("serial.construction", "a number of the API's own", |case| {
        case.tbs.serial = Some(tlv(2, &[0x41; 20]));
    }),
    forgery("validity.too-long", "longer than a CA may live", |case| {
        case.tbs.not_after = time(NOW + 9_200 * DAY);
    }),
    forgery("validity.not-before-in-future", "tomorrow", |case| {
        case.tbs.not_before = time(NOW + DAY);
    }),
    forgery("ca.basic-constraints", "no basicConstraints", |case| {
        case.tbs.remove(BASIC_CONSTRAINTS);
    }),
    forgery("ca.basic-constraints", "CA false", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &[0x30, 0]);
    }),
    forgery("ca.key-usage", "no keyUsage", |case| case.tbs.remove(KEY_USAGE)),
    forgery("ca.key-usage", "keyCertSign alone", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 2, 4]);
    }),
    forgery("ca.key-usage", "keyAgreement beside", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 1, 0x0e]);
    }),
    forgery("usage.any-extended-key-usage", "anyExtendedKeyUsage", |case| {
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&["2.5.29.37.0"]));
    }),
    forgery("key-identifier.authority", "another key as its issuer's", |case| {
        let identifier = tlv(0x80, &keys::STRANGER.identifier());
        case.tbs.set(AKI, Critical::No, &sequence(&[&identifier]));
    }),
    forgery("key-identifier.subject", "another key's identifier", |case| {
        case.tbs.set(SKI, Critical::No, &tlv(4, &keys::STRANGER.identifier()));
    }),
    forgery("ca.subject-empty", "no name", |case| {
        case.tbs.subject = sequence(&[]);
        case.tbs.issuer = sequence(&[]);
    }),
    forgery("names.domain", "a name beside policy's domains", |case| {
        case.policy.domains = Some(vec!["example.org".to_owned()]);
        case.tbs.subject = common_name("ca.example.com");
        case.tbs.issuer = common_name("ca.example.com");
    }),
    forgery("extensions.unknown", "a private extension", |case| {
        case.tbs.set("1.3.6.1.4.1.55555.9", Critical::Yes, &[5, 0]);
    }),
    forgery("lint.criticality", "basicConstraints that are not critical", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::No, &CA_TRUE);
    }),
    forgery("lint.ski-present", "no subjectKeyIdentifier", |case| case.tbs.remove(SKI)),
];

pub(super) const BELOW: &[Forgery] = &[
    forgery("key.ca-certificate", "the key has no CA certificate", |case| case.issuer = None),
    forgery("ca.not-allowed", "policy certifies no CAs", |case| case.policy.certify_cas = None),
    forgery("tbs.issuer", "another issuer", |case| case.tbs.issuer = common_name("Other")),
    forgery("validity.beyond-issuer", "a second longer than its issuer", |case| {
        case.tbs.not_after = time(NOW + 3650 * DAY + Duration::SECOND);
    }),
    forgery("ca.self-issued", "its issuer's name", |case| case.tbs.subject = ca_name()),
    forgery("ca.self-issued", "its issuer's key", |case| {
        case.tbs.spki.clone_from(&keys::CA.spki);
    }),
    forgery("public-key.not-allowed", "a kind of key that policy lacks", |case| {
        case.policy.subject_keys.clear();
    }),
    forgery("csr.missing", "no CSR for a key from outside", |case| {
        case.csr = CsrOfDraft::Absent;
    }),
    forgery("csr.possession", "a bad CSR although the key is the signer's", |case| {
        case.ca_keys.push(keys::OTHER_CA.spki.clone());
        case.subject_key = &keys::STRANGER;
    }),
    forgery("ca.basic-constraints", "CA false", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &[0x30, 0]);
    }),
    forgery("ca.issuer-path-length", "below a CA of path length 0", |case| {
        set_issuer_path_length(case, 0);
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &ca_true(0));
    }),
    forgery("ca.path-length", "no path length below a bounded CA", |case| {
        set_issuer_path_length(case, 1);
    }),
    forgery("ca.path-length", "a path length that does not shrink", |case| {
        set_issuer_path_length(case, 1);
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &ca_true(1));
    }),
    forgery("ca.path-length-policy", "more than policy allows", |case| {
        case.policy.certify_cas.as_mut().unwrap().max_path_length = Some(0);
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &ca_true(1));
    }),
    forgery("ca.path-length-policy", "no path length where policy has a bound", |case| {
        case.policy.certify_cas.as_mut().unwrap().max_path_length = Some(0);
    }),
    forgery("key-identifier.authority-absent", "no authorityKeyIdentifier", |case| {
        case.tbs.remove(AKI);
    }),
    forgery("ca.subject-empty", "no name", |case| case.tbs.subject = sequence(&[])),
    forgery("name-constraints.permitted", "a name beside its issuer's constraints", |case| {
        case.constrain(&[directory_name(&name(&[("2.5.4.10", "Example")]))], &[]);
    }),
    forgery("ca.name-constraints", "constraints of nothing", |case| {
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &sequence(&[]));
    }),
    forgery("ca.name-constraints", "a DNS name with a leading dot", |case| {
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &constraints(&[dns(".example.org")], &[]));
    }),
    forgery("ca.name-constraints", "a DNS name with a wildcard", |case| {
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &constraints(&[dns("*.example.org")], &[]));
    }),
    forgery("ca.name-constraints", "an address without a mask", |case| {
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &constraints(&[ip(&[192, 0, 2, 0])], &[]));
    }),
    forgery("ca.name-constraints", "a mask with holes", |case| {
        let network = ip(&[192, 0, 2, 0, 255, 0, 255, 0]);
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &constraints(&[network], &[]));
    }),
    forgery("ca.name-constraints", "an address with bits beyond its mask", |case| {
        let network = ip(&[192, 0, 2, 1, 255, 255, 255, 0]);
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &constraints(&[network], &[]));
    }),
    forgery("ca.name-constraints", "a subtree with a maximum", |case| {
        let subtree = [dns("example.org"), vec![0x81, 1, 5]].concat();
        let value = constraints(&[subtree], &[]);
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &value);
    }),
    forgery("ca.name-constraints", "a minimum of 0, written out", |case| {
        let subtree = [dns("example.org"), vec![0x80, 1, 0]].concat();
        let value = constraints(&[subtree], &[]);
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &value);
    }),
    forgery("ca.name-constraints", "an otherName", |case| {
        let value = constraints(&[], &[other_name("1.2.3", &[5, 0])]);
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &value);
    }),
    forgery("lint.criticality", "constraints that are not critical", |case| {
        case.tbs.set(NAME_CONSTRAINTS, Critical::No, &constraints(&[dns("example.org")], &[]));
    }),
    forgery("extensions.policy-mappings", "mappings of nothing", |case| {
        case.tbs.set("2.5.29.33", Critical::No, &sequence(&[]));
    }),
    forgery("extensions.policy-mappings", "a mapping to anyPolicy", |case| {
        let mapping = sequence(&[&oid("1.3.6.1.4.1.55555.1"), &oid("2.5.29.32.0")]);
        case.tbs.set("2.5.29.33", Critical::No, &sequence(&[&mapping]));
    }),
    forgery("extensions.critical-in-ca", "critical mappings, which no one here reads", |case| {
        let policy = oid("1.3.6.1.4.1.55555.1");
        let mapping = sequence(&[&policy, &policy]);
        case.tbs.set("2.5.29.33", Critical::Yes, &sequence(&[&mapping]));
    }),
    forgery("lint.eku-unique", "a purpose of a CA twice", |case| {
        let server = "1.3.6.1.5.5.7.3.1";
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&[server, server]));
    }),
    forgery("extensions.policy-constraints", "policyConstraints of nothing", |case| {
        case.tbs.set("2.5.29.36", Critical::Yes, &sequence(&[]));
    }),
    forgery("lint.ku-fits-key-type", "a usage that no CA has", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &CERTIFYING);
        *case = Case::certificate();
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 4, 0x90]);
    }),
];
