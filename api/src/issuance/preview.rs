//! The certificate that a request would get, and why it would be so: the steps of
//! [`super::issue::issue`] up to the draft, and none after it. Nothing leaves this process.

use chancery_shared::bytes::Fixed;
use chancery_shared::certificate::assemble;
use der::asn1::ObjectIdentifier;

use super::account::{ExtensionFate, NameFate, Outcome};
use super::asking::Circumstances;
use super::csr_issuance::CsrIssuance;
use super::departures::{CUT, departures};
use super::dn_issuance::DnIssuance;
use super::dn_request;
use super::end_entity::{Plan, Subject};
use super::issue::{account, circumstances, plan, understand};
use super::issue_error::IssueError;
use super::new_record::{created, row};
use super::requested_extensions::AskedExtension;
use super::signing::SigningError;
use super::tbs::DraftError;
use crate::name::SubjectAltName;
use crate::store::certificate::{Certificate, HistoryEntry};

/// What would be.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Its row, with a serial number and a DER that only stand for the later ones.
    pub certificate: Certificate,
    /// What its history would begin with.
    pub history: HistoryEntry,
    /// What would become of each part of the request.
    pub account: Vec<Told>,
}

/// What would become of one part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which part.
    pub part: Part,
    /// What was asked for; `None` for what nobody asked for.
    pub requested: Option<String>,
    /// Whether the certificate has it.
    pub ending: Ending,
    /// What the certificate has instead, or because of a rule.
    pub becomes: Option<String>,
    /// By which rule: a field of the profile or of the request, or a name of `docs/HTTP.md`.
    pub rule: &'static str,
    /// The same in one sentence.
    pub sentence: &'static str,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An attribute of the subject, or its order.
    Subject,
    /// A subject alternative name.
    AlternativeName,
    /// An extension.
    Extension,
    /// An attribute of the request beside the extensions, such as a challenge password.
    Attribute,
    /// The end of its life.
    Validity,
}

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it was asked for.
    Kept,
    /// In another form, or with another value.
    Changed,
    /// Not at all.
    Dropped,
    /// Though nobody asked for it.
    Added,
}

/// Previews the certificate of a request.
///
/// # Errors
///
/// The very refusals of [`super::issue::issue`], as far as they are this service's; what the signer
/// or the CA's key would say is not asked.
pub fn preview(issuance: &CsrIssuance<'_>) -> Result<Preview, IssueError> {
    let request = understand(issuance)?;
    let plan = plan(issuance, &request)?;
    let outcomes = account(issuance, &request, &plan);
    let preview = of(&circumstances(issuance), &plan, &request.subject(), &outcomes)?;
    // Of a request that is made the signer says it, after the draft.
    request.verify_possession().map_err(IssueError::Csr)?;
    Ok(preview)
}

/// Previews the certificate of a request with a DN. No key is made: one of the same kind that fits
/// nothing stands in for it.
///
/// # Errors
///
/// As [`preview`].
pub fn preview_for_dn(issuance: &DnIssuance<'_>) -> Result<Preview, IssueError> {
    let request = dn_request::understand(issuance)?;
    let stand_in = dn_request::stand_in(issuance.generator.key)
        .map_err(|no| IssueError::Signing(SigningError::Draft(DraftError::NotDer(no))))?;
    let subject = request.subject(&stand_in);
    let plan = dn_request::plan(issuance, &subject)?;
    let outcomes = dn_request::account(issuance, &request, &plan);
    of(&dn_request::circumstances(issuance), &plan, &subject, &outcomes)
}

