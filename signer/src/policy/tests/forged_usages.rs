//! Forged: usages, key identifiers, extensions and the finer rules.

use super::{Forgery, assert_refused, forgery};
use crate::policy::fixture::keys;
use crate::policy::fixture::parts::{
    AIA, AKI, BASIC_CONSTRAINTS, CRL_DISTRIBUTION_POINTS, Critical, EXT_KEY_USAGE, KEY_USAGE,
    NAME_CONSTRAINTS, POLICIES, SAN, SKI,
};
use crate::policy::fixture::{CA_TRUE, CERTIFYING, Case, SIGNING, asn1::*, purposes};

#[test]
fn a_forged_usage_or_extension_is_refused_by_its_rule() {
    assert_refused(Case::certificate, FORGERIES);
}

const SERVER: &str = "1.3.6.1.5.5.7.3.1";
const TIME_STAMPING: &str = "1.3.6.1.5.5.7.3.8";

fn point(parts: &[u8]) -> Vec<u8> {
    tlv(0x30, &tlv(0x30, parts))
}

fn policy(qualifier: &[u8]) -> Vec<u8> {
    let qualifiers = if qualifier.is_empty() { Vec::new() } else { sequence(&[qualifier]) };
    tlv(0x30, &sequence(&[&oid("1.3.6.1.4.1.55555.1"), &qualifiers]))
}

