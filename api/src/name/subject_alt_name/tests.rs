//! Subject alternative names as they are typed and shown.

use super::*;

#[test]
fn typed_names_are_read_in_any_case_and_shown_in_one_form() {
    for (typed, shown) in [
        ("dns:a.example.test", "DNS:a.example.test"),
        (" DNS: b.example.test ", "DNS:b.example.test"),
        ("DNS:münchen.example.test", "DNS:xn--mnchen-3ya.example.test"),
        ("ip: 192.0.2.4", "IP:192.0.2.4"),
        ("IP:2001:DB8:0:0:0:0:0:1", "IP:2001:db8::1"),
        ("email:a@example.test", "EMAIL:a@example.test"),
        ("URI:https://a.example.test/x", "URI:https://a.example.test/x"),
    ] {
        assert_eq!(SubjectAltName::parse(typed).unwrap().to_string(), shown);
    }
}

#[test]
fn what_is_no_name_of_the_four_types_is_refused() {
    use SubjectAltNameProblem as P;
    for (typed, problem) in [
        ("a.example.test", P::NoType),
        ("DNS", P::NoType),
        (":x", P::UnknownType(String::new())),
        ("UPN:a@example.test", P::UnknownType("UPN".into())),
        ("RID:1.2.3", P::UnknownType("RID".into())),
        ("IP Address:192.0.2.1", P::UnknownType("IP Address".into())),
        ("otherName:1.2.3;UTF8:x", P::UnknownType("otherName".into())),
        ("DNS:", P::DnsName(DnsNameProblem::Empty)),
        ("DNS:192.0.2.7", P::DnsName(DnsNameProblem::Address)),
        ("IP:192.0.2.*", P::IpAddress),
        ("IP:192.0.2.0/24", P::IpAddress),
        ("IP:fe80::1%eth0", P::IpAddress),
        ("EMAIL:nodomain", P::Rfc822Name(NotAnAddress)),
        ("URI:/relative", P::Uri(UriProblem::NoScheme)),
    ] {
        assert_eq!(SubjectAltName::parse(typed), Err(problem), "{typed}");
    }
}

#[test]
fn the_first_of_equal_names_is_kept() {
    let names = [
        "DNS:a.test",
        "DNS:A.test",
        "IP:192.0.2.1",
        "DNS:a.test",
        "EMAIL:x@A.test",
        "EMAIL:x@a.test",
    ];
    let names = names.map(|name| SubjectAltName::parse(name).unwrap()).into();

    let kept: Vec<String> = collapse(names).iter().map(ToString::to_string).collect();

    assert_eq!(kept, ["DNS:a.test", "IP:192.0.2.1", "EMAIL:x@A.test"]);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "(DNS|IP|URI|EMAIL):\\PC{0,30}|\\PC{0,30}") {
        let _ = SubjectAltName::parse(&text);
    }
}