fn of(
    circumstances: &Circumstances<'_>,
    plan: &Plan,
    subject: &Subject<'_>,
    outcomes: &[Outcome<'_>],
) -> Result<Preview, IssueError> {
    let context = circumstances.context(departures(outcomes));
    context.to_wire().map_err(IssueError::Context)?;
    let drafted = |no: DraftError| IssueError::Signing(SigningError::Draft(no));
    let draft = plan.draft(&circumstances.issuer.ca, subject, Fixed([0; 40])).map_err(drafted)?;
    let der = assemble(&draft.tbs, &[]).map_err(|no| drafted(DraftError::NotDer(no)))?;
    Ok(Preview {
        certificate: row(&context, der, None).map_err(IssueError::NotACertificate)?,
        history: created(&context),
        account: outcomes.iter().map(told).collect(),
    })
}

fn told(outcome: &Outcome<'_>) -> Told {
    match *outcome {
        Outcome::Attribute { attribute, corrected } => {
            let requested = Some(attribute.to_string());
            let part = Part::Subject;
            match corrected {
                None => Told {
                    part,
                    requested,
                    ending: Ending::Kept,
                    becomes: None,
                    rule: "subject",
                    sentence: "the subject of the CSR goes into the certificate byte for byte",
                },
                Some(corrected) => Told {
                    part,
                    requested: Some(format!("{attribute} ({})", corrected.from)),
                    ending: Ending::Changed,
                    becomes: Some(format!("{attribute} ({})", corrected.to)),
                    rule: "stringTypes",
                    sentence: "its string type is not one that this attribute may have; its text \
                               stays",
                },
            }
        }
        Outcome::BodyAttribute { attribute } => Told {
            part: Part::Subject,
            requested: Some(attribute.to_string()),
            ending: Ending::Kept,
            becomes: None,
            rule: "dn",
            sentence: "the body of the request asks for it",
        },
        Outcome::Reversed { subject } => Told {
            part: Part::Subject,
            requested: subject.reversed().ok().map(|before| before.to_string()),
            ending: Ending::Changed,
            becomes: Some(subject.to_string()),
            rule: "reverseCsrDn",
            sentence: "the request asks for the other order",
        },
        Outcome::CsrName { name, fate } => csr_name(name, fate),
        Outcome::BodyName { typed, name, is_repeated } => body_name(typed, name, is_repeated),
        Outcome::AddedName { name, is_asked } => Told {
            part: Part::AlternativeName,
            requested: None,
            ending: Ending::Added,
            becomes: Some(name.to_string()),
            rule: "addCnAsDnsSan",
            sentence: if is_asked {
                "the request adds the CN as a name"
            } else {
                "the profile adds the CN as a name"
            },
        },
        Outcome::Extension { asked, fate } => extension(asked, fate),
        Outcome::PassedOver { type_id } => Told {
            part: Part::Attribute,
            requested: Some(attribute(type_id)),
            ending: Ending::Dropped,
            becomes: None,
            rule: "attributes",
            sentence: "certificates have no place for it; of the attributes only the requested \
                       extensions are read",
        },
        Outcome::Cut => Told {
            part: Part::Validity,
            requested: None,
            ending: Ending::Changed,
            becomes: None,
            rule: "caCertificate",
            sentence: CUT,
        },
    }
}

const REPEATED: &str = "it stands in the request more than once, and in the certificate once";

fn csr_name(name: &SubjectAltName, fate: NameFate) -> Told {
    let (ending, rule, sentence) = match fate {
        NameFate::Kept => {
            (Ending::Kept, "includeSansFromCsr", "the profile takes the names of the CSR")
        }
        NameFate::InBody => {
            (Ending::Kept, "subjectAltNames", "the body of the request asks for it too")
        }
        NameFate::Added => (Ending::Kept, "addCnAsDnsSan", "the profile adds the CN as a name"),
        NameFate::Repeated => (Ending::Dropped, "duplicates", REPEATED),
        NameFate::LeftOut => {
            (Ending::Dropped, "includeSansFromCsr", "the profile takes no names from the CSR")
        }
    };
    let requested = Some(name.to_string());
    Told { part: Part::AlternativeName, requested, ending, becomes: None, rule, sentence }
}

fn body_name(typed: &str, name: &SubjectAltName, is_repeated: bool) -> Told {
    let shown = name.to_string();
    let value =
        |text: &str| text.split_once(':').map(|(_, value)| value.trim_matches(' ').to_owned());
    let is_same = value(typed) == value(&shown);
    let (ending, rule, sentence) = match (is_repeated, is_same) {
        (true, _) => (Ending::Dropped, "duplicates", REPEATED),
        (false, true) => (Ending::Kept, "subjectAltNames", "the body of the request asks for it"),
        (false, false) => {
            (Ending::Changed, "subjectAltNames", "it is written as certificates have such names")
        }
    };
    let becomes = (ending == Ending::Changed).then_some(shown);
    let requested = Some(typed.to_owned());
    Told { part: Part::AlternativeName, requested, ending, becomes, rule, sentence }
}

fn extension(asked: &AskedExtension, fate: ExtensionFate) -> Told {
    let (ending, sentence) = match fate {
        ExtensionFate::Kept => (Ending::Kept, "the profile says the very same"),
        ExtensionFate::Replaced => (Ending::Changed, "the profile gives it another value"),
        ExtensionFate::LeftOut => (Ending::Dropped, "the profile does not give it"),
        ExtensionFate::Unknown => (Ending::Dropped, "it is not known here, and not critical"),
    };
    let name = asked.name();
    let rule = match (fate, name.as_str()) {
        (ExtensionFate::Unknown, _) => "unknownExtension",
        (_, "keyUsage") => "keyUsages",
        (_, "extKeyUsage") => "enhancedKeyUsages",
        (_, "certificatePolicies") => "policies",
        (_, "ocsp-nocheck") => "ocspNoCheck",
        _ if asked.is_decided() => "profile",
        _ => "customExtensions",
    };
    Told { part: Part::Extension, requested: Some(name), ending, becomes: None, rule, sentence }
}

/// By the name that people know, where there is one.
fn attribute(type_id: ObjectIdentifier) -> String {
    const NAMES: [(&str, &str); 5] = [
        ("1.2.840.113549.1.9.2", "unstructuredName"),
        ("1.2.840.113549.1.9.7", "challengePassword"),
        ("1.2.840.113549.1.9.20", "friendlyName"),
        ("1.3.6.1.4.1.311.13.2.3", "Microsoft's version of the system"),
        ("1.3.6.1.4.1.311.21.20", "Microsoft's request client information"),
    ];
    let dotted = type_id.to_string();
    let named = NAMES.iter().find(|(oid, _)| *oid == dotted);
    named.map_or(dotted, |(_, name)| (*name).to_owned())
}
