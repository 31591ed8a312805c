//! Where a certificate is not what its request asked for: nothing is changed, added or left out
//! without a word in the history.

use super::csr_request::ParsedCsr;
use super::end_entity::Plan;
use super::requested_extensions::AskedExtension;
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
    told
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
    let asked = csr.subject_alt_names();
    if names.iter().any(|name| !asked.contains(name) && !from_body.contains(name)) {
        told.push("the CN was added as a name (rule addCnAsDnsSan of the profile)".to_owned());
    }
    if !profile.include_sans_from_csr && asked.iter().any(|name| !names.contains(name)) {
        let rule = "rule includeSansFromCsr of the profile";
        told.push(format!("the names of the CSR were left out ({rule})"));
    }
    let is_repeated = asked.iter().enumerate().any(|(i, name)| {
        !names.contains(name) || asked.iter().take(i).any(|earlier| earlier == name)
    });
    if profile.include_sans_from_csr && is_repeated {
        told.push("names that stood in the CSR more than once stand there once".to_owned());
    }
    told
}

/// Whether the certificate has the extension as it was asked for.
fn is_met(asked: &AskedExtension, plan: &Plan) -> bool {
    /// The content of a basicConstraints that says "no CA", which its absence says too.
    const NO_CA: [u8; 2] = [0x30, 0x00];
    match plan.extension(asked.id) {
        Some(value) => value == asked.value,
        None => asked.name() == "basicConstraints" && asked.value == NO_CA,
    }
}

/// Some names; the history is no place for a hundred of them, nor has the journal room for them.
fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    const MOST: usize = 12;
    let more = names.len().saturating_sub(MOST);
    let first: Vec<_> = names.take(MOST).collect();
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
}
