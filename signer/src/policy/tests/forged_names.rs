//! Forged: distinguished names and alternative names.

use chancery_shared::wire::policy::SanType;

use super::{Forgery, assert_refused, forgery};
use crate::policy::fixture::parts::{Critical, SAN};
use crate::policy::fixture::{Case, asn1::*};

#[test]
fn a_forged_name_is_refused_by_its_rule() {
    assert_refused(Case::certificate, FORGERIES);
}

const CN: &str = "2.5.4.3";
const UTF8: u8 = 0x0c;
const PRINTABLE: u8 = 0x13;
const IA5: u8 = 0x16;

fn subject(case: &mut Case, attribute: &str, tag: u8, value: &[u8]) {
    case.tbs.subject = tlv(0x30, &rdn(attribute, tag, value));
}

pub(super) const FORGERIES: &[Forgery] = &[
    forgery("names.empty-rdn", "an RDN without attributes", |case| {
        case.tbs.subject = tlv(0x30, &tlv(0x31, &[]));
    }),
    forgery("names.duplicate-attribute", "two common names in one RDN", |case| {
        let atv = |text: &[u8]| sequence(&[&oid(CN), &tlv(UTF8, text)]);
        case.tbs.subject = tlv(0x30, &tlv(0x31, &[atv(b"a"), atv(b"b")].concat()));
    }),
    forgery("names.string-type", "a common name in IA5String", |case| {
        subject(case, CN, IA5, b"name");
    }),
    forgery("names.string-type", "an asterisk in PrintableString", |case| {
        subject(case, CN, PRINTABLE, b"*.example.org");
    }),
    forgery("names.string-type", "TeletexString beyond ASCII", |case| {
        subject(case, CN, 0x14, b"M\xfcller");
    }),
    forgery("names.string-type", "an e-mail address in UTF8String", |case| {
        subject(case, "1.2.840.113549.1.9.1", UTF8, b"a@example.org");
    }),
    forgery("names.string-type", "a country in UTF8String", |case| {
        subject(case, "2.5.4.6", UTF8, b"DE");
    }),
    forgery("names.string-type", "an INTEGER as common name", |case| {
        subject(case, CN, 2, &[1]);
    }),
    forgery("names.string-type", "a BMPString of an odd length", |case| {
        subject(case, CN, 0x1e, b"\0ab");
    }),
    forgery("tbs.der", "UTF-8 that is none", |case| subject(case, CN, UTF8, b"\xc0\xaf")),
    forgery("tbs.der", "UniversalString", |case| subject(case, CN, 0x1c, b"\0\0\0a")),
    forgery("names.characters", "a line feed", |case| subject(case, CN, UTF8, b"a\nBcc: b")),
    forgery("names.characters", "NUL", |case| subject(case, CN, UTF8, b"a.example.org\0.b.org")),
    forgery("names.characters", "the override of the direction", |case| {
        subject(case, CN, UTF8, "gro.\u{202e}elpmaxe".as_bytes());
    }),
    forgery("names.length", "an empty common name", |case| subject(case, CN, UTF8, b"")),
    forgery("names.length", "a common name of 65 characters", |case| {
        subject(case, CN, UTF8, "ä".repeat(65).as_bytes());
    }),
    forgery("names.length", "an organisation of 65 characters", |case| {
        subject(case, "2.5.4.10", UTF8, &[b'x'; 65]);
    }),
    forgery("names.country", "three letters", |case| subject(case, "2.5.4.6", PRINTABLE, b"USA")),
    forgery("names.country", "digits", |case| subject(case, "2.5.4.6", PRINTABLE, b"49")),
    forgery("names.other-name", "an internationalised mailbox at a host in capitals", |case| {
        let mailbox = tlv(0x0c, "jürgen@Example.org".as_bytes());
        case.set_names(&[other_name("1.3.6.1.5.5.7.8.9", &mailbox)]);
    }),
    forgery("names.domain-component", "a domain component with a blank", |case| {
        subject(case, "0.9.2342.19200300.100.1.25", 0x16, b"example test");
    }),
    forgery("names.domain-component", "two labels in one domain component", |case| {
        subject(case, "0.9.2342.19200300.100.1.25", 0x16, b"example.test");
    }),
    forgery("names.domain-component", "a domain component that ends in a hyphen", |case| {
        subject(case, "0.9.2342.19200300.100.1.25", 0x16, b"example-");
    }),
    forgery("names.san-empty", "no alternative names", |case| {
        case.tbs.set(SAN, Critical::No, &sequence(&[]));
    }),
    forgery("names.san-required", "none where policy requires some", |case| {
        case.policy.allow_without_san = false;
        case.tbs.remove(SAN);
    }),
    forgery("names.type-not-allowed", "an address where policy lacks them", |case| {
        case.policy.san_types = vec![SanType::Dns];
        case.set_names(&[ip(&[192, 0, 2, 1])]);
    }),
    forgery("names.type-not-allowed", "an address as common name", |case| {
        case.policy.san_types = vec![SanType::Dns];
        subject(case, CN, UTF8, b"192.0.2.1");
    }),
    forgery("names.type-not-allowed", "a host as common name", |case| {
        case.policy.san_types = vec![SanType::Email];
        case.set_names(&[email("a@example.org")]);
        subject(case, CN, UTF8, b"www.example.org");
    }),
    forgery("names.type-not-allowed", "an otherName where policy lacks them", |case| {
        case.policy.san_types = vec![SanType::Dns];
        case.set_names(&[other_name("1.2.3", &[5, 0])]);
    }),
    forgery("names.type-unknown", "ediPartyName", |case| {
        case.set_names(&[tlv(0xa5, &tlv(0xa1, &tlv(UTF8, b"x")))]);
    }),
    forgery("extensions.malformed", "x400Address", |case| case.set_names(&[tlv(0xa3, &[])])),
    forgery("extensions.malformed", "a name of an unknown kind", |case| {
        case.set_names(&[tlv(0x89, b"x")]);
    }),
    forgery("extensions.malformed", "a constructed dNSName", |case| {
        case.set_names(&[tlv(0xa2, &tlv(0x16, b"example.org"))]);
    }),
    forgery("extensions.malformed", "a dNSName beyond ASCII", |case| {
        case.set_names(&[tlv(0x82, "bücher.example".as_bytes())]);
    }),
    forgery("extensions.malformed", "bytes behind the names", |case| {
        let value = [names(&[dns("example.org")]), vec![0]].concat();
        case.tbs.set(SAN, Critical::No, &value);
    }),
    forgery("names.dns", "an empty name", |case| case.set_names(&[dns("")])),
    forgery("names.dns", "a trailing dot", |case| case.set_names(&[dns("example.org.")])),
    forgery("names.dns", "a leading dot", |case| case.set_names(&[dns(".example.org")])),
    forgery("names.dns", "two dots", |case| case.set_names(&[dns("a..example.org")])),
    forgery("names.dns", "a blank", |case| case.set_names(&[dns("a b.example.org")])),
    forgery("names.dns", "a URL", |case| case.set_names(&[dns("https://example.org/")])),
    forgery("names.dns", "a port", |case| case.set_names(&[dns("example.org:443")])),
    forgery("names.dns", "an e-mail address", |case| case.set_names(&[dns("a@example.org")])),
    forgery("names.dns", "an address", |case| case.set_names(&[dns("192.0.2.1")])),
    forgery("names.dns", "a part of an address", |case| case.set_names(&[dns("192.0.2")])),
    forgery("names.dns", "NUL", |case| case.set_names(&[dns("example.org\0.evil.example")])),
    forgery("names.dns", "a label that begins with a hyphen", |case| {
        case.set_names(&[dns("-a.example.org")]);
    }),
    forgery("names.dns", "a label that ends with a hyphen", |case| {
        case.set_names(&[dns("a-.example.org")]);
    }),
    forgery("names.dns", "a label of 64 characters", |case| {
        case.set_names(&[dns(&format!("{}.example.org", "a".repeat(64)))]);
    }),
    forgery("names.dns", "254 characters", |case| {
        case.set_names(&[dns(&format!("{}ab.example.org", "a.".repeat(120)))]);
    }),
    forgery("names.dns", "a common name with a trailing dot", |case| {
        subject(case, CN, UTF8, b"www.example.org.");
    }),
    forgery("names.wildcard-form", "two wildcards", |case| case.set_names(&[dns("*.*.example")])),
    forgery("names.wildcard-form", "a wildcard in the middle", |case| {
        case.set_names(&[dns("a.*.example")]);
    }),
    forgery("names.wildcard-form", "a wildcard in a label", |case| {
        case.set_names(&[dns("w*.example.org")]);
    }),
    forgery("names.wildcard-form", "nothing but a wildcard", |case| case.set_names(&[dns("*")])),
    forgery("names.wildcard-form", "a wildcard above an underscore", |case| {
        case.set_names(&[dns("*.a_b.example")]);
    }),
    forgery("names.wildcard-form", "a common name with a wildcard in a label", |case| {
        subject(case, CN, UTF8, b"w*.example.org");
    }),
    forgery("names.wildcard-not-allowed", "a wildcard where policy lacks them", |case| {
        case.policy.allow_wildcards = false;
        case.set_names(&[dns("*.example.org")]);
    }),
    forgery("names.wildcard-not-allowed", "a common name where policy lacks them", |case| {
        case.policy.allow_wildcards = false;
        subject(case, CN, UTF8, b"*.example.org");
    }),
    forgery("names.a-label", "no Punycode", |case| case.set_names(&[dns("xn--a.example")])),
    forgery("names.a-label", "Punycode of an upper-case letter", |case| {
        case.set_names(&[dns("www.xn--nchen-1pa.example")]);
    }),
    forgery("names.a-label", "Punycode that hides how it is read", |case| {
        case.set_names(&[dns("XN--ab-g4t.example")]);
    }),
    forgery("names.a-label", "Punycode beyond Unicode", |case| {
        case.set_names(&[dns("xn--99999999.example")]);
    }),
    forgery("names.a-label", "no Punycode in a common name", |case| {
        subject(case, CN, UTF8, b"xn--a.example");
    }),
    forgery("names.ip", "three octets", |case| case.set_names(&[ip(&[192, 0, 2])])),
    forgery("names.ip", "a network", |case| {
        case.set_names(&[ip(&[192, 0, 2, 0, 255, 255, 255, 0])]);
    }),
    forgery("names.ip", "no octets", |case| case.set_names(&[ip(&[])])),
    forgery("names.email", "no host", |case| case.set_names(&[email("postmaster")])),
    forgery("names.email", "a display name", |case| {
        case.set_names(&[email("A <a@example.org>")]);
    }),
    forgery("names.email", "two addresses", |case| {
        case.set_names(&[email("a@example.org,b@example.org")]);
    }),
    forgery("names.email", "a line feed", |case| case.set_names(&[email("a\r\n@example.org")])),
    forgery("names.email", "two dots", |case| case.set_names(&[email("a..b@example.org")])),
    forgery("names.email", "a wildcard", |case| case.set_names(&[email("a@*.example.org")])),
    forgery("names.email", "an address in the subject that is none", |case| {
        subject(case, "1.2.840.113549.1.9.1", IA5, b"a b@example.org");
    }),
    forgery("names.uri", "a relative URI", |case| case.set_names(&[uri("/path")])),
    forgery("names.uri", "no scheme", |case| case.set_names(&[uri("example.org")])),
    forgery("names.uri", "no host", |case| case.set_names(&[uri("http:///path")])),
    forgery("names.uri", "http without authority", |case| case.set_names(&[uri("http:path")])),
    forgery("names.uri", "a blank", |case| case.set_names(&[uri("http://example.org/a b")])),
    forgery("names.uri", "half an escape", |case| case.set_names(&[uri("urn:a%2")])),
    forgery("names.uri", "a wildcard host", |case| case.set_names(&[uri("https://*.example/")])),
    forgery("names.uri", "an escaped host", |case| {
        case.set_names(&[uri("https://ex%61mple.org/")]);
    }),
    forgery("names.uri", "a port that is none", |case| {
        case.set_names(&[uri("https://example.org:x/")]);
    }),
    forgery("names.other-name", "a user principal name in IA5String", |case| {
        case.set_names(&[other_name("1.3.6.1.4.1.311.20.2.3", &tlv(IA5, b"a@example.org"))]);
    }),
    forgery("names.other-name", "a service name without a host", |case| {
        case.set_names(&[other_name("1.3.6.1.5.5.7.8.7", &tlv(IA5, b"_ldap"))]);
    }),
    forgery("names.other-name", "an ASCII address as SmtpUTF8Mailbox", |case| {
        case.set_names(&[other_name("1.3.6.1.5.5.7.8.9", &tlv(UTF8, b"a@example.org"))]);
    }),
    forgery("names.malformed", "an empty directory name", |case| {
        case.set_names(&[directory_name(&sequence(&[]))]);
    }),
    forgery("names.length", "a directory name with an empty value", |case| {
        case.set_names(&[directory_name(&common_name(""))]);
    }),
];
