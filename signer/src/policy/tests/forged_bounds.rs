//! Forged: names beyond policy's domains and the CA's name constraints.

use super::{Forgery, assert_refused, forgery};
use crate::policy::fixture::parts::SAN;
use crate::policy::fixture::{Case, asn1::*};

#[test]
fn a_name_out_of_bounds_is_refused_by_its_rule() {
    assert_refused(Case::certificate, FORGERIES);
}

const CN: &str = "2.5.4.3";
const UTF8: u8 = 0x0c;
const IA5: u8 = 0x16;

fn subject(case: &mut Case, attribute: &str, tag: u8, value: &[u8]) {
    case.tbs.subject = tlv(0x30, &rdn(attribute, tag, value));
}

fn only_domain(case: &mut Case, domain: &str) {
    case.policy.domains = Some(vec![domain.to_owned()]);
}

pub(super) const FORGERIES: &[Forgery] = &[
    forgery("names.domain", "a host beside the domain", |case| {
        only_domain(case, "example.com");
    }),
    forgery("names.domain", "a host whose name only ends like the domain", |case| {
        only_domain(case, "example.org");
        case.set_names(&[dns("anexample.org")]);
    }),
    forgery("names.domain", "a common name beside the domain", |case| {
        only_domain(case, "example.org");
        case.set_names(&[dns("a.example.org")]);
        subject(case, CN, UTF8, b" www.example.com");
    }),
    forgery("names.domain", "a common name that is a mail address beside the domain", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, b"anna@example.com");
    }),
    forgery("names.nearly-host", "a host name with a blank", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, b"www .example.com");
    }),
    forgery("names.nearly-host", "a URL", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, b"https://www.example.com/");
    }),
    forgery("names.nearly-host", "a host and port", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, b"www.example.com:8443");
    }),
    forgery("names.nearly-host", "full stops of another script", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "www\u{3002}example\u{ff0e}com".as_bytes());
    }),
    forgery("names.nearly-host", "a host name in U-labels", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "m\u{fc}nchen.example".as_bytes());
    }),
    forgery("names.nearly-host", "a host name among words", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, b"Backup of www.example.com (old)");
    }),
    forgery("names.nearly-host", "a joiner in a label of one letter", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "www.example.c\u{200d}om".as_bytes());
    }),
    forgery("names.nearly-host", "a soft hyphen in a label of one letter", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "www.example.c\u{ad}om".as_bytes());
    }),
    forgery("names.nearly-host", "a character that no one sees, in a name without dots", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "Anna\u{115f}Muster".as_bytes());
    }),
    forgery("names.nearly-host", "a mark in a label of one letter", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "www.example.c\u{301}om".as_bytes());
    }),
    forgery("names.nearly-host", "a narrow blank in a label of one letter", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "www.example.c\u{200a}om".as_bytes());
    }),
    forgery("names.nearly-host", "one dot leaders", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "www\u{2024}example\u{2024}com".as_bytes());
    }),
    forgery("names.nearly-host", "small full stops", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "www\u{fe52}example\u{fe52}com".as_bytes());
    }),
    forgery("names.nearly-host", "an address in digits of another width", |case| {
        only_domain(case, "example.org");
        subject(case, CN, UTF8, "\u{ff11}92.0.2.1".as_bytes());
    }),
    forgery("names.domain", "a wildcard above the domain", |case| {
        only_domain(case, "example.org");
        case.set_names(&[dns("*.org")]);
    }),
    forgery("names.domain", "an e-mail address", |case| {
        only_domain(case, "example.org");
        case.set_names(&[email("a@example.com")]);
    }),
    forgery("names.domain", "an e-mail address in the subject", |case| {
        only_domain(case, "example.org");
        subject(case, "1.2.840.113549.1.9.1", IA5, b"a@example.com");
    }),
    forgery("names.domain", "a URI", |case| {
        only_domain(case, "example.org");
        case.set_names(&[uri("https://example.org@example.com/")]);
    }),
    forgery("names.domain", "a URI of an address", |case| {
        only_domain(case, "example.org");
        case.set_names(&[uri("https://192.0.2.1/")]);
    }),
    forgery("names.domain", "a URI that hides its host", |case| {
        only_domain(case, "example.org");
        case.set_names(&[uri("sip:a@example.com")]);
    }),
    forgery("names.domain", "a user principal name", |case| {
        only_domain(case, "example.org");
        case.set_names(&[other_name("1.3.6.1.4.1.311.20.2.3", &tlv(UTF8, b"a@example.com"))]);
    }),
    forgery("name-constraints.permitted", "a host beside the permitted tree", |case| {
        case.constrain(&[dns("nc.example.org")], &[]);
        case.set_names(&[dns("evilnc.example.org")]);
    }),
    forgery("name-constraints.permitted", "a common name beside the permitted tree", |case| {
        case.constrain(&[dns("nc.example.org")], &[]);
        case.tbs.remove(SAN);
    }),
    forgery("name-constraints.permitted", "an address and port beside the network", |case| {
        case.constrain(&[ip(&[192, 0, 2, 0, 255, 255, 255, 0])], &[]);
        subject(case, CN, UTF8, b"192.0.3.1:443");
    }),
    forgery("name-constraints.nearly-host", "a host and port, under constrained hosts", |case| {
        case.constrain(&[dns("example.org")], &[]);
        subject(case, CN, UTF8, b"www.example.com:443");
    }),
    forgery("name-constraints.nearly-host", "a URL, under excluded hosts", |case| {
        case.constrain(&[], &[dns("example.com")]);
        subject(case, CN, UTF8, b"https://www.example.com/");
    }),
    forgery("name-constraints.nearly-host", "an address in wide digits", |case| {
        case.constrain(&[], &[ip(&[192, 0, 2, 0, 255, 255, 255, 0])]);
        subject(case, CN, UTF8, "\u{ff11}92.0.2.1".as_bytes());
    }),
    forgery("name-constraints.nearly-host", "a mailbox with a blank", |case| {
        case.constrain(&[], &[email("example.com")]);
        subject(case, CN, UTF8, b"a b@example.com");
    }),
    forgery("name-constraints.common-name", "an address that OpenSSL takes for a host", |case| {
        case.constrain(&[dns("example.org"), ip(&[192, 0, 2, 0, 255, 255, 255, 0])], &[]);
        case.set_names(&[ip(&[192, 0, 2, 5])]);
        subject(case, CN, UTF8, b"192.0.2.5");
    }),
    forgery("name-constraints.common-name", "a version that OpenSSL takes for a host", |case| {
        case.constrain(&[dns("example.org")], &[]);
        case.set_names(&[email("a@example.org")]);
        subject(case, CN, UTF8, b"v1.2");
    }),
    forgery("name-constraints.common-name", "a version, without any alternative name", |case| {
        case.constrain(&[dns("example.org")], &[]);
        case.tbs.remove(SAN);
        subject(case, CN, UTF8, b"v1.2");
    }),
    forgery("name-constraints.permitted", "an address beside the permitted network", |case| {
        case.constrain(&[ip(&[192, 0, 2, 0, 255, 255, 255, 0])], &[]);
        case.set_names(&[ip(&[192, 0, 3, 1])]);
    }),
    forgery("name-constraints.permitted", "IPv6 where IPv4 is permitted", |case| {
        case.constrain(&[ip(&[192, 0, 2, 0, 255, 255, 255, 0])], &[]);
        case.set_names(&[ip(&[0; 16])]);
    }),
    forgery("name-constraints.permitted", "a mailbox of a host below the permitted one", |case| {
        case.constrain(&[email("example.org")], &[]);
        case.set_names(&[email("a@sub.example.org")]);
    }),
    forgery("name-constraints.permitted", "a mailbox of the domain itself", |case| {
        case.constrain(&[email(".example.org")], &[]);
        case.set_names(&[email("a@example.org")]);
    }),
    forgery("name-constraints.permitted", "another mailbox than the permitted one", |case| {
        case.constrain(&[email("a@example.org")], &[]);
        case.set_names(&[email("A@example.org")]);
    }),
    forgery("name-constraints.permitted", "a URI of a host below the permitted one", |case| {
        case.constrain(&[uri("example.org")], &[]);
        case.set_names(&[uri("https://sub.example.org/")]);
    }),
    forgery("name-constraints.permitted", "a subject beside the permitted one", |case| {
        case.constrain(&[directory_name(&name(&[("2.5.4.10", "Example")]))], &[]);
    }),
    forgery("name-constraints.permitted", "a directory name beside the permitted one", |case| {
        case.constrain(&[directory_name(&common_name("A subject"))], &[]);
        case.set_names(&[directory_name(&common_name("Another"))]);
    }),
    forgery("name-constraints.excluded", "a host in the excluded tree", |case| {
        case.constrain(&[dns("example.org")], &[dns("WWW.example.org")]);
    }),
    forgery("name-constraints.excluded", "a wildcard that covers an excluded host", |case| {
        case.constrain(&[], &[dns("secret.example.org")]);
        case.set_names(&[dns("*.example.org")]);
    }),
    forgery("name-constraints.excluded", "an address in the excluded network", |case| {
        case.constrain(&[], &[ip(&[0; 8])]);
        case.set_names(&[ip(&[192, 0, 2, 1])]);
    }),
    forgery("name-constraints.excluded", "an address in the subject", |case| {
        case.constrain(&[], &[email("example.org")]);
        subject(case, "1.2.840.113549.1.9.1", IA5, b"a@EXAMPLE.org");
    }),
    forgery("name-constraints.excluded", "a subject in another case and type", |case| {
        case.constrain(&[], &[directory_name(&common_name("a  SUBJECT"))]);
        case.set_names(&[dns("a.example.org")]);
    }),
    forgery("name-constraints.excluded", "an internationalised address", |case| {
        case.constrain(&[], &[email("example.org")]);
        let value = tlv(UTF8, "jürgen@example.org".as_bytes());
        case.set_names(&[other_name("1.3.6.1.5.5.7.8.9", &value)]);
    }),
    forgery("name-constraints.not-understood", "an otherName under constraints on them", |case| {
        case.constrain(&[], &[other_name("1.2.3", &[5, 0])]);
        case.set_names(&[other_name("1.2.4", &[5, 0])]);
    }),
    forgery("name-constraints.not-understood", "a URI without a host", |case| {
        case.constrain(&[], &[uri("example.org")]);
        case.set_names(&[uri("urn:example:a")]);
    }),
    forgery("name-constraints.not-understood", "a mask with holes", |case| {
        case.constrain(&[], &[ip(&[192, 0, 2, 0, 255, 0, 255, 0])]);
        case.set_names(&[ip(&[10, 0, 0, 1])]);
    }),
];
