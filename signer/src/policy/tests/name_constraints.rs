//! What a CA's name constraints let pass.

use crate::policy::fixture::Case;
use crate::policy::fixture::asn1::{common_name as named, *};

/// Names, and the constraints that they pass under.
struct Passing {
    what: &'static str,
    permitted: Vec<Vec<u8>>,
    excluded: Vec<Vec<u8>>,
    names: Vec<Vec<u8>>,
}

fn passing(
    what: &'static str,
    permitted: &[Vec<u8>],
    excluded: &[Vec<u8>],
    names: &[Vec<u8>],
) -> Passing {
    let (permitted, excluded, names) = (permitted.to_vec(), excluded.to_vec(), names.to_vec());
    Passing { what, permitted, excluded, names }
}

#[test]
fn names_within_the_constraints_pass() {
    let net = ip(&[192, 0, 2, 0, 255, 255, 255, 0]);
    let half_octet = || ip(&[10, 0x40, 0, 0, 255, 0xf0, 0, 0]);
    let ipv6 = |octets: &[u8], ones: usize| {
        let mut network = [octets, &vec![0; 16 - octets.len()]].concat();
        network.extend((0..16).map(|at| if at < ones / 8 { 0xff } else { 0 }));
        ip(&network)
    };
    let address = || ip(&[&[0x20, 1, 0x0d, 0xb8][..], &[0; 12]].concat());
    let table = [
        passing("the domain itself", &[dns("example.org")], &[], &[dns("Example.ORG")]),
        passing("a host below it", &[dns("example.org")], &[], &[dns("a.b.example.org")]),
        passing("a wildcard below it", &[dns("example.org")], &[], &[dns("*.example.org")]),
        passing("one of two trees", &[dns("a.org"), dns("b.org")], &[], &[dns("x.b.org")]),
        passing("a host below a leading dot", &[dns(".example.org")], &[], &[dns("a.example.org")]),
        passing("any host under the empty name", &[dns("")], &[], &[dns("example.org")]),
        passing("a host beside the excluded", &[], &[dns("a.org")], &[dns("ba.org"), dns("org")]),
        passing("another kind of name", &[dns("example.org")], &[], &[ip(&[10, 0, 0, 1])]),
        passing("an address in its network", &[net], &[], &[ip(&[192, 0, 2, 255])]),
        passing("half an octet", &[half_octet()], &[], &[ip(&[10, 0x4f, 9, 9])]),
        passing("beside half an octet", &[], &[half_octet()], &[ip(&[10, 0x50, 0, 0])]),
        passing("IPv6", &[ipv6(&[0x20, 1, 0x0d, 0xb8], 32)], &[], &[address()]),
        passing("IPv6 beside an excluded IPv4", &[], &[ip(&[0; 8])], &[address()]),
        passing("a mailbox", &[email("a@example.org")], &[], &[email("a@EXAMPLE.org")]),
        passing("a mailbox of the host", &[email("example.org")], &[], &[email("a@example.org")]),
        passing("a mailbox below", &[email(".example.org")], &[], &[email("a@b.example.org")]),
        passing("a mailbox beside", &[], &[email("example.org")], &[email("a@b.example.org")]),
        passing("a URI of the host", &[uri("example.org")], &[], &[uri("https://example.org/a")]),
        passing("a URI below", &[uri(".example.org")], &[], &[uri("spiffe://b.example.org/a")]),
        passing(
            "a directory name below",
            &[directory_name(&common_name("a SUBJECT"))],
            &[],
            &[directory_name(&name(&[("2.5.4.3", "A  Subject"), ("2.5.4.11", "x")]))],
        ),
        passing(
            "a kind that no one certifies",
            &[],
            &[tlv(0xa5, &tlv(0xa1, &tlv(0x0c, b"x")))],
            &[dns("example.org")],
        ),
    ];

    for Passing { what, permitted, excluded, names } in table {
        let mut case = Case::certificate();
        case.set_names(&names);
        case.constrain(&permitted, &excluded);

        let checked = case.check();

        assert!(checked.is_ok(), "{what}: {checked:?}");
    }
}

#[test]
fn a_common_name_that_no_client_takes_for_an_unpermitted_host_passes() {
    let hosts = || vec![dns("example.org")];
    for (common_name, permitted, names) in [
        ("v1.2", hosts(), vec![dns("www.example.org")]),
        ("v1.2", vec![uri("example.org")], vec![email("a@example.org")]),
        ("192.0.2.5", hosts(), vec![dns("www.example.org"), ip(&[192, 0, 2, 5])]),
        ("Firmware v1.2", hosts(), vec![email("a@example.org")]),
        ("https://www.example.com/", vec![uri("example.org")], vec![email("a@example.org")]),
        ("Dr. Anna Muster", hosts(), vec![email("a@example.org")]),
    ] {
        let mut case = Case::certificate();
        case.set_names(&names);
        case.constrain(&permitted, &[]);
        case.tbs.subject = named(common_name);

        let checked = case.check();

        assert!(checked.is_ok(), "{common_name}: {checked:?}");
    }
}

#[test]
fn a_ca_is_no_host_whatever_its_common_name() {
    for common_name in ["Issuing CA of www.example.com", "CA v1.2", "v1.2"] {
        let mut case = Case::ca();
        case.constrain(&[dns("example.org")], &[]);
        case.tbs.subject = named(common_name);

        let checked = case.check();

        assert!(checked.is_ok(), "{common_name}: {checked:?}");
    }
}

#[test]
fn a_ca_below_may_have_constraints_of_its_own() {
    let mut case = Case::ca();
    let permitted = [
        dns("example.org"),
        email(".example.org"),
        uri("example.org"),
        ip(&[10, 0, 0, 0, 255, 0, 0, 0]),
    ];
    let value = constraints(&permitted, &[directory_name(&common_name("x"))]);
    case.tbs.set("2.5.29.30", crate::policy::fixture::parts::Critical::Yes, &value);

    let checked = case.check();

    assert!(checked.is_ok(), "{checked:?}");
}
