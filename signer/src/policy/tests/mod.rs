//! The rules, each shown by drafts that break it alone.

mod chain;
mod edges;
mod forged_bounds;
mod forged_ca;
mod forged_extensions;
mod forged_form;
mod forged_keys;
mod forged_names;
mod forged_usages;
mod name_constraints;
mod no_panic;
mod nonces;
mod ordinary;

use std::collections::BTreeSet;

use super::fixture::Case;
use super::violation::PolicyViolation;

/// A draft that is ordinary but for one thing.
struct Forgery {
    rule: &'static str,
    what: &'static str,
    forge: fn(&mut Case),
}

const fn forgery(rule: &'static str, what: &'static str, forge: fn(&mut Case)) -> Forgery {
    Forgery { rule, what, forge }
}

/// Each forgery is refused by its own rule and by no other.
fn assert_refused(ordinary: fn() -> Case, forgeries: &[Forgery]) {
    for Forgery { rule, what, forge } in forgeries {
        let mut case = ordinary();
        forge(&mut case);

        let refused = case.check().map(|_| "nothing: it passed").map_err(|error| error.rule());

        assert_eq!(refused, Err(*rule), "{what}");
    }
}

#[test]
fn every_rule_is_shown_by_a_forgery() {
    // These need more than one draft to show; their tests stand beside the code or in `chain`.
    let ids = || PolicyViolation::RULES.iter().map(|rule| rule.id);
    let elsewhere =
        ids().filter(|rule| rule.starts_with("chain.") || rule.starts_with("serial.nonce"));
    let all: BTreeSet<&str> = ids().collect();

    let shown = [
        forged_bounds::FORGERIES,
        forged_ca::OWN,
        forged_ca::BELOW,
        forged_extensions::EXTENSIONS,
        forged_extensions::LINTS,
        forged_form::FORGERIES,
        forged_keys::FORGERIES,
        forged_names::FORGERIES,
        forged_usages::FORGERIES,
    ];
    let shown: BTreeSet<&str> =
        shown.into_iter().flatten().map(|f| f.rule).chain(elsewhere).collect();

    assert_eq!(all.difference(&shown).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert_eq!(all.len(), PolicyViolation::RULES.len(), "a rule's id stands there twice");
}

#[test]
fn a_refusal_is_one_sentence_without_a_full_stop() {
    let refused = [
        PolicyViolation::IssuerName,
        PolicyViolation::TooLong(50_000),
        PolicyViolation::Domain("a\nb".to_owned()),
    ];

    for violation in refused {
        let text = violation.to_string();
        assert!(!text.ends_with('.') && !text.contains('\n'), "{text}");
    }
}
