//! Where a certificate is not what its request asked for: no name is changed, added or left out,
//! and no extension left out or given another value, without a word in the history.

use super::account::{ExtensionFate, NameFate, Outcome};
use super::requested_extensions::AskedExtension;
use crate::echo::cut_to;
use crate::name::string_types::Corrected;

/// What of `outcomes` is another one than was asked for: a clause each, with the rule where a
/// profile has one.
pub(crate) fn departures(outcomes: &[Outcome<'_>]) -> Vec<String> {
    let mut told = of_subject(outcomes);
    if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Reversed { .. })) {
        told.push("its subject was turned (reverseCsrDn of the request)".to_owned());
    }
    told.extend(of_names(outcomes).map(str::to_owned));
    let unmet = |wanted: fn(ExtensionFate) -> bool| {
        let unmet = outcomes.iter().filter_map(move |outcome| match outcome {
            Outcome::Extension { asked, fate } if wanted(*fate) => Some(*asked),
            _ => None,
        });
        unmet.collect::<Vec<&AskedExtension>>()
    };
    let decided = unmet(|it| matches!(it, ExtensionFate::Replaced | ExtensionFate::LeftOut));
    if !decided.is_empty() {
        let names = list(decided.into_iter().map(AskedExtension::name));
        told.push(format!("{names} of the CSR: the profile decided otherwise"));
    }
    let unknown = unmet(|it| it == ExtensionFate::Unknown);
    if !unknown.is_empty() {
        let names = list(unknown.into_iter().map(AskedExtension::name));
        told.push(format!("{names} of the CSR: left out, not known here"));
    }
    if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Cut)) {
        told.push(CUT.to_owned());
    }
    within_bounds(told)
}

/// Of a certificate that ends with its CA.
pub(crate) const CUT: &str =
    "it ends with the CA certificate, before the profile's lifetime is over";

/// Most bytes of all clauses together: what the journal's context keeps room for, beside extra
/// information and addresses.
pub(crate) const MAX_DEPARTURES: usize = 1024;

/// As many clauses as have room, and how many have not.
fn within_bounds(told: Vec<String>) -> Vec<String> {
    const ROOM_FOR_REST: usize = "and 4294967295 more departures".len();
    let mut used = 0;
    let all = told.len();
    let mut kept: Vec<_> = told
        .into_iter()
        .take_while(|clause| {
            used += clause.len();
            used + ROOM_FOR_REST <= MAX_DEPARTURES
        })
        .collect();
    match all - kept.len() {
        0 => {}
        more => kept.push(format!("and {more} more departures")),
    }
    kept
}

fn of_subject(outcomes: &[Outcome<'_>]) -> Vec<String> {
    let mut changes: Vec<(&str, &str, Vec<String>)> = Vec::new();
    // In the order of the DER, which is not that of the text.
    for outcome in outcomes.iter().rev() {
        let Outcome::Attribute { corrected: Some(corrected), .. } = outcome else { continue };
        let Corrected { attribute, from, to, .. } = corrected;
        match changes.iter_mut().find(|(f, t, _)| f == from && t == to) {
            Some((.., attributes)) if attributes.contains(attribute) => {}
            Some((.., attributes)) => attributes.push(attribute.clone()),
            None => changes.push((from, to, vec![attribute.clone()])),
        }
    }
    let clause = |(from, to, attributes): (&str, &str, Vec<String>)| {
        format!("{} was put right from {from} to {to}", list(attributes.into_iter()))
    };
    changes.into_iter().map(clause).collect()
}

fn of_names(outcomes: &[Outcome<'_>]) -> impl Iterator<Item = &'static str> {
    let of_csr = |wanted| {
        outcomes.iter().any(|it| matches!(it, Outcome::CsrName { fate, .. } if *fate == wanted))
    };
    let is_added =
        outcomes.iter().any(|it| matches!(it, Outcome::AddedName { is_asked: false, .. }));
    let clauses = [
        (is_added, "the CN was added as a name (rule addCnAsDnsSan of the profile)"),
        (
            of_csr(NameFate::LeftOut),
            "the names of the CSR were left out (rule includeSansFromCsr of the profile)",
        ),
        (of_csr(NameFate::Repeated), "names that stood in the CSR more than once stand there once"),
    ];
    clauses.into_iter().filter(|(applies, _)| *applies).map(|(_, clause)| clause)
}

/// Some names; the history is no place for a hundred of them, nor has the journal room for them.
fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    const MOST: usize = 12;
    let more = names.len().saturating_sub(MOST);
    // An object identifier has no bound of its own.
    let first: Vec<_> = names.take(MOST).map(|name| cut_to(&name, 40)).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_and_says_by_how_much() {
        let names = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();

        assert_eq!(list(names(2).into_iter()), "0, 1");
        assert_eq!(list(names(15).into_iter()), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more");
    }
    #[test]
    fn however_much_is_told_it_has_a_bound_and_says_what_it_leaves_out() {
        let oid = "1".repeat(300);
        let list = list((0..40).map(|_| oid.clone()));
        assert!(list.len() < MAX_DEPARTURES / 2 + 100, "{}", list.len());
        let clause = |length: usize| "x".repeat(length);

        let told = within_bounds(vec![clause(300), clause(600), clause(300), clause(1)]);

        assert_eq!(told, [clause(300), clause(600), "and 2 more departures".to_owned()]);
        assert_eq!(within_bounds(vec![clause(900)]), [clause(900)]);
        for clauses in [vec![clause(5000)], vec![clause(994), clause(1)], vec![clause(1); 5000]] {
            let bytes: usize = within_bounds(clauses).iter().map(String::len).sum();
            assert!(bytes <= MAX_DEPARTURES, "{bytes}");
        }
    }
}
