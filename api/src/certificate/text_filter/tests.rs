//! What matches, and what an index is asked for.

use super::*;

const DN: &str = r"CN=web.example.test, OU=R&D\, Berlin, O=Example Org, C=DE";

fn dn(value: &str) -> TextFilter {
    TextFilter::new(TextKind::DistinguishedName, value).unwrap()
}

#[test]
fn a_name_is_found_in_both_forms_and_in_any_case() {
    for value in [
        "web.example",
        "WEB.EXAMPLE.TEST",
        "OU=R&D\\, Berlin, O=Example Org",
        "ou=r&d\\, berlin,o=example org,c=de",
        "CN=web.example.test,OU=R&D\\, Berlin,O=Example Org,C=DE",
        "cn",
        "C",
    ] {
        assert!(dn(value).matches_dn(DN), "{value}");
    }
    for value in ["web,example", "O=Example Org,  C=DE", "OU=R&D\\,Berlin", "DE", "eb"] {
        assert!(!dn(value).matches_dn(DN), "{value}");
    }
}

#[test]
fn the_account_of_a_windows_machine_is_found_by_its_name() {
    for value in ["HOST01$", "cn=host01$", "CN=HOST01$, OU=Machines"] {
        assert!(dn(value).matches_dn("CN=HOST01$, OU=Machines, O=Example"), "{value}");
    }
    assert!(dn("OU=Machines$").matches_dn("CN=HOST01$, OU=Machines"));
    assert!(!dn("HOST01$").matches_dn("CN=HOST011, OU=Machines"));
}

#[test]
fn the_account_of_a_windows_user_is_found_as_its_record_shows_it() {
    for name in [r"CN=CORP\\dave, O=Example", r"CN=CORP\\svc, O=Example", r"CN=back\\bslash"] {
        assert!(dn(name).matches_dn(name), "{name}");
        assert!(dn(&name.to_uppercase()).matches_dn(name), "{name}");
    }
    assert!(dn(r"CORP\\\\d.*e").matches_dn(r"CN=CORP\\dave"));
}

#[test]
fn letters_with_several_small_forms_are_one_and_none_becomes_two() {
    for (value, text) in [
        ("οδος", "CN=ΟΔΟΣ"),
        ("ΣΑΣ ΣΑΣ", "CN=ΣΑΣ σας"),
        ("İzmir", "CN=Ofis İzmir"),
        ("straße", "CN=STRAẞE"),
        ("müll", "CN=MÜLL"),
    ] {
        assert!(dn(value).matches_dn(text), "{value}");
    }
    // Nothing that an index has as one character is asked for as two.
    for letter in '\u{80}'..='\u{ffff}' {
        assert_eq!(fold(&letter.to_string()).chars().count(), 1, "{letter:?}");
    }
}

#[test]
fn no_expression_is_tried_on_a_name_that_is_too_long_for_it() {
    let long = format!("CN=web.example.test, OU={}", "x".repeat(MOST_EXPRESSED));
    assert!(!dn("^CN=web").matches_dn(&long));
    assert!(dn("CN=web").matches_dn(&long));
}

#[test]
fn expressions_of_old_scripts_are_understood() {
    for value in [
        r"(?i)^CN=web\.example\.test",
        r"(?i)^CN=web\.example\.test,\ OU=R&D\\,\ Berlin,\ O=Example\ Org,\ C=DE$",
        r"(?i)^CN=web\.example\.test,OU=R&D\\,\ Berlin,O=Example\ Org,C=DE$",
        r"CN=web\.example\.test,\ OU=R&D",
        r"^cn=WEB",
        r"C=(DE|FR)$",
        r"CN=w[^,]+, OU=.*",
        r"O=Example\ Org",
        r"^CN=.*C=DE\Z",
    ] {
        assert!(dn(value).matches_dn(DN), "{value}");
    }
    for value in [r"^web", r"(?-i)^cn=web", r"O=Example$", r"^CN=.*C=FR\Z"] {
        assert!(!dn(value).matches_dn(DN), "{value}");
    }
    assert!(dn(r"(?i)^CN=a\#b$").matches_dn("CN=a#b"));
}

