//! A distinguished name (RFC 5280, section 4.1.2.4), each attribute held to its type.

use std::fmt;

use der::Decode as _;
use der::asn1::ObjectIdentifier;
use x509_cert::name::RdnSequence;

use super::attribute;
use crate::policy::strict;
use crate::policy::violation::PolicyViolation;

/// RDNs in their order, each a set of attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct DistinguishedName(Vec<Vec<Attribute>>);

/// One attribute, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attribute {
    oid: ObjectIdentifier,
    text: String,
}

impl DistinguishedName {
    /// Reads the DER of a Name.
    pub(in crate::policy) fn read(der: &[u8]) -> Result<Self, PolicyViolation> {
        Self::from_rdns(&RdnSequence::from_der(der).map_err(|_| PolicyViolation::NameMalformed)?)
    }

    /// Checks a Name that was read as part of something else.
    pub(super) fn from_rdns(name: &RdnSequence) -> Result<Self, PolicyViolation> {
        let mut rdns = Vec::with_capacity(name.len());
        for rdn in name.as_ref() {
            // X.501, section 9.3: the attributes of an RDN differ in type.
            if let Some(oid) = strict::first_repeated(rdn.iter().map(|attribute| attribute.oid)) {
                return Err(PolicyViolation::DuplicateAttribute(oid));
            }
            let attributes = rdn
                .iter()
                .map(|attribute| {
                    let oid = attribute.oid;
                    Ok(Attribute { oid, text: attribute::text(oid, &attribute.value)? })
                })
                .collect::<Result<Vec<_>, _>>()?;
            if attributes.is_empty() {
                return Err(PolicyViolation::EmptyRdn);
            }
            rdns.push(attributes);
        }
        Ok(Self(rdns))
    }

    /// Whether there is no RDN.
    pub(in crate::policy) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values of one type, wherever they stand.
    pub(super) fn values(&self, oid: ObjectIdentifier) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().filter(move |a| a.oid == oid).map(|a| a.text.as_str())
    }

    /// Whether `self` begins with all RDNs of `base`, compared as RFC 5280, section 7.1, has it:
    /// without regard to case, to string types, and to how much white space there is.
    pub(in crate::policy) fn is_within(&self, base: &Self) -> bool {
        self.0.len() >= base.0.len()
            && self.0.iter().zip(&base.0).all(|(rdn, base)| {
                rdn.len() == base.len()
                    && base.iter().all(|expected| rdn.iter().any(|found| found.matches(expected)))
            })
    }
}

impl Attribute {
    fn matches(&self, other: &Self) -> bool {
        self.oid == other.oid && folded(&self.text) == folded(&other.text)
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

impl fmt::Display for DistinguishedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, attribute) in self.0.iter().flatten().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{}={}", attribute.oid, attribute.text)?;
        }
        Ok(())
    }
}
