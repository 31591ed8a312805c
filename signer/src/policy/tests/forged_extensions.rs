//! Forged: extensions and the finer rules.

use super::{Forgery, assert_refused, forgery};
use crate::policy::fixture::keys;
use crate::policy::fixture::parts::{
    AIA, AKI, CRL_DISTRIBUTION_POINTS, Critical, EXT_KEY_USAGE, KEY_USAGE, NAME_CONSTRAINTS,
    POLICIES, SAN, SKI,
};
use crate::policy::fixture::{Case, SIGNING, asn1::*, purposes};

#[test]
fn a_forged_extension_is_refused_by_its_rule() {
    assert_refused(Case::certificate, EXTENSIONS);
}

#[test]
fn a_forgery_of_form_alone_is_refused_by_its_rule() {
    assert_refused(Case::certificate, LINTS);
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

/// certificatePolicies with a user notice of this content.
fn notice(content: &[u8]) -> Vec<u8> {
    policy(&sequence(&[&oid("1.3.6.1.5.5.7.2.2"), &sequence(&[content])]))
}

pub(super) const EXTENSIONS: &[Forgery] = &[
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
    forgery("extensions.policies-empty", "no policies", |case| {
        case.tbs.set(POLICIES, Critical::No, &sequence(&[]));
    }),
    forgery("extensions.policy-qualifier", "an unknown policy qualifier", |case| {
        case.tbs.set(POLICIES, Critical::No, &policy(&sequence(&[&oid("1.2.3"), &[5, 0]])));
    }),
    forgery("extensions.cps-uri", "a CPS that is no URI", |case| {
        let qualifier = sequence(&[&oid("1.3.6.1.5.5.7.2.1"), &tlv(0x16, b"see below")]);
        case.tbs.set(POLICIES, Critical::No, &policy(&qualifier));
    }),
    forgery("extensions.user-notice", "a notice in BMPString", |case| {
        let notice = sequence(&[&tlv(0x1e, b"\0x")]);
        let qualifier = sequence(&[&oid("1.3.6.1.5.5.7.2.2"), &notice]);
        case.tbs.set(POLICIES, Critical::No, &policy(&qualifier));
    }),
    forgery("extensions.user-notice", "a notice of 201 characters", |case| {
        let notice = sequence(&[&tlv(0x0c, &[b'x'; 201])]);
        let qualifier = sequence(&[&oid("1.3.6.1.5.5.7.2.2"), &notice]);
        case.tbs.set(POLICIES, Critical::No, &policy(&qualifier));
    }),
    forgery("extensions.distribution-point", "no distribution points", |case| {
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &sequence(&[]));
    }),
    forgery("extensions.distribution-point", "a distribution point of nothing", |case| {
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&[]));
    }),
    forgery("extensions.distribution-point", "a distribution point that is no location", |case| {
        let name = tlv(0xa0, &tlv(0xa0, &uri("urn:example:crl")));
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&name));
    }),
    forgery(
        "extensions.distribution-point",
        "a distribution point for some reasons only",
        |case| {
            let name = tlv(0xa0, &tlv(0xa0, &uri("http://example.org/crl")));
            let parts = [name, tlv(0x81, &[6, 0x40])].concat();
            case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&parts));
        },
    ),
    forgery("extensions.distribution-point", "an indirect CRL", |case| {
        let name = tlv(0xa0, &tlv(0xa0, &uri("http://example.org/crl")));
        let parts = [name, tlv(0xa2, &directory_name(&common_name("x")))].concat();
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&parts));
    }),
    forgery("extensions.information-access", "information of an unknown method", |case| {
        let access = sequence(&[&oid("1.2.3"), &uri("http://example.org/")]);
        case.tbs.set(AIA, Critical::No, &sequence(&[&access]));
    }),
    forgery("extensions.information-access", "information that is a relative URI", |case| {
        let access = sequence(&[&oid("1.3.6.1.5.5.7.48.1"), &uri("/ocsp")]);
        case.tbs.set(AIA, Critical::No, &sequence(&[&access]));
    }),
    forgery("extensions.information-access", "no information", |case| {
        case.tbs.set(AIA, Critical::No, &sequence(&[]));
    }),
    forgery("extensions.tls-feature", "no TLS feature", |case| {
        case.tbs.set("1.3.6.1.5.5.7.1.24", Critical::No, &sequence(&[]));
    }),
    forgery("extensions.policy-qualifier", "a list of no qualifiers", |case| {
        let policy = sequence(&[&oid("1.3.6.1.4.1.55555.1"), &sequence(&[])]);
        case.tbs.set(POLICIES, Critical::No, &sequence(&[&policy]));
    }),
    forgery("extensions.cps-uri", "a CPS in UTF8String", |case| {
        let cps = tlv(0x0c, b"https://example.org/cps");
        let qualifier = sequence(&[&oid("1.3.6.1.5.5.7.2.1"), &cps]);
        case.tbs.set(POLICIES, Critical::No, &policy(&qualifier));
    }),
    forgery("extensions.user-notice", "a notice in VisibleString", |case| {
        case.tbs.set(POLICIES, Critical::No, &notice(&tlv(0x1a, b"A notice")));
    }),
    forgery("extensions.malformed", "a notice in IA5String that is not ASCII", |case| {
        case.tbs.set(POLICIES, Critical::No, &notice(&tlv(0x16, "nötice".as_bytes())));
    }),
    forgery("extensions.user-notice", "a notice with a line end", |case| {
        case.tbs.set(POLICIES, Critical::No, &notice(&tlv(0x0c, b"A\nnotice")));
    }),
    forgery("extensions.user-notice", "a notice of nothing", |case| {
        case.tbs.set(POLICIES, Critical::No, &notice(&tlv(0x0c, b"")));
    }),
    forgery("extensions.user-notice", "a reference to a notice", |case| {
        let number = sequence(&[&[2, 1, 1]]);
        let reference = sequence(&[&tlv(0x0c, b"Example"), &number]);
        case.tbs.set(POLICIES, Critical::No, &notice(&reference));
    }),
    forgery("extensions.distribution-point", "a name relative to the issuer", |case| {
        let relative = tlv(0xa1, &sequence(&[&oid("2.5.4.3"), &tlv(0x0c, b"x")]));
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&tlv(0xa0, &relative)));
    }),
    forgery("extensions.ldap-location", "an LDAP server without a name", |case| {
        let name = tlv(0xa0, &tlv(0xa0, &uri("ldap://ldap.example.org")));
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&name));
    }),
    forgery("extensions.ldap-location", "an LDAP entry without an attribute", |case| {
        let name = tlv(0xa0, &tlv(0xa0, &uri("ldap://ldap.example.org/cn=CA?")));
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&name));
    }),
    forgery("extensions.ldap-location", "an LDAP entry with two attributes", |case| {
        let location = uri("ldaps://ldap.example.org/cn=CA?cRL,authorityRevocationList");
        let name = tlv(0xa0, &tlv(0xa0, &location));
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::No, &point(&name));
    }),
    forgery("extensions.information-access", "information in a DNS name", |case| {
        let access = sequence(&[&oid("1.3.6.1.5.5.7.48.1"), &dns("ocsp.example.org")]);
        case.tbs.set(AIA, Critical::No, &sequence(&[&access]));
    }),
];

