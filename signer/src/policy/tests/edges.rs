//! Edges: the last value that passes.

use chancery_shared::wire::policy::SanType;
use time::Duration;
use time::macros::datetime;

use crate::policy::fixture::keys;
use crate::policy::fixture::parts::{AKI, BASIC_CONSTRAINTS, Critical, KEY_USAGE, SKI};
use crate::policy::fixture::{Case, DAY, NOW, asn1::*, root};

/// What is at its edge, and how.
type Edge = (&'static str, fn(&mut Case));

/// Each of these passes.
fn assert_passes(ordinary: fn() -> Case, table: &[Edge]) {
    for (what, set) in table {
        let mut case = ordinary();
        set(&mut case);

        let checked = case.check();

        assert!(checked.is_ok(), "{what}: {checked:?}");
    }
}

/// Moves the whole case, so that NOW is `at` and the CA lives for ever.
fn move_to(case: &mut Case, at: time::OffsetDateTime) {
    case.now = at;
    let issuer = root().valid(NOW, at + 20_000 * DAY);
    case.issuer = Some(issuer);
    case.tbs.not_before = time(at - Duration::minutes(5));
    case.tbs.not_after = time(at + 90 * DAY);
}

#[test]
fn times_at_their_edges_pass() {
    assert_passes(
        Case::certificate,
        &[
            ("398 days, the last second included", |case| {
                case.tbs.not_before = time(NOW);
                case.tbs.not_after = time(NOW + 398 * DAY - Duration::SECOND);
            }),
            ("one second", |case| {
                case.tbs.not_before = time(NOW);
                case.tbs.not_after = time(NOW + Duration::SECOND);
            }),
            ("within its last second", |case| {
                case.now = NOW + Duration::milliseconds(999);
                case.tbs.not_after = time(NOW);
            }),
            ("the whole back-date window", |case| {
                case.tbs.not_before = time(NOW - Duration::minutes(60));
            }),
            ("a clock that was set back a little", |case| {
                case.tbs.not_before = time(NOW + Duration::seconds(10));
            }),
            ("the CA's last second", |case| {
                let end = NOW + 30 * DAY;
                case.issuer.as_mut().unwrap().not_after = time(end);
                case.tbs.not_after = time(end);
            }),
            ("29 February", |case| {
                move_to(case, datetime!(2028-02-01 0:00 UTC));
                case.tbs.not_after = time(datetime!(2028-02-29 23:59:59 UTC));
            }),
            ("the last UTCTime", |case| {
                move_to(case, datetime!(2049-12-01 0:00 UTC));
                case.tbs.not_after = utc_time(datetime!(2049-12-31 23:59:59 UTC));
            }),
            ("the first GeneralizedTime", |case| {
                move_to(case, datetime!(2049-12-01 0:00 UTC));
                case.tbs.not_after = generalized_time(datetime!(2050-01-01 0:00:00 UTC));
            }),
        ],
    );
}

#[test]
fn years_of_the_wrong_type_are_refused() {
    let mut case = Case::certificate();
    move_to(&mut case, datetime!(2049-12-01 0:00 UTC));
    case.tbs.not_after = generalized_time(datetime!(2049-12-31 23:59:59 UTC));

    assert_eq!(case.check().unwrap_err().rule(), "lint.utctime-until-2049");
}

#[test]
fn a_ca_certificate_without_expiration_can_be_read() {
    let mut parts = root();
    parts.not_after = tlv(0x18, b"99991231235959Z");

    let ca = crate::policy::CaCertificate::from_der(&parts.certificate(&keys::CA)).unwrap();

    assert_eq!(ca.not_after(), datetime!(9999-12-31 23:59:59 UTC));
}

#[test]
fn names_at_their_edges_pass() {
    assert_passes(
        Case::certificate,
        &[
            ("a label of 63 characters", |case| {
                case.set_names(&[dns(&format!("{}.example", "a".repeat(63)))]);
            }),
            ("253 characters", |case| {
                let name = format!("{}a.example.org", "a.".repeat(120));
                case.set_names(&[dns(&name)]);
                assert_eq!(name.len(), 253);
            }),
            ("a single label", |case| case.set_names(&[dns("localhost")])),
            ("an underscore", |case| case.set_names(&[dns("_sip._tcp.a_b.example.org")])),
            ("a wildcard", |case| case.set_names(&[dns("*.example.org")])),
            ("a wildcard above one label", |case| case.set_names(&[dns("*.corp")])),
            ("hyphens in the third and fourth place", |case| {
                case.set_names(&[dns("r3---sn-abc.example.org")]);
            }),
            ("digits", |case| case.set_names(&[dns("1.2.3.4.example"), dns("3com.example")])),
            ("internationalised names", |case| {
                let labels = ["mnchen-3ya", "e28h", "e1afmkfd", "r8jz45g", "MNCHEN-3YA"];
                case.set_names(&labels.map(|label| dns(&format!("xn--{label}.example"))));
            }),
            ("addresses", |case| case.set_names(&[ip(&[192, 0, 2, 1]), ip(&[0xfe; 16])])),
            ("e-mail addresses", |case| {
                case.set_names(&[
                    email("a.b+c@example.org"),
                    email("o'hara@xn--mnchen-3ya.example"),
                ]);
            }),
            ("URIs", |case| {
                case.set_names(&[
                    uri("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
                    uri("https://[2001:db8::1]:8443/a%20b?c=d#e"),
                    uri("spiffe://example.org/ns/a/sa/b"),
                    uri("ldap://192.0.2.1"),
                    uri("sip:a@example.org"),
                ]);
            }),
            ("other names", |case| {
                case.set_names(&[
                    other_name("1.3.6.1.4.1.311.20.2.3", &tlv(0x0c, b"computer$@EXAMPLE.ORG")),
                    other_name("1.3.6.1.4.1.311.20.2.3", &tlv(0x0c, b"account")),
                    other_name("1.3.6.1.5.5.7.8.7", &tlv(0x16, b"_ldap.example.org")),
                    other_name("1.3.6.1.5.5.7.8.9", &tlv(0x0c, "jürgen@example.org".as_bytes())),
                    other_name(
                        "1.3.6.1.5.2.2",
                        &sequence(&[&tlv(0xa0, &tlv(0x1b, b"EXAMPLE.ORG"))]),
                    ),
                    tlv(0x88, der::asn1::ObjectIdentifier::new_unwrap("1.2.3.4").as_bytes()),
                    directory_name(&common_name("A directory name")),
                ]);
            }),
            ("500 names", |case| {
                let names: Vec<_> =
                    (0..500).map(|n| dns(&format!("host-{n}.example.org"))).collect();
                case.set_names(&names);
            }),
        ],
    );
}

#[test]
fn subjects_at_their_edges_pass() {
    assert_passes(
        Case::certificate,
        &[
            ("64 characters", |case| case.tbs.subject = common_name(&"ä".repeat(64))),
            ("characters beyond the first plane", |case| case.tbs.subject = common_name("Fox 🦊")),
            ("BMPString", |case| {
                case.tbs.subject = tlv(0x30, &rdn("2.5.4.10", 0x1e, &[0x67, 0x71, 0x4e, 0xac]));
            }),
            ("TeletexString in ASCII", |case| {
                case.tbs.subject = tlv(0x30, &rdn("2.5.4.10", 0x14, b"Example"));
            }),
            ("PrintableString, two letters", |case| {
                case.tbs.subject = tlv(0x30, &rdn("2.5.4.6", 0x13, b"DE"));
            }),
            ("domain components and a user", |case| {
                case.tbs.subject = tlv(
                    0x30,
                    &[
                        rdn("0.9.2342.19200300.100.1.25", 0x16, b"org"),
                        rdn("0.9.2342.19200300.100.1.1", 0x0c, b"jdoe"),
                    ]
                    .concat(),
                );
            }),
            ("twelve units", |case| case.tbs.subject = name(&[("2.5.4.11", "Unit"); 12])),
            ("a private type", |case| {
                case.tbs.subject = name(&[("1.3.6.1.4.1.55555.3", "value")]);
            }),
            ("unstructuredName and serialNumber in one RDN", |case| {
                let mut atvs = [
                    sequence(&[&oid("1.2.840.113549.1.9.2"), &tlv(0x16, b"router.example.org")]),
                    sequence(&[&oid("2.5.4.5"), &tlv(0x13, b"FTX1234")]),
                ];
                atvs.sort();
                case.tbs.subject = tlv(0x30, &tlv(0x31, &atvs.concat()));
            }),
            ("text that others interpret", |case| {
                case.tbs.subject =
                    name(&[("2.5.4.10", "=cmd|' /C calc'!A0"), ("2.5.4.3", "${jndi:x}")]);
            }),
            ("an e-mail attribute that is no address", |case| {
                case.tbs.subject = tlv(0x30, &rdn("1.2.840.113549.1.9.1", 0x16, b"none"));
            }),
            ("a common name that is no host, under domains", |case| {
                case.policy.domains = Some(vec!["example.org".to_owned()]);
                case.tbs.subject = common_name("Example Ltd.");
            }),
            ("people with titles, under domains", |case| {
                case.policy.domains = Some(vec!["example.org".to_owned()]);
                case.tbs.subject = common_name("Dr. J.R. Muster e.V., Firmware v1.2");
            }),
            ("a common name that is a mail address within the domains", |case| {
                case.policy.domains = Some(vec!["example.org".to_owned()]);
                case.tbs.subject = common_name("anna@example.org");
            }),
            ("a name that is nearly a host, without domains", |case| {
                case.tbs.subject = common_name("https://www.example.com/");
            }),
            ("a version, which is no host", |case| {
                case.policy.domains = Some(vec!["example.org".to_owned()]);
                case.set_names(&[dns("example.org")]);
                case.tbs.subject = common_name("v1.2");
            }),
            ("a name of a person where hosts are not allowed", |case| {
                case.policy.san_types = vec![SanType::Email];
                case.set_names(&[email("jdoe@example.org")]);
                case.tbs.subject = common_name("John Doe");
            }),
        ],
    );
}

#[test]
fn names_within_the_domains_pass() {
    assert_passes(
        Case::certificate,
        &[("names of all kinds", |case| {
            case.policy.domains = Some(vec!["example.org".to_owned(), "example.com".to_owned()]);
            case.set_names(&[
                dns("example.org"),
                dns("*.Example.com"),
                dns("a.b.example.com"),
                email("a@example.org"),
                uri("https://b.example.org/"),
                uri("urn:example:a"),
                ip(&[192, 0, 2, 1]),
                other_name("1.3.6.1.4.1.311.20.2.3", &tlv(0x0c, b"a@example.org")),
                other_name("1.2.3", &[5, 0]),
            ]);
            case.tbs.subject = common_name("www.example.org");
        })],
    );
}

#[test]
fn ca_certificates_at_their_edges_pass() {
    assert_passes(
        Case::own,
        &[
            ("9,200 days", |case| {
                case.tbs.not_before = time(NOW);
                case.tbs.not_after = time(NOW + 9_200 * DAY - Duration::SECOND);
            }),
            ("an authorityKeyIdentifier that is its own", |case| {
                let identifier = tlv(0x80, &keys::CA.identifier());
                case.tbs.set(AKI, Critical::No, &sequence(&[&identifier]));
            }),
            ("digitalSignature beside", |case| {
                case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 1, 0x86]);
            }),
            ("a key of a kind that no subject may have", |case| case.policy.subject_keys.clear()),
        ],
    );
    assert_passes(
        Case::ca,
        &[
            ("one below a CA of path length 1", |case| {
                let ca_true = |length| [0x30, 6, 1, 1, 0xff, 2, 1, length];
                case.issuer.as_mut().unwrap().set(BASIC_CONSTRAINTS, Critical::Yes, &ca_true(1));
                case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &ca_true(0));
            }),
            ("its issuer's last second", |case| case.tbs.not_after = time(NOW + 3650 * DAY)),
            ("policyConstraints", |case| {
                case.tbs.set("2.5.29.36", Critical::Yes, &[0x30, 3, 0x80, 1, 0]);
            }),
        ],
    );
}

#[test]
fn a_ca_without_key_identifier_is_named_by_its_key() {
    let mut case = Case::certificate();
    case.issuer.as_mut().unwrap().remove(SKI);

    assert!(case.check().is_ok());
}
