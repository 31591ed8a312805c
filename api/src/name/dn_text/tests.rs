//! Distinguished names as people type them.

use super::*;

fn shown(text: &str) -> String {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
}

#[test]
fn what_people_type_reads_back_in_the_form_of_rfc_4514() {
    for (typed, read_back) in [
        ("CN=a,O=b", "CN=a, O=b"),
        (
            " cn = host.example.test , o = Example Org ,c=DE ",
            "CN=host.example.test, O=Example Org, C=DE",
        ),
        ("C=DE, O=b, CN=a", "C=DE, O=b, CN=a"),
        ("CN=a;O=b", "CN=a, O=b"),
        ("CN=a+UID=u1,O=b", "UID=u1+CN=a, O=b"),
        ("CN=a,O=Example\\, Inc.,C=US", "CN=a, O=Example\\, Inc., C=US"),
        ("CN=a,O=\"Example, Inc.\"", "CN=a, O=Example\\, Inc."),
        ("CN=a\\\\\\,b", "CN=a\\\\\\,b"),
        ("O=Caf\\C3\\A9", "O=Café"),
        ("CN=\\#1\\ ", "CN=\\#1\\ "),
        ("2.5.4.3=a,OID.2.5.4.10=b", "CN=a, O=b"),
        ("1.3.6.1.4.1.55555.3=rack 12", "1.3.6.1.4.1.55555.3=#13077261636b203132"),
        ("CN=#0c0161", "CN=a"),
        ("E=a@example.test,S=Bavaria", "emailAddress=a@example.test, ST=Bavaria"),
        ("O=Müller 東京 🔒", "O=Müller 東京 🔒"),
        (
            "O=$ENV::PATH $(id) `id` [req] ${jndi:ldap://127.0.0.1/x}",
            "O=$ENV::PATH $(id) `id` [req] ${jndi:ldap://127.0.0.1/x}",
        ),
        ("O=<script>alert(1)</script>", "O=\\<script\\>alert(1)\\</script\\>"),
    ] {
        assert_eq!(shown(typed), read_back, "{typed}");
    }
}

#[test]
fn what_is_shown_reads_back_as_the_same_der() {
    for text in ["CN=a, O=b\\, c, C=DE", "CN=\\ x\\ +UID=\\#y", "DC=www, DC=example, DC=test"] {
        let name = parse(text).unwrap();

        assert_eq!(parse(&name.to_string()).unwrap(), name, "{text}");
    }
}

#[test]
fn the_last_rdn_of_the_string_is_the_first_of_the_der() {
    let name = parse("CN=a,O=b,C=DE").unwrap();

    let first = name.attributes().next().unwrap();
    assert_eq!(first.text().as_deref(), Some("DE"));
    assert_eq!(name.reversed().unwrap().to_string(), "C=DE, O=b, CN=a");
}

#[test]
fn each_type_gets_the_string_type_of_its_syntax() {
    for (text, tag) in [
        ("CN=Plain Name", 0x13),
        ("CN=*.example.test", 0x0c),
        ("O=Müller", 0x0c),
        ("DC=example", 0x16),
        ("E=a@example.test", 0x16),
        ("C=DE", 0x13),
        ("serialNumber=77", 0x13),
    ] {
        let name = parse(text).unwrap();

        assert_eq!(name.attributes().next().unwrap().value[0], tag, "{text}");
    }
}

#[test]
fn malformed_strings_are_refused_with_the_reason() {
    use DnTextError as E;
    let missing = |at| E::MissingAttribute { at };
    let long = "a".repeat(65);
    for (text, reason) in [
        ("", E::Empty),
        ("   ", E::Empty),
        ("CN=a,", missing(6)),
        (",CN=a", missing(1)),
        ("CN=a,,O=x", missing(6)),
        ("CN=a+", missing(6)),
        ("a.example.test", E::MissingEquals { at: 1 }),
        ("CN", E::MissingEquals { at: 1 }),
        ("CN=a,b", E::MissingEquals { at: 6 }),
        ("=x", E::UnknownType(String::new())),
        ("FOO=bar,CN=a", E::UnknownType("FOO".into())),
        ("/C=DE/O=Example/CN=a", E::UnknownType("/C".into())),
        ("2.5.=a", E::UnknownType("2.5.".into())),
        ("99.1=a", E::UnknownType("99.1".into())),
        ("CN=a+=b", E::UnknownType(String::new())),
        ("CN=a\\", E::BadEscape { at: 5 }),
        ("CN=a\\ZZ", E::BadEscape { at: 5 }),
        ("CN=\"a", E::BadQuote { at: 4 }),
        ("CN=a\"b\"", E::BadQuote { at: 5 }),
        ("CN=#0C05", E::BadHex { attribute: "CN".into() }),
        ("CN=#XYZ", E::BadHex { attribute: "CN".into() }),
        ("CN=\\C3", E::NotUtf8 { attribute: "CN".into() }),
        ("CN=,O=x", NameProblem::Empty { attribute: "CN".into() }.into()),
        ("O=x,CN= ", NameProblem::Empty { attribute: "CN".into() }.into()),
        ("C=DEU", NameProblem::Country { attribute: "C".into() }.into()),
        ("C=é", NameProblem::Country { attribute: "C".into() }.into()),
        (
            "DC=é",
            NameProblem::Charset { attribute: "DC".into(), character: 'é', ascii: true }.into(),
        ),
        ("CN=a+CN=b", NameProblem::TwiceInRdn { attribute: "CN".into() }.into()),
        (
            &format!("CN={long}"),
            NameProblem::TooLong { attribute: "CN".into(), length: 65, upper_bound: 64 }.into(),
        ),
    ] {
        assert_eq!(parse(text), Err(reason), "{text}");
    }
    assert_eq!(parse(&"x".repeat(MAX_TEXT + 1)), Err(DnTextError::TooLong));
}

#[test]
fn no_control_or_invisible_character_gets_into_a_name() {
    for character in
        ['\0', '\u{7}', '\n', '\r', '\t', '\u{2028}', '\u{202e}', '\u{200b}', '\u{feff}']
    {
        let refused = parse(&format!("CN=a{character}b"));

        let attribute = "CN".into();
        assert_eq!(refused, Err(NameProblem::Character { attribute, character }.into()));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_panic_and_what_passes_reads_back(text in "\\PC{0,40}|[A-Z=,+\\\\#\" ;a-f0-9.]{0,40}") {
        if let Ok(name) = parse(&text) {
            proptest::prop_assert_eq!(parse(&name.to_string()).unwrap(), name);
        }
    }
}