pub(super) const LINTS: &[Forgery] = &[
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
    forgery("lint.issuer-present", "a CA without a name", |case| {
        case.issuer.as_mut().unwrap().subject = sequence(&[]);
        case.tbs.issuer = sequence(&[]);
    }),
    forgery("lint.ku-one-direction", "encipherOnly and decipherOnly", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 3, 7, 0x89, 0x80]);
    }),
    forgery("lint.criticality", "critical distribution points", |case| {
        let name = tlv(0xa0, &tlv(0xa0, &uri("http://example.org/crl")));
        case.tbs.set(CRL_DISTRIBUTION_POINTS, Critical::Yes, &point(&name));
    }),
    forgery("lint.criticality", "critical extensions that policy names", |case| {
        // freshestCRL, issuerAltName, subjectDirectoryAttributes, subjectInfoAccess.
        for oid in ["2.5.29.46", "2.5.29.18", "2.5.29.9", "1.3.6.1.5.5.7.1.11"] {
            case.policy.other_extensions.push(oid.to_owned());
            let mut one = Case::certificate();
            one.policy.other_extensions.push(oid.to_owned());
            one.tbs.set(oid, Critical::No, &sequence(&[]));
            assert!(one.check().is_ok(), "{oid}");
            case.tbs.set(oid, Critical::Yes, &sequence(&[]));
        }
    }),
];
