//! The extensions that a request asks for: names are taken, all else is the profile's to decide.

use der::asn1::{ObjectIdentifier, OctetStringRef};
use der::{Decode as _, Reader as _, SliceReader, Tag};

use crate::asn1::{self, Tlv};
use crate::echo::cut;
use crate::name::SubjectAltName;
use crate::name::general_name::GeneralNameProblem;
use crate::name::subject_alt_name::SubjectAltNameProblem;

/// What a request's attributes ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedExtensions {
    /// The names of its subjectAltName, in order.
    pub subject_alt_names: Vec<SubjectAltName>,
    /// All the others, in order. None of them is followed.
    pub others: Vec<AskedExtension>,
    /// Types of the attributes that ask for no extensions, in order. They are passed over.
    pub passed_over: Vec<ObjectIdentifier>,
}

/// An extension that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedExtension {
    /// Its type.
    pub id: ObjectIdentifier,
    /// DER of its value.
    pub value: Vec<u8>,
}

impl AskedExtension {
    /// Whether it is for the profile to decide.
    pub fn is_decided(&self) -> bool {
        decided_by_profile(self.id).is_some()
    }

    /// Its name in the standards, where a profile decides on it; else its object identifier.
    pub fn name(&self) -> String {
        decided_by_profile(self.id).map_or_else(|| self.id.to_string(), str::to_owned)
    }
}

/// Why a request's attributes can't be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestedExtensionsError {
    /// Not DER.
    #[error(
        "the attributes of the request are not well-formed DER ({0}); make the request anew with \
         a tool that writes DER"
    )]
    NotDer(der::Error),
    /// An extensionRequest attribute with no value or several (it is SINGLE VALUE TRUE).
    #[error("an extensionRequest attribute must hold exactly one list of extensions")]
    NotOneValue,
    /// One extension twice, or two extensionRequest attributes.
    #[error("the request asks for the extension {0} more than once")]
    Twice(ObjectIdentifier),
    /// Two attributes of a type that may come once.
    #[error("the request has two extensionRequest attributes; one is allowed")]
    TwoRequests,
    /// A critical extension that is not known here.
    #[error(
        "the request asks for the critical extension {0}, which is not known here; it would have \
         to be left out, so ask without it or not critical"
    )]
    UnknownCritical(ObjectIdentifier),
    /// A subjectAltName that can't be read.
    #[error("the subjectAltName of the request can't be read: {0}")]
    SubjectAltName(GeneralNameProblem),
    /// A name that may not stand in a certificate.
    #[error("the name {:?} of the request is not accepted: {problem}", cut(name))]
    Name {
        /// As the record would show it.
        name: String,
        /// What is wrong.
        problem: SubjectAltNameProblem,
    },
}

impl From<der::Error> for RequestedExtensionsError {
    fn from(error: der::Error) -> Self {
        Self::NotDer(error)
    }
}

/// extensionRequest (RFC 2985, section 5.4.2), and Microsoft's of the same syntax.
const EXTENSION_REQUESTS: [ObjectIdentifier; 2] = [
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.14"),
    ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.2.1.14"),
];

const SUBJECT_ALT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");

/// Extensions that the profile and the CA decide, whatever the request says of them.
const DECIDED_BY_PROFILE: [(&str, &str); 19] = [
    ("2.5.29.14", "subjectKeyIdentifier"),
    ("2.5.29.15", "keyUsage"),
    ("2.5.29.18", "issuerAltName"),
    ("2.5.29.19", "basicConstraints"),
    ("2.5.29.30", "nameConstraints"),
    ("2.5.29.31", "cRLDistributionPoints"),
    ("2.5.29.32", "certificatePolicies"),
    ("2.5.29.33", "policyMappings"),
    ("2.5.29.35", "authorityKeyIdentifier"),
    ("2.5.29.36", "policyConstraints"),
    ("2.5.29.37", "extKeyUsage"),
    ("2.5.29.46", "freshestCRL"),
    ("2.5.29.54", "inhibitAnyPolicy"),
    ("1.3.6.1.5.5.7.1.1", "authorityInfoAccess"),
    ("1.3.6.1.5.5.7.1.24", "tlsfeature"),
    ("1.3.6.1.5.5.7.48.1.5", "ocsp-nocheck"),
    ("1.3.6.1.4.1.311.20.2", "Microsoft's template name"),
    ("1.3.6.1.4.1.311.21.7", "Microsoft's template information"),
    ("1.3.6.1.4.1.311.21.10", "Microsoft's application policies"),
];

impl RequestedExtensions {
    /// Reads the content of the request's attributes. Attributes of other types (challenge
    /// passwords, friendly names, versions of systems) are passed over.
    ///
    /// An explicit `critical FALSE` is let pass, though DER has no place for a DEFAULT: it is
    /// common, and it stays out of the certificate.
    ///
    /// # Errors
    ///
    /// What can't be read, and what is asked for as critical and would be missing.
    pub fn read(attributes: &[u8]) -> Result<Self, RequestedExtensionsError> {
        let mut asked = Self::default();
        let mut request_types = Vec::new();
        let mut extension_ids = Vec::new();
        for attribute in asn1::read_all(attributes)? {
            let mut reader = SliceReader::new(attribute.expect(Tag::Sequence)?.content)?;
            let type_id = ObjectIdentifier::decode(&mut reader)?;
            let values = Tlv::next(&mut reader)?.expect(Tag::Set)?;
            reader.finish()?;
            if !EXTENSION_REQUESTS.contains(&type_id) {
                asked.passed_over.push(type_id);
                continue;
            }
            if request_types.contains(&type_id) {
                return Err(RequestedExtensionsError::TwoRequests);
            }
            request_types.push(type_id);
            let values = values.children()?;
            let [list] = values.as_slice() else {
                return Err(RequestedExtensionsError::NotOneValue);
            };
            for extension in list.expect(Tag::Sequence)?.children()? {
                let id = asked.take(&extension)?;
                if extension_ids.contains(&id) {
                    return Err(RequestedExtensionsError::Twice(id));
                }
                extension_ids.push(id);
            }
        }
        Ok(asked)
    }

    fn take(&mut self, extension: &Tlv<'_>) -> Result<ObjectIdentifier, RequestedExtensionsError> {
        let mut reader = SliceReader::new(extension.expect(Tag::Sequence)?.content)?;
        let id = ObjectIdentifier::decode(&mut reader)?;
        let critical = match Tag::peek(&reader)? {
            Tag::Boolean => bool::decode(&mut reader)?,
            _ => false,
        };
        let value = <&OctetStringRef>::decode(&mut reader)?.as_bytes();
        reader.finish()?;
        if id == SUBJECT_ALT_NAME {
            self.subject_alt_names = names(value)?;
            return Ok(id);
        }
        if critical && decided_by_profile(id).is_none() {
            return Err(RequestedExtensionsError::UnknownCritical(id));
        }
        self.others.push(AskedExtension { id, value: value.to_vec() });
        Ok(id)
    }
}

fn decided_by_profile(id: ObjectIdentifier) -> Option<&'static str> {
    let dotted = id.to_string();
    DECIDED_BY_PROFILE.iter().find(|(known, _)| *known == dotted).map(|(_, name)| *name)
}

fn names(value: &[u8]) -> Result<Vec<SubjectAltName>, RequestedExtensionsError> {
    let names =
        SubjectAltName::read_all(value).map_err(RequestedExtensionsError::SubjectAltName)?;
    for name in &names {
        name.check().map_err(|problem| RequestedExtensionsError::Name {
            name: name.to_string(),
            problem,
        })?;
    }
    Ok(names)
}
