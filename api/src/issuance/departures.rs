//! Where a certificate is not what its request asked for: nothing is changed, added or left out
//! without a word in the history.

use super::csr_request::ParsedCsr;
use super::end_entity::Plan;
use super::requested_extensions::AskedExtension;
use crate::inventory::profile_definition::ProfileDefinition;
use crate::name::SubjectAltName;

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
    let corrected = csr.corrected().iter().map(|corrected| {
        let (attribute, from, to) = (&corrected.attribute, corrected.from, corrected.to);
        format!("{attribute} was put right from {from} to {to}")
    });
    let mut told: Vec<String> = corrected.collect();
    told.extend(of_names(csr, profile, names));
    let unmet = || csr.asked_extensions().iter().filter(|asked| !is_met(asked, plan));
    let (decided, unknown): (Vec<_>, Vec<_>) = unmet().partition(|asked| asked.is_decided());
    if !decided.is_empty() {
        told.push(format!("{} of the CSR: the profile decided otherwise", list(&decided)));
    }
    if !unknown.is_empty() {
        told.push(format!("{} of the CSR: left out, not known here", list(&unknown)));
    }
    if plan.is_cut() {
        told.push("it ends with the CA certificate, before the profile's lifetime is over".into());
    }
    told
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

/// Their names; the history is no place for a hundred of them.
fn list(extensions: &[&AskedExtension]) -> String {
    const MOST: usize = 12;
    let names: Vec<_> = extensions.iter().take(MOST).map(|asked| asked.name()).collect();
    let more = extensions.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}
