//! More forgeries: what a linter would find, and the signer refuses beforehand.

use chancery_tests::forge::der::{context, oid, sequence, tlv};
use chancery_tests::forge::subject::name;
use chancery_tests::forge::{Extension, Forged, critical, dns, oids, plain};

use crate::forgeries::Forge;
use crate::scene::{Scene, purposes};

const POLICIES: &str = "2.5.29.32";
const CRL_DISTRIBUTION_POINTS: &str = "2.5.29.31";
const INFORMATION_ACCESS: &str = "1.3.6.1.5.5.7.1.1";
const TLS_FEATURE: &str = "1.3.6.1.5.5.7.1.24";

fn uri(text: &str) -> Vec<u8> {
    tlv(0x86, text.as_bytes())
}

/// certificatePolicies of one policy with this qualifier.
fn qualified(kind: &str, value: Vec<u8>) -> Extension {
    let qualifier = sequence(&[oid(kind), value]);
    let policy = sequence(&[oid("1.3.6.1.4.1.55555.1"), sequence(&[qualifier])]);
    plain(POLICIES, sequence(&[policy]))
}

/// A user notice whose explicitText is this.
fn notice(text: Vec<u8>) -> Extension {
    qualified("1.3.6.1.5.5.7.2.2", sequence(&[text]))
}

fn point(location: &str) -> Extension {
    let name = context(0, &[context(0, &[uri(location)])]);
    plain(CRL_DISTRIBUTION_POINTS, sequence(&[sequence(&[name])]))
}

fn access(method: &str, location: Vec<u8>) -> Extension {
    plain(INFORMATION_ACCESS, sequence(&[sequence(&[oid(method), location])]))
}

fn without_subject(s: &Scene) -> Forged {
    Forged { subject: sequence(&[]), ..s.tbs() }
}

/// Each forgery: what it is, how it is made, the rule that refuses it.
pub(crate) const FINER: &[(&str, Forge, &str)] = &[
    (
        "zeros behind the last usage",
        |s| s.tbs().with(oids::KEY_USAGE, [3, 2, 0, 0x80]),
        "usage.key-usage-form",
    ),
    ("no usage", |s| s.tbs().with(oids::KEY_USAGE, [3, 1, 0]), "usage.key-usage-form"),
    (
        "encipherOnly and decipherOnly",
        |s| s.tbs().with(oids::KEY_USAGE, [3, 3, 7, 0x89, 0x80]),
        "lint.ku-one-direction",
    ),
    (
        "encipherOnly without keyAgreement",
        |s| s.tbs().with(oids::KEY_USAGE, [3, 2, 0, 0x81]),
        "lint.ku-encipher-only",
    ),
    ("a list of no purposes", |s| purposes(s, &[]), "usage.extended-key-usage-empty"),
    (
        "a domain in one DC",
        |s| s.subject(name(&[("0.9.2342.19200300.100.1.25", tlv(0x16, b"example.test"))])),
        "names.domain-component",
    ),
    ("no subject", without_subject, "lint.empty-subject-needs-critical-san"),
    (
        "no subjectKeyIdentifier",
        |s| s.tbs().without(oids::SUBJECT_KEY_IDENTIFIER),
        "lint.ski-present",
    ),
    (
        "GeneralizedTime before 2050",
        |s| {
            let time = chancery_tests::forge::at(s.now + time::Duration::days(90));
            let digits = time.iter().copied().skip(2);
            let content: Vec<u8> = b"20".iter().copied().chain(digits).collect();
            Forged { not_after: tlv(0x18, &content), ..s.tbs() }
        },
        "lint.utctime-until-2049",
    ),
    (
        "critical names beside a subject",
        |s| {
            let names = sequence(&[dns("www.example.test")]);
            s.tbs().without(oids::SUBJECT_ALT_NAME).and(critical(oids::SUBJECT_ALT_NAME, names))
        },
        "lint.criticality",
    ),
    ("no policy", |s| s.tbs().and(plain(POLICIES, sequence(&[]))), "extensions.policies-empty"),
    (
        "a policy twice",
        |s| {
            let policy = sequence(&[oid("1.3.6.1.4.1.55555.1")]);
            s.tbs().and(plain(POLICIES, sequence(&[policy.clone(), policy])))
        },
        "lint.policy-unique",
    ),
    (
        "an unknown qualifier",
        |s| s.tbs().and(qualified("1.2.3", vec![5, 0])),
        "extensions.policy-qualifier",
    ),
    (
        "a CPS that is no URI",
        |s| s.tbs().and(qualified("1.3.6.1.5.5.7.2.1", tlv(0x16, b"see below"))),
        "extensions.cps-uri",
    ),
    (
        "a notice of 201 characters",
        |s| s.tbs().and(notice(tlv(0x0c, &[b'x'; 201]))),
        "extensions.user-notice",
    ),
    ("a notice in BMPString", |s| s.tbs().and(notice(tlv(0x1e, b"\0x"))), "extensions.user-notice"),
    (
        "distribution points that are none",
        |s| s.tbs().and(plain(CRL_DISTRIBUTION_POINTS, sequence(&[]))),
        "extensions.distribution-point",
    ),
    (
        "a distribution point in a file",
        |s| s.tbs().and(point("file:///etc/passwd")),
        "extensions.distribution-point",
    ),
    (
        "an LDAP server without an entry",
        |s| s.tbs().and(point("ldap://ldap.example.test/")),
        "extensions.ldap-location",
    ),
    (
        "information of an unknown method",
        |s| s.tbs().and(access("1.2.3", uri("http://ocsp.example.test/"))),
        "extensions.information-access",
    ),
    (
        "information in a DNS name",
        |s| s.tbs().and(access("1.3.6.1.5.5.7.48.1", dns("ocsp.example.test"))),
        "extensions.information-access",
    ),
    (
        "no TLS feature",
        |s| s.tbs().and(plain(TLS_FEATURE, sequence(&[]))),
        "extensions.tls-feature",
    ),
];
