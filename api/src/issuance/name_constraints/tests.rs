//! Name constraints as they are typed.

use super::*;

fn problem(text: &str) -> NameConstraintProblem {
    let permitted = vec![text.to_owned()];
    NameConstraintsText { permitted, excluded: vec![] }.parse().unwrap_err()
}

#[test]
fn forms_that_readers_differ_on_are_refused_with_the_right_one() {
    for (text, right) in [
        ("DNS:.example.test", "DNS:example.test"),
        ("DNS:*.example.test", "DNS:example.test"),
        ("DNS:example.test.", "DNS:example.test"),
        ("IP:192.0.2.7/24", "IP:192.0.2.0/24"),
        ("IP:192.0.2.7", "IP:192.0.2.7/32"),
        ("IP:2001:db8::1/33", "IP:2001:db8::/33"),
        ("EMAIL:@example.test", "EMAIL:example.test"),
        ("EMAIL:*.example.test", "EMAIL:.example.test"),
    ] {
        let corrected = right.to_owned();
        let expected = NameConstraintProblem::Corrected { text: text.into(), corrected };
        assert_eq!(problem(text), expected);
    }
}

#[test]
fn what_is_no_constraint_is_refused() {
    for text in [
        "",
        "example.test",
        "DNS:",
        "DNS:a b",
        "DNS:a.*.test",
        "IP:1.2.3/24",
        "IP:192.0.2.0/33",
        "EMAIL:a@b@c",
        "URI:.example.test",
    ] {
        assert_eq!(problem(text), NameConstraintProblem::Malformed(text.into()));
    }
}

#[test]
fn no_entry_at_all_means_no_extension() {
    assert_eq!(NameConstraintsText::default().parse(), Ok(None));
}

fn constraints(permitted: &[&str], excluded: &[&str]) -> NameConstraints {
    let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    NameConstraintsText { permitted: texts(permitted), excluded: texts(excluded) }
        .parse()
        .unwrap()
        .unwrap()
}

#[test]
fn what_is_permitted_below_must_be_permitted_above() {
    for (above, below, fits) in [
        ("DNS:example.test", "DNS:example.test", true),
        ("DNS:example.test", "DNS:A.Example.test", true),
        ("DNS:a.example.test", "DNS:example.test", false),
        ("DNS:example.test", "DNS:anexample.test", false),
        ("DNS:example.test", "EMAIL:other.test", true),
        ("IP:192.0.2.0/24", "IP:192.0.2.128/25", true),
        ("IP:192.0.2.0/24", "IP:192.0.2.0/23", false),
        ("IP:192.0.2.0/24", "IP:198.51.100.0/24", false),
        ("IP:192.0.2.0/24", "IP:2001:db8::/32", false),
        ("IP:2001:db8::/32", "IP:2001:db8:1::/48", true),
        ("EMAIL:example.test", "EMAIL:example.test", true),
        ("EMAIL:example.test", "EMAIL:a@Example.test", true),
        ("EMAIL:example.test", "EMAIL:.example.test", false),
        ("EMAIL:example.test", "EMAIL:a.example.test", false),
        ("EMAIL:.example.test", "EMAIL:a.example.test", true),
        ("EMAIL:.example.test", "EMAIL:u@a.example.test", true),
        ("EMAIL:.example.test", "EMAIL:.a.example.test", true),
        ("EMAIL:.example.test", "EMAIL:.example.test", true),
        ("EMAIL:.example.test", "EMAIL:example.test", false),
        ("EMAIL:a@example.test", "EMAIL:a@example.test", true),
        ("EMAIL:a@example.test", "EMAIL:A@example.test", false),
        ("EMAIL:a@example.test", "EMAIL:example.test", false),
    ] {
        let found = constraints(&[below], &[]).contradiction(&constraints(&[above], &[]));
        assert_eq!(found.is_none(), fits, "{below} below {above}: {found:?}");
    }
}

#[test]
fn what_is_excluded_above_or_beside_is_not_permitted() {
    let excluded = constraints(&[], &["DNS:secret.test"]);
    let whole = constraints(&["DNS:a.secret.test"], &[]);
    let part = constraints(&["DNS:test"], &[]);

    assert_eq!(
        whole.contradiction(&excluded),
        Some(Contradiction::Excluded {
            subtree: "DNS:a.secret.test".into(),
            by: "DNS:secret.test".into()
        })
    );
    assert_eq!(part.contradiction(&excluded), None);
    assert_eq!(constraints(&["DNS:a.test"], &["DNS:b.a.test"]).self_contradiction(), None);
    assert!(constraints(&["DNS:a.test"], &["DNS:test"]).self_contradiction().is_some());
}
