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
