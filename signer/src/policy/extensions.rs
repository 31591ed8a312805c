//! Every extension is known and read to its end, or named by policy.

use chancery_shared::wire::policy::Policy;
use const_oid::db::rfc5280::{
    ID_AD_CA_ISSUERS, ID_AD_OCSP, ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_BASIC_CONSTRAINTS,
    ID_CE_CERTIFICATE_POLICIES, ID_CE_CRL_DISTRIBUTION_POINTS, ID_CE_EXT_KEY_USAGE,
    ID_CE_INHIBIT_ANY_POLICY, ID_CE_KEY_USAGE, ID_CE_NAME_CONSTRAINTS, ID_CE_POLICY_CONSTRAINTS,
    ID_CE_POLICY_MAPPINGS, ID_CE_SUBJECT_ALT_NAME, ID_CE_SUBJECT_KEY_IDENTIFIER,
    ID_PE_AUTHORITY_INFO_ACCESS, ID_QT_CPS, ID_QT_UNOTICE,
};
use der::asn1::{Any, AnyRef, Ia5StringRef, ObjectIdentifier};
use der::{Decode as _, Tag, Tagged as _};
use x509_cert::ext::pkix::crl::dp::DistributionPoint;
use x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use x509_cert::ext::pkix::{
    AuthorityInfoAccessSyntax, CertificatePolicies, CrlDistributionPoints, PolicyConstraints,
    PolicyMappings,
};

use super::name_constraints::NameConstraints;
use super::names::uri::Uri;
use super::tbs::{Extension, Tbs};
use super::violation::PolicyViolation;

/// TLS feature (RFC 7633).
pub(super) const TLS_FEATURE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.24");

/// Who is certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    EndEntity,
    Ca,
}

/// Checks every extension that no other rule has read.
pub(super) fn check(
    tbs: &Tbs<'_>,
    policy: &Policy,
    subject: Subject,
) -> Result<(), PolicyViolation> {
    for extension in &tbs.extensions {
        match extension.oid {
            // Read, to their end, by the rules on usages, key identifiers and names.
            ID_CE_AUTHORITY_KEY_IDENTIFIER
            | ID_CE_BASIC_CONSTRAINTS
            | ID_CE_EXT_KEY_USAGE
            | ID_CE_KEY_USAGE
            | ID_CE_SUBJECT_ALT_NAME
            | ID_CE_SUBJECT_KEY_IDENTIFIER => {}
            ID_CE_CERTIFICATE_POLICIES => policies(extension)?,
            ID_CE_CRL_DISTRIBUTION_POINTS => distribution_points(extension)?,
            ID_PE_AUTHORITY_INFO_ACCESS => information_access(extension)?,
            TLS_FEATURE => tls_feature(extension)?,
            ID_CE_INHIBIT_ANY_POLICY
            | ID_CE_NAME_CONSTRAINTS
            | ID_CE_POLICY_CONSTRAINTS
            | ID_CE_POLICY_MAPPINGS => of_ca(extension, subject)?,
            other if policy.other_extensions.contains(&other.to_string()) => {}
            other => return Err(PolicyViolation::ExtensionUnknown(other)),
        }
    }
    Ok(())
}

fn of_ca(extension: &Extension<'_>, subject: Subject) -> Result<(), PolicyViolation> {
    if subject == Subject::EndEntity {
        return Err(PolicyViolation::ExtensionOfCas(extension.oid));
    }
    let has_content = match extension.oid {
        ID_CE_NAME_CONSTRAINTS => return NameConstraints::check_form(extension.value),
        ID_CE_POLICY_CONSTRAINTS => {
            let constraints: PolicyConstraints = extension.read()?;
            constraints.require_explicit_policy.is_some()
                || constraints.inhibit_policy_mapping.is_some()
        }
        ID_CE_POLICY_MAPPINGS => !extension.read::<PolicyMappings>()?.0.is_empty(),
        _ => extension.read::<u32>().is_ok(),
    };
    content(extension, has_content)
}

/// RFC 5280, section 4.2.1.4: qualifiers are a CPS pointer or a notice.
fn policies(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let CertificatePolicies(policies) = extension.read()?;
    let qualifiers_are_sound = policies.iter().all(|policy| {
        policy.policy_qualifiers.as_ref().is_none_or(|qualifiers| {
            !qualifiers.is_empty()
                && qualifiers.iter().all(|info| match info.policy_qualifier_id {
                    ID_QT_CPS => info.qualifier.as_ref().is_some_and(is_cps_uri),
                    ID_QT_UNOTICE => info.qualifier.as_ref().is_some_and(is_notice),
                    _ => false,
                })
        })
    });
    content(extension, !policies.is_empty() && qualifiers_are_sound)
}

fn is_cps_uri(value: &Any) -> bool {
    Ia5StringRef::try_from(value).is_ok_and(|text| Uri::read(text.as_str()).is_ok())
}

/// UserNotice with explicitText alone, of 1 to 200 characters; noticeRef is not for new
/// certificates, nor are VisibleString and BMPString.
fn is_notice(value: &Any) -> bool {
    let text = AnyRef::from(value).sequence(AnyRef::decode);
    text.is_ok_and(|text| {
        let is_allowed = matches!(text.tag(), Tag::Utf8String | Tag::Ia5String);
        let text = std::str::from_utf8(text.value()).unwrap_or_default();
        is_allowed
            && (1..=200).contains(&text.chars().count())
            && !text.chars().any(char::is_control)
    })
}

/// RFC 5280, section 4.2.1.13, as far as this signer's CAs publish CRLs: whole ones, their own,
/// under URIs.
fn distribution_points(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let CrlDistributionPoints(points) = extension.read()?;
    let are_sound = points.iter().all(|point| match point {
        DistributionPoint {
            distribution_point: Some(DistributionPointName::FullName(names)),
            reasons: None,
            crl_issuer: None,
        } => !names.is_empty() && names.iter().all(is_location),
        _ => false,
    });
    content(extension, !points.is_empty() && are_sound)
}

fn information_access(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let AuthorityInfoAccessSyntax(accesses) = extension.read()?;
    let are_sound = accesses.iter().all(|access| {
        [ID_AD_CA_ISSUERS, ID_AD_OCSP].contains(&access.access_method)
            && is_location(&access.access_location)
    });
    content(extension, !accesses.is_empty() && are_sound)
}

/// A URI that clients fetch from.
fn is_location(name: &GeneralName) -> bool {
    let GeneralName::UniformResourceIdentifier(text) = name else { return false };
    let schemes = ["http", "https", "ldap", "ldaps"];
    Uri::read(text.as_str())
        .is_ok_and(|uri| schemes.iter().any(|scheme| uri.scheme().eq_ignore_ascii_case(scheme)))
}

fn tls_feature(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let features: Vec<u16> = extension.read()?;
    content(extension, !features.is_empty())
}

fn content(extension: &Extension<'_>, is_sound: bool) -> Result<(), PolicyViolation> {
    if is_sound { Ok(()) } else { Err(PolicyViolation::ExtensionContent(extension.oid)) }
}
