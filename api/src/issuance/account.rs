//! What becomes of each part of a request: what the history tells of an issued certificate and what
//! a preview tells of one that would be both come from here, so they can't differ.

use std::collections::HashSet;

use der::asn1::ObjectIdentifier;

use super::csr_request::ParsedCsr;
use super::end_entity::Plan;
use super::requested_extensions::AskedExtension;
use crate::inventory::profile_definition::ProfileDefinition;
use crate::name::distinguished_name::Attribute;
use crate::name::string_types::Corrected;
use crate::name::{DistinguishedName, SubjectAltName};

/// The names that a certificate gets.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// All of them, each once.
    pub(crate) all: Vec<SubjectAltName>,
    /// What the body of the request asked for.
    pub(crate) from_body: Vec<SubjectAltName>,
}

/// What a request asks for, once it is understood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// `None` of a request with a DN, whose CSR is our own.
    pub(crate) csr: Option<&'a ParsedCsr>,
    /// As the certificate has it.
    pub(crate) subject: &'a DistinguishedName,
    pub(crate) is_reversed: bool,
    /// Whether the body asks for the CN as a name.
    pub(crate) adds_cn: bool,
    pub(crate) names: &'a Names,
    /// The names of the body as they were typed, in the order of [`Names::from_body`].
    pub(crate) typed: &'a [String],
}

/// What became of one part of a request. Whether an extension is critical is the standards' to say,
/// and not told.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome<'a> {
    /// An attribute of the subject: byte for byte, or in another string type.
    Attribute { attribute: &'a Attribute, corrected: Option<&'a Corrected> },
    /// An attribute of the DN in the body, as understood.
    BodyAttribute { attribute: &'a Attribute },
    /// The order of the subject's parts was turned.
    Reversed { subject: &'a DistinguishedName },
    /// A name of the CSR.
    CsrName { name: &'a SubjectAltName, fate: NameFate },
    /// A name of the body, as typed and as understood.
    BodyName { typed: &'a str, name: &'a SubjectAltName, is_repeated: bool },
    /// The CN, added as a name because the body asks for it or the profile does.
    AddedName { name: &'a SubjectAltName, is_asked: bool },
    /// An extension other than the names.
    Extension { asked: &'a AskedExtension, fate: ExtensionFate },
    /// An attribute of the request, not of its subject: certificates have no place for it.
    PassedOver { type_id: ObjectIdentifier },
    /// The end of its life, which is the CA's own.
    Cut,
}

/// What became of a name of the CSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameFate {
    /// The profile takes it.
    Kept,
    /// The profile takes none from the CSR, but the body has it too.
    InBody,
    /// The profile takes none from the CSR, but adds the CN, which says the same.
    Added,
    /// An earlier one says the same.
    Repeated,
    /// The profile takes none from the CSR.
    LeftOut,
}

/// What became of an extension that the CSR asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtensionFate {
    /// The profile gives the very same.
    Kept,
    /// The profile gives it another value.
    Replaced,
    /// The profile does not give it.
    LeftOut,
    /// It is not known here.
    Unknown,
}

/// What `plan` makes of each part of `asked`: subject, names, extensions, attributes, end.
pub(crate) fn outcomes<'a>(
    asked: &Asked<'a>,
    profile: &ProfileDefinition,
    plan: &Plan,
) -> Vec<Outcome<'a>> {
    let mut outcomes = of_subject(asked);
    outcomes.extend(of_names(asked, profile));
    let extensions = asked.csr.map(ParsedCsr::asked_extensions).unwrap_or_default();
    outcomes.extend(extensions.iter().map(|asked| {
        let fate = extension_fate(asked, plan);
        Outcome::Extension { asked, fate }
    }));
    let passed_over = asked.csr.map(ParsedCsr::passed_over).unwrap_or_default().iter();
    outcomes.extend(passed_over.map(|type_id| Outcome::PassedOver { type_id: *type_id }));
    outcomes.extend(plan.is_cut().then_some(Outcome::Cut));
    outcomes
}

/// In the order in which the subject is shown.
fn of_subject<'a>(asked: &Asked<'a>) -> Vec<Outcome<'a>> {
    let attributes: Vec<&Attribute> = asked.subject.attributes().collect();
    let Some(csr) = asked.csr else {
        let of_body = |attribute| Outcome::BodyAttribute { attribute };
        return attributes.into_iter().rev().map(of_body).collect();
    };
    let mut corrected: Vec<&Corrected> = csr.corrected().iter().collect();
    let each = attributes.into_iter().rev().map(|attribute| {
        let is_this =
            |it: &&Corrected| it.type_id == attribute.type_id && it.value == attribute.value;
        let at = corrected.iter().position(is_this);
        Outcome::Attribute { attribute, corrected: at.map(|at| corrected.swap_remove(at)) }
    });
    let mut outcomes: Vec<_> = each.collect();
    if asked.is_reversed {
        outcomes.push(Outcome::Reversed { subject: asked.subject });
    }
    outcomes
}

/// Requests with thousands of names exist; each of them is looked at once.
fn of_names<'a>(asked: &Asked<'a>, profile: &ProfileDefinition) -> Vec<Outcome<'a>> {
    let keys = |names: &[SubjectAltName]| -> HashSet<String> {
        names.iter().map(SubjectAltName::key).collect()
    };
    let Names { all, from_body } = asked.names;
    let (given, of_body) = (keys(all), keys(from_body));
    let mut seen = HashSet::new();
    let mut outcomes = Vec::new();
    let csr_names = asked.csr.map(ParsedCsr::subject_alt_names).unwrap_or_default();
    for name in csr_names {
        let key = name.key();
        let fate = match (profile.include_sans_from_csr, given.contains(&key)) {
            (false, false) => NameFate::LeftOut,
            (false, true) if of_body.contains(&key) => NameFate::InBody,
            (false, true) => NameFate::Added,
            (true, _) if seen.insert(key) => NameFate::Kept,
            (true, _) => NameFate::Repeated,
        };
        outcomes.push(Outcome::CsrName { name, fate });
    }
    for (name, typed) in from_body.iter().zip(asked.typed) {
        let is_repeated = !seen.insert(name.key());
        outcomes.push(Outcome::BodyName { typed, name, is_repeated });
    }
    let of_csr = keys(csr_names);
    let is_known = |name: &SubjectAltName| {
        let key = name.key();
        of_csr.contains(&key) || of_body.contains(&key)
    };
    let added = all.iter().filter(|name| !is_known(name));
    let is_asked = asked.adds_cn;
    outcomes.extend(added.map(|name| Outcome::AddedName { name, is_asked }));
    outcomes
}

fn extension_fate(asked: &AskedExtension, plan: &Plan) -> ExtensionFate {
    /// Values of basicConstraints that say "no CA", which its absence says too. DER leaves the
    /// default out; not all clients do.
    const NO_CA: [&[u8]; 2] = [&[0x30, 0x00], &[0x30, 0x03, 0x01, 0x01, 0x00]];
    match plan.extension(asked.id) {
        Some(value) if value == asked.value => ExtensionFate::Kept,
        Some(_) => ExtensionFate::Replaced,
        None if asked.name() == "basicConstraints" && NO_CA.contains(&asked.value.as_slice()) => {
            ExtensionFate::Kept
        }
        None if asked.is_decided() => ExtensionFate::LeftOut,
        None => ExtensionFate::Unknown,
    }
}