pub(super) const FORGERIES: &[Forgery] = &[
    forgery("usage.ca", "CA true", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &CA_TRUE);
    }),
    forgery("usage.ca", "CA true, not critical", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::No, &CA_TRUE);
    }),
    forgery("usage.path-length", "a path length without CA", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &[0x30, 3, 2, 1, 0]);
    }),
    forgery("usage.key-usage-absent", "no keyUsage", |case| case.tbs.remove(KEY_USAGE)),
    forgery("usage.ca-key-usage", "keyCertSign and cRLSign", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &CERTIFYING);
    }),
    forgery("usage.ca-key-usage", "digitalSignature and keyCertSign", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 2, 0x84]);
    }),
    forgery("usage.ca-key-usage", "digitalSignature and cRLSign", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 1, 0x82]);
    }),
    forgery("usage.extended-key-usage-absent", "no extKeyUsage", |case| {
        case.tbs.remove(EXT_KEY_USAGE);
    }),
    forgery("usage.any-extended-key-usage", "anyExtendedKeyUsage, even if policy has it", |case| {
        case.policy.extended_key_usages.push("2.5.29.37.0".to_owned());
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&[SERVER, "2.5.29.37.0"]));
    }),
    forgery("usage.ocsp-signing", "OCSPSigning, even if policy has it", |case| {
        case.policy.extended_key_usages.push("1.3.6.1.5.5.7.3.9".to_owned());
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&["1.3.6.1.5.5.7.3.9"]));
    }),
    forgery("usage.extended-key-usage-not-allowed", "smart card logon", |case| {
        let purposes = purposes(&[SERVER, "1.3.6.1.4.1.311.20.2.2"]);
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes);
    }),
    forgery("usage.extended-key-usage-not-allowed", "code signing where policy lacks it", |case| {
        case.policy.extended_key_usages = vec![SERVER.to_owned()];
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&["1.3.6.1.5.5.7.3.3"]));
    }),
    forgery("key-identifier.authority-absent", "no authorityKeyIdentifier", |case| {
        case.tbs.remove(AKI);
    }),
    forgery("key-identifier.authority-form", "without a keyIdentifier", |case| {
        case.tbs.set(AKI, Critical::No, &sequence(&[]));
    }),
    forgery("key-identifier.authority-form", "issuer and serial number beside it", |case| {
        let issuer = tlv(0xa1, &directory_name(&common_name("x")));
        let identifier = tlv(0x80, &keys::CA.identifier());
        case.tbs.set(AKI, Critical::No, &sequence(&[&identifier, &issuer, &[0x82, 1, 1]]));
    }),
    forgery("key-identifier.authority", "another key's", |case| {
        let identifier = tlv(0x80, &keys::STRANGER.identifier());
        case.tbs.set(AKI, Critical::No, &sequence(&[&identifier]));
    }),
    forgery("key-identifier.authority", "the CA's, but for its last octet", |case| {
        let identifier = keys::CA.identifier();
        case.tbs.set(AKI, Critical::No, &sequence(&[&tlv(0x80, &identifier[..19])]));
    }),
    forgery("key-identifier.authority", "none of the CA's, which has none", |case| {
        case.issuer.as_mut().unwrap().remove(SKI);
        let identifier = tlv(0x80, &keys::STRANGER.identifier());
        case.tbs.set(AKI, Critical::No, &sequence(&[&identifier]));
    }),
    forgery("key-identifier.subject", "another key's", |case| {
        case.tbs.set(SKI, Critical::No, &tlv(4, &keys::STRANGER.identifier()));
    }),
    forgery("key-identifier.subject", "the whole of SHA-256", |case| {
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &keys::SUBJECT.bits());
        case.tbs.set(SKI, Critical::No, &tlv(4, hash.as_ref()));
    }),
    forgery("extensions.unknown", "a private extension", |case| {
        case.tbs.set("1.3.6.1.4.1.55555.9", Critical::No, &[5, 0]);
    }),
    forgery("extensions.unknown", "a private extension, critical", |case| {
        case.tbs.set("1.3.6.1.4.1.55555.9", Critical::Yes, &[5, 0]);
    }),
    forgery("extensions.unknown", "id-pkix-ocsp-nocheck", |case| {
        case.tbs.set("1.3.6.1.5.5.7.48.1.5", Critical::No, &[5, 0]);
    }),
    forgery("extensions.ca-only", "nameConstraints, even if policy names them", |case| {
        case.policy.other_extensions.push(NAME_CONSTRAINTS.to_owned());
        let value = constraints(&[dns("example.org")], &[]);
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &value);
    }),
    forgery("extensions.ca-only", "policyConstraints", |case| {
        case.tbs.set("2.5.29.36", Critical::Yes, &[0x30, 3, 0x80, 1, 0]);
    }),
    forgery("extensions.ca-only", "policyMappings", |case| {
        case.tbs.set("2.5.29.33", Critical::Yes, &sequence(&[]));
    }),
    forgery("extensions.ca-only", "inhibitAnyPolicy", |case| {
        case.tbs.set("2.5.29.54", Critical::Yes, &[2, 1, 0]);
    }),
    forgery("extensions.malformed", "certificatePolicies that are no SEQUENCE", |case| {
        case.tbs.set(POLICIES, Critical::No, &oid("1.2.3"));
    }),
    forgery("extensions.content", "no policies", |case| {
        case.tbs.set(POLICIES, Critical::No, &sequence(&[]));
    }),
    forgery("extensions.content", "an unknown policy qualifier", |case| {
        case.tbs.set(POLICIES, Critical::No, &policy(&sequence(&[&oid("1.2.3"), &[5, 0]])));
    }),
    forgery("extensions.content", "a CPS that is no URI", |case| {
        let qualifier = sequence(&[&oid("1.3.6.1.5.5.7.2.1"), &tlv(0x16, b"see below")]);
        case.tbs.set(POLICIES, Critical::No, &policy(&qualifier));
    }),
    forgery("extensions.content", "a notice in BMPString", |case| {
        let notice = sequence(&[&tlv(0x1e, b"\0x")]);
        let qualifier = sequence(&[&oid("1.3.6.1.5.5.7.2.2"), &notice]);
        case.tbs.set(POLICIES, Critical::No, &policy(&qualifier));
    }),
    forgery("extensions.content", "a notice of 201 characters", |case| {
        let notice = sequence(&[&tlv(0x0c, &[b'x'; 201])]);
        let qualifier = sequence(&[&oid("1.3.6.1.5.5.7.2.2"), &notice]);
        case.tbs.set(POLICIES, Critical::No, &policy(&qualifier));
    }),
    forgery("extensions.content", "no distribution points", |case| {
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &sequence(&[]));
    }),
    forgery("extensions.content", "a distribution point of nothing", |case| {
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&[]));
    }),
    forgery("extensions.content", "a distribution point that is no location", |case| {
        let name = tlv(0xa0, &tlv(0xa0, &uri("urn:example:crl")));
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&name));
    }),
    forgery("extensions.content", "a distribution point for some reasons only", |case| {
        let name = tlv(0xa0, &tlv(0xa0, &uri("http://example.org/crl")));
        let parts = [name, tlv(0x81, &[6, 0x40])].concat();
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&parts));
    }),
    forgery("extensions.content", "an indirect CRL", |case| {
        let name = tlv(0xa0, &tlv(0xa0, &uri("http://example.org/crl")));
        let parts = [name, tlv(0xa2, &directory_name(&common_name("x")))].concat();
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&parts));
    }),
    forgery("extensions.content", "information of an unknown method", |case| {
        let access = sequence(&[&oid("1.2.3"), &uri("http://example.org/")]);
        case.tbs.set(AIA, Critical::No, &sequence(&[&access]));
    }),
    forgery("extensions.content", "information that is a relative URI", |case| {
        let access = sequence(&[&oid("1.3.6.1.5.5.7.48.1"), &uri("/ocsp")]);
        case.tbs.set(AIA, Critical::No, &sequence(&[&access]));
    }),
    forgery("extensions.content", "no information", |case| {
        case.tbs.set(AIA, Critical::No, &sequence(&[]));
    }),
    forgery("extensions.content", "no TLS feature", |case| {
        case.tbs.set("1.3.6.1.5.5.7.1.24", Critical::No, &sequence(&[]));
    }),
    forgery("lint.criticality", "a critical authorityKeyIdentifier", |case| {
        let identifier = tlv(0x80, &keys::CA.identifier());
        case.tbs.set(AKI, Critical::Yes, &sequence(&[&identifier]));
    }),
    forgery("lint.criticality", "a critical subjectKeyIdentifier", |case| {
        case.tbs.set(SKI, Critical::Yes, &tlv(4, &keys::SUBJECT.identifier()));
    }),
    forgery("lint.criticality", "keyUsage that is not critical", |case| {
        case.tbs.set(KEY_USAGE, Critical::No, &SIGNING);
    }),
    forgery("lint.criticality", "a critical subjectAltName beside a subject", |case| {
        case.tbs.set(SAN, Critical::Yes, &names(&[dns("www.example.org")]));
    }),
    forgery("lint.criticality", "critical information", |case| {
        let access = sequence(&[&oid("1.3.6.1.5.5.7.48.1"), &uri("http://example.org/")]);
        case.tbs.set(AIA, Critical::Yes, &sequence(&[&access]));
    }),
    forgery("lint.criticality", "a critical TLS feature", |case| {
        case.tbs.set("1.3.6.1.5.5.7.1.24", Critical::Yes, &[0x30, 3, 2, 1, 5]);
    }),
    forgery("lint.ski-present", "no subjectKeyIdentifier", |case| case.tbs.remove(SKI)),
    forgery("lint.empty-subject-needs-critical-san", "no name at all", |case| {
        case.tbs.subject = sequence(&[]);
        case.tbs.remove(SAN);
    }),
    forgery("lint.empty-subject-needs-critical-san", "a name that readers may ignore", |case| {
        case.tbs.subject = sequence(&[]);
    }),
    forgery("lint.ku-fits-key-type", "keyEncipherment of an EC key", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 5, 0xa0]);
    }),
    forgery("lint.ku-fits-key-type", "keyAgreement of an RSA key", |case| {
        *case = Case::certificate_for(&keys::RSA);
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 3, 0x88]);
    }),
    forgery("lint.ku-encipher-only", "encipherOnly without keyAgreement", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 0, 0x81]);
    }),
    forgery("lint.ku-fits-eku", "client authentication without a signature", |case| {
        *case = Case::certificate_for(&keys::RSA);
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 5, 0x20]);
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&["1.3.6.1.5.5.7.3.2"]));
    }),
    forgery("lint.time-stamping-alone", "time stamping beside another purpose", |case| {
        case.policy.extended_key_usages.push(TIME_STAMPING.to_owned());
        case.tbs.set(EXT_KEY_USAGE, Critical::Yes, &purposes(&[SERVER, TIME_STAMPING]));
    }),
    forgery("lint.time-stamping-alone", "time stamping that is not critical", |case| {
        case.policy.extended_key_usages.push(TIME_STAMPING.to_owned());
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&[TIME_STAMPING]));
    }),
    forgery("lint.eku-unique", "a purpose twice", |case| {
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&[SERVER, SERVER]));
    }),
    forgery("lint.policy-unique", "a policy twice", |case| {
        let policy = sequence(&[&oid("1.3.6.1.4.1.55555.1")]);
        case.tbs.set(POLICIES, Critical::No, &sequence(&[&policy, &policy]));
    }),
];
