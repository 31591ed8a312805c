//! Where a certificate is not what its request asked for: no name is changed, added or left out,
//! and no extension left out or given another value, without a word in the history. Whether an
//! extension is critical is the standards' to say, and not told.

use std::collections::HashSet;

use super::csr_request::ParsedCsr;
use super::end_entity::Plan;
use super::requested_extensions::AskedExtension;
use crate::echo::cut_to;
use crate::inventory::profile_definition::ProfileDefinition;
use crate::name::SubjectAltName;
use crate::name::string_types::Corrected;

/// The names that a certificate gets.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// All of them, each once.
    pub(crate) all: Vec<SubjectAltName>,
    /// What the body of the request asked for.
    pub(crate) from_body: Vec<SubjectAltName>,
}

/// What `plan` does otherwise than `csr` asks: a clause each, with the rule where a profile has one.
pub(crate) fn departures(
    csr: &ParsedCsr,
    profile: &ProfileDefinition,
    names: &Names,
    plan: &Plan,
) -> Vec<String> {
    let mut told = of_subject(csr);
    told.extend(of_names(csr, profile, names));
    let unmet = || csr.asked_extensions().iter().filter(|asked| !is_met(asked, plan));
    let (decided, unknown): (Vec<_>, Vec<_>) = unmet().partition(|asked| asked.is_decided());
    if !decided.is_empty() {
        let names = list(decided.into_iter().map(AskedExtension::name));
        told.push(format!("{names} of the CSR: the profile decided otherwise"));
    }
    if !unknown.is_empty() {
        let names = list(unknown.into_iter().map(AskedExtension::name));
        told.push(format!("{names} of the CSR: left out, not known here"));
    }
    if plan.is_cut() {
        told.push("it ends with the CA certificate, before the profile's lifetime is over".into());
    }
    within_bounds(told)
}

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

fn of_subject(csr: &ParsedCsr) -> Vec<String> {
    let mut changes: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for Corrected { attribute, from, to } in csr.corrected() {
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

fn of_names(
    csr: &ParsedCsr,
    profile: &ProfileDefinition,
    Names { all: names, from_body }: &Names,
) -> Vec<String> {
    let mut told = Vec::new();
    // Requests with thousands of names exist; each of them is looked at once.
    let keys = |names: &[SubjectAltName]| names.iter().map(SubjectAltName::key).collect();
    let given: HashSet<String> = keys(names);
    let asked: HashSet<String> = keys(csr.subject_alt_names());
    let from_body: HashSet<String> = keys(from_body);
    if given.iter().any(|name| !asked.contains(name) && !from_body.contains(name)) {
        told.push("the CN was added as a name (rule addCnAsDnsSan of the profile)".to_owned());
    }
    if !profile.include_sans_from_csr && !asked.is_subset(&given) {
        let rule = "rule includeSansFromCsr of the profile";
        told.push(format!("the names of the CSR were left out ({rule})"));
    }
    if profile.include_sans_from_csr && asked.len() < csr.subject_alt_names().len() {
        told.push("names that stood in the CSR more than once stand there once".to_owned());
    }
    told
}

/// Whether the certificate has the extension as it was asked for.
fn is_met(asked: &AskedExtension, plan: &Plan) -> bool {
    /// Values of basicConstraints that say "no CA", which its absence says too. DER leaves the
    /// default out; not all clients do.
    const NO_CA: [&[u8]; 2] = [&[0x30, 0x00], &[0x30, 0x03, 0x01, 0x01, 0x00]];
    match plan.extension(asked.id) {
        Some(value) => value == asked.value,
        None => asked.name() == "basicConstraints" && NO_CA.contains(&asked.value.as_slice()),
    }
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
