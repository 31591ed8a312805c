//! Every extension is known and read to its end, or named by policy.

use chancery_shared::wire::policy::Policy;
use const_oid::db::rfc5280::{
    ANY_POLICY, ID_AD_CA_ISSUERS, ID_AD_OCSP, ID_CE_AUTHORITY_KEY_IDENTIFIER,
    ID_CE_BASIC_CONSTRAINTS, ID_CE_CERTIFICATE_POLICIES, ID_CE_CRL_DISTRIBUTION_POINTS,
    ID_CE_EXT_KEY_USAGE, ID_CE_INHIBIT_ANY_POLICY, ID_CE_KEY_USAGE, ID_CE_NAME_CONSTRAINTS,
    ID_CE_POLICY_CONSTRAINTS, ID_CE_POLICY_MAPPINGS, ID_CE_SUBJECT_ALT_NAME,
    ID_CE_SUBJECT_KEY_IDENTIFIER, ID_PE_AUTHORITY_INFO_ACCESS, ID_QT_CPS, ID_QT_UNOTICE,
};
use der::asn1::{Any, AnyRef, Ia5StringRef, ObjectIdentifier, Utf8StringRef};
use der::{Decode as _, Tag, Tagged as _};
use x509_cert::ext::pkix::certpolicy::PolicyQualifierInfo;
use x509_cert::ext::pkix::crl::dp::DistributionPoint;
use x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use x509_cert::ext::pkix::{
    AuthorityInfoAccessSyntax, CertificatePolicies, CrlDistributionPoints, PolicyConstraints,
    PolicyMapping, PolicyMappings,
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
    match extension.oid {
        ID_CE_NAME_CONSTRAINTS => NameConstraints::check_form(extension.value),
        ID_CE_POLICY_CONSTRAINTS => {
            let constraints: PolicyConstraints = extension.read()?;
            let is_empty = constraints.require_explicit_policy.is_none()
                && constraints.inhibit_policy_mapping.is_none();
            if is_empty { Err(PolicyViolation::PolicyConstraints) } else { Ok(()) }
        }
        ID_CE_POLICY_MAPPINGS => policy_mappings(extension),
        _ => extension.read::<u32>().map(drop),
    }
}

fn policy_mappings(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let PolicyMappings(mappings) = extension.read()?;
    let is_of_any = |mapping: &PolicyMapping| {
        [mapping.issuer_domain_policy, mapping.subject_domain_policy].contains(&ANY_POLICY)
    };
    if mappings.is_empty() || mappings.iter().any(is_of_any) {
        return Err(PolicyViolation::PolicyMappings);
    }
    Ok(())
}

/// RFC 5280, section 4.2.1.4: qualifiers are a CPS pointer or a notice.
fn policies(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let CertificatePolicies(policies) = extension.read()?;
    if policies.is_empty() {
        return Err(PolicyViolation::PoliciesEmpty);
    }
    let qualifiers = policies.iter().filter_map(|policy| policy.policy_qualifiers.as_ref());
    for list in qualifiers {
        if list.is_empty() {
            return Err(PolicyViolation::PolicyQualifier);
        }
        for PolicyQualifierInfo { policy_qualifier_id, qualifier } in list {
            let has = |is_sound: fn(&Any) -> bool| qualifier.as_ref().is_some_and(is_sound);
            match *policy_qualifier_id {
                ID_QT_CPS if has(is_cps_uri) => {}
                ID_QT_CPS => return Err(PolicyViolation::CpsUri),
                ID_QT_UNOTICE if has(is_notice) => {}
                ID_QT_UNOTICE => return Err(PolicyViolation::UserNotice),
                _ => return Err(PolicyViolation::PolicyQualifier),
            }
        }
    }
    Ok(())
}

fn is_cps_uri(value: &Any) -> bool {
    Ia5StringRef::try_from(value).is_ok_and(|text| Uri::read(text.as_str()).is_ok())
}

/// UserNotice with explicitText alone, of 1 to 200 characters; noticeRef is not for new
/// certificates, nor are VisibleString and BMPString.
fn is_notice(value: &Any) -> bool {
    let text = AnyRef::from(value).sequence(AnyRef::decode);
    text.is_ok_and(|text| {
        let text = match text.tag() {
            Tag::Utf8String => Utf8StringRef::try_from(text).map(|text| text.as_str()),
            _ => Ia5StringRef::try_from(text).map(|text| text.as_str()),
        };
        let text = text.unwrap_or_default();
        (1..=200).contains(&text.chars().count()) && !text.chars().any(char::is_control)
    })
}

/// RFC 5280, section 4.2.1.13, as far as this signer's CAs publish CRLs: whole ones, their own,
/// under URIs.
fn distribution_points(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let CrlDistributionPoints(points) = extension.read()?;
    let bad = || PolicyViolation::DistributionPoint;
    if points.is_empty() {
        return Err(bad());
    }
    for point in &points {
        let DistributionPoint {
            distribution_point: Some(DistributionPointName::FullName(names)),
            reasons: None,
            crl_issuer: None,
        } = point
        else {
            return Err(bad());
        };
        if names.is_empty() {
            return Err(bad());
        }
        for name in names {
            let location = location(name).ok_or_else(bad)?;
            // One attribute; an access location may have several (section 4.2.2.1).
            if ldap_attributes(location)?.is_some_and(|attributes| attributes.contains(',')) {
                return Err(PolicyViolation::LdapLocation(location.to_owned()));
            }
        }
    }
    Ok(())
}

fn information_access(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let AuthorityInfoAccessSyntax(accesses) = extension.read()?;
    let bad = || PolicyViolation::InformationAccess;
    if accesses.is_empty() {
        return Err(bad());
    }
    for access in &accesses {
        if ![ID_AD_CA_ISSUERS, ID_AD_OCSP].contains(&access.access_method) {
            return Err(bad());
        }
        ldap_attributes(location(&access.access_location).ok_or_else(bad)?)?;
    }
    Ok(())
}

/// A URI that clients fetch from.
fn location(name: &GeneralName) -> Option<&str> {
    let GeneralName::UniformResourceIdentifier(text) = name else { return None };
    let uri = Uri::read(text.as_str()).ok()?;
    let is_fetched = ["http", "https"].contains(&uri.scheme().to_ascii_lowercase().as_str());
    (is_fetched || is_ldap(&uri)).then_some(text.as_str())
}

fn is_ldap(uri: &Uri) -> bool {
    ["ldap", "ldaps"].contains(&uri.scheme().to_ascii_lowercase().as_str())
}

/// The attributes that an LDAP URI names; it has a distinguished name, too (RFC 5280, section
/// 4.2.1.13; RFC 4516, section 2). `None` of any other URI.
fn ldap_attributes(location: &str) -> Result<Option<&str>, PolicyViolation> {
    if !is_ldap(&Uri::read(location)?) {
        return Ok(None);
    }
    let rest = location.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    let mut parts = path.split('?');
    let (name, attributes) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    if name.is_empty() || attributes.is_empty() {
        return Err(PolicyViolation::LdapLocation(location.to_owned()));
    }
    Ok(Some(attributes))
}

fn tls_feature(extension: &Extension<'_>) -> Result<(), PolicyViolation> {
    let features: Vec<u16> = extension.read()?;
    if features.is_empty() { Err(PolicyViolation::TlsFeature) } else { Ok(()) }
}