#[test]
fn characters_that_only_expressions_give_a_meaning_are_literal_elsewhere() {
    assert!(dn("CN=*.example.test").matches_dn("CN=*.example.test, O=Example"));
    assert!(dn("O=Example (Test) + [x]").matches_dn("O=Example (Test) + [x]"));
    assert!(dn(r"O=Example\+Co").matches_dn(r"O=Example\+Co"));
    assert!(!dn("CN=web.example").matches_dn("CN=webxexample"));
}

#[test]
fn a_bad_expression_is_refused_with_the_place() {
    for (value, place) in
        [(r"^CN=(x", 5), (r"^a(?=b)", 3), (r"(?i)^[z-a]", 7), (r"^\p{Nothing}", 2)]
    {
        let error = TextFilter::new(TextKind::DistinguishedName, value).unwrap_err();
        let BadExpression::Syntax { position, .. } = error else { panic!("{value}: {error}") };
        assert_eq!(position, place, "{value}: {error}");
    }
    for value in [r"^((a{100}){100}){100}$", r"^\w{900}\w{900}$"] {
        let error = TextFilter::new(TextKind::DistinguishedName, value).unwrap_err();
        assert_eq!(error, BadExpression::TooLarge, "{value}");
    }
}

#[test]
fn an_expression_whose_classes_take_long_to_read_in_any_case_is_refused() {
    let nested = format!("^{}b{}", "[^a".repeat(9), "]".repeat(9));
    let (wide, far) = (r"[\D]".repeat(200), "[!-\u{10fffe}]".repeat(100));
    for value in [r"^[a[^b]][a[^b]]", r"^[^[^b]--[^c]]", r"^[\P{L}][\P{L}]", &nested, &wide, &far] {
        let value = format!("^{value}");
        let error = TextFilter::new(TextKind::DistinguishedName, &value).unwrap_err();
        assert_eq!(error, BadExpression::TooLarge, "{value}");
    }
    for value in [r"^CN=[\s\S]*$", r"^CN=[\w.-]+, O=[\w -]+$", r"^[^,=]+=[^\d\s]+", r"^[a-z-[q]]+$"]
    {
        assert!(TextFilter::new(TextKind::DistinguishedName, value).is_ok(), "{value}");
    }
}

#[test]
fn an_index_is_asked_for_what_every_match_contains() {
    let needs = |value: &str| {
        let texts = |all: &Vec<Fragment>| {
            all.iter().map(|f| format!("{}{}", if f.is_first { "^" } else { "" }, f.text)).collect()
        };
        dn(value).needs().alternatives().iter().map(texts).collect::<Vec<Vec<String>>>()
    };
    assert_eq!(needs("CN=x1, OU=y"), [["cn=x1", "ou=y"]]);
    assert_eq!(needs("(?i)^CN=x$"), [["^cn=x"]]);
    assert_eq!(needs(r"^CN=web-\d+\.skill,\ O=K$"), [["^cn=web-", ".skill", "o=k"]]);
    assert_eq!(needs(r"CN=(a|b)c"), [["cn=(a|b)c"]]);
    assert_eq!(needs(r"^CN=(a|b)c"), [["^cn=", "c"]]);
    assert_eq!(needs(r"(?i).*"), Vec::<Vec<String>>::new());
    assert_eq!(needs(r"^a|b$"), Vec::<Vec<String>>::new());
    assert_eq!(needs(r"O=My\ Org"), [[r"o=my\ org"], ["o=my org"]]);
    assert_eq!(needs("x"), [["^x"]]);
}

#[test]
fn names_are_found_with_and_without_their_type() {
    let names = ["DNS:www.example.test", "IP:10.0.0.1"];
    for value in ["www.example", "dns:WWW", "10.0.0", "d", "ww", "10"] {
        let filter = TextFilter::new(TextKind::AlternativeNames, value).unwrap();
        assert!(filter.matches_names(names), "{value}");
    }
    for value in ["test\nIP", "xa", ".t", "^www.*"] {
        let filter = TextFilter::new(TextKind::AlternativeNames, value).unwrap();
        assert!(!filter.matches_names(names), "{value}");
    }
}
