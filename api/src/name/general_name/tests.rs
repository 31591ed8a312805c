//! General names from DER.

use super::*;

#[test]
fn every_kind_of_name_survives_the_way_through_der() {
    let names = vec![
        SubjectAltName::DnsName("a.example.test".into()),
        SubjectAltName::Rfc822Name("a@example.test".into()),
        SubjectAltName::Uri("https://a.example.test/".into()),
        SubjectAltName::IpAddress([192, 0, 2, 1].into()),
        SubjectAltName::IpAddress("2001:db8::1".parse().unwrap()),
        SubjectAltName::UserPrincipalName("web01$@corp.example.test".into()),
        SubjectAltName::OtherName {
            type_id: ObjectIdentifier::new_unwrap("1.3.6.1.5.2.2"),
            value: vec![0x1b, 1, b'x'],
        },
        SubjectAltName::DirectoryName(crate::name::dn_text::parse("CN=x,C=DE").unwrap()),
        SubjectAltName::RegisteredId(ObjectIdentifier::new_unwrap("1.3.6.1.4.1.55555.7")),
    ];

    let der = SubjectAltName::all_to_der(&names).unwrap();

    assert_eq!(SubjectAltName::read_all(&der), Ok(names));
}

#[test]
fn a_name_that_can_not_be_read_is_an_error_and_never_dropped() {
    use GeneralNameProblem as P;
    for (der, problem) in [
        (&[0x30, 0][..], P::NoName),
        (&[0x30, 5, 0x87, 3, 1, 2, 3], P::AddressLength(3)),
        (&[0x30, 2, 0x87, 0], P::AddressLength(0)),
        (&[0x30, 3, 0x82, 1, 0xc3], P::NotAscii("a dNSName")),
        (&[0x30, 3, 0x89, 1, b'x'], P::Kind(0x89)),
        (&[0x30, 5, 0xa2, 3, 0x16, 1, b'x'], P::Kind(0xa2)),
        (&[0x30, 2, 0xa5, 0], P::Kind(0xa5)),
    ] {
        assert_eq!(SubjectAltName::read_all(der), Err(problem), "{der:02x?}");
    }
    assert!(matches!(SubjectAltName::read_all(&[0x30, 0, 0]), Err(P::NotDer(_))));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = SubjectAltName::read_all(&bytes);
    }
}
