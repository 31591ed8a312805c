//! Extended key usages by the names that people see; one without a name by its object identifier.

use std::fmt;
use std::str::FromStr;

use der::asn1::ObjectIdentifier;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::key_usage::{KeyUsage, fold};
use crate::echo::cut;

/// A KeyPurposeId (RFC 5280, section 4.2.1.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExtendedKeyUsage(pub ObjectIdentifier);

/// The text names no extended key usage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{:?} is no extended key usage; write a name such as Server Authentication, or an OID", cut(.0))]
pub struct NotAnExtendedKeyUsage(String);

/// Object identifier, name that people see, name of the standard.
const NAMES: [(&str, &str, &str); 16] = [
    ("1.3.6.1.5.5.7.3.1", "Server Authentication", "serverAuth"),
    ("1.3.6.1.5.5.7.3.2", "Client Authentication", "clientAuth"),
    ("1.3.6.1.5.5.7.3.3", "Code Signing", "codeSigning"),
    ("1.3.6.1.5.5.7.3.4", "Email Protection", "emailProtection"),
    ("1.3.6.1.5.5.7.3.8", "Time Stamping", "timeStamping"),
    ("1.3.6.1.5.5.7.3.9", "OCSP Signing", "OCSPSigning"),
    ("1.3.6.1.5.5.7.3.17", "IPsec IKE", "ipsecIKE"),
    ("1.3.6.1.5.5.7.3.21", "SSH Client", "secureShellClient"),
    ("1.3.6.1.5.5.7.3.22", "SSH Server", "secureShellServer"),
    ("1.3.6.1.5.5.7.3.36", "Document Signing", "documentSigning"),
    ("1.3.6.1.5.2.3.4", "Kerberos Client Authentication", "keyPurposeClientAuth"),
    ("1.3.6.1.5.2.3.5", "Kerberos KDC", "keyPurposeKdc"),
    ("1.3.6.1.4.1.311.20.2.2", "Smart Card Logon", "msSmartcardLogin"),
    ("1.3.6.1.4.1.311.10.3.4", "Encrypting File System", "msEFS"),
    ("1.3.6.1.4.1.311.10.3.12", "Microsoft Document Signing", "msDocumentSigning"),
    ("2.5.29.37.0", "Any Extended Key Usage", "anyExtendedKeyUsage"),
];

impl ExtendedKeyUsage {
    /// id-kp-serverAuth.
    pub const SERVER_AUTH: Self = Self(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1"));
    /// id-kp-clientAuth.
    pub const CLIENT_AUTH: Self = Self(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2"));
    /// id-kp-codeSigning.
    pub const CODE_SIGNING: Self = Self(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.3"));
    /// id-kp-emailProtection.
    pub const EMAIL_PROTECTION: Self = Self(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.4"));
    /// id-kp-timeStamping.
    pub const TIME_STAMPING: Self = Self(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.8"));
    /// id-kp-OCSPSigning.
    pub const OCSP_SIGNING: Self = Self(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.9"));
    /// anyExtendedKeyUsage.
    pub const ANY: Self = Self(ObjectIdentifier::new_unwrap("2.5.29.37.0"));
}

impl ExtendedKeyUsage {
    /// The key usages of which one must be there (RFC 5280, section 4.2.1.12); `None` where any
    /// will do.
    pub fn served_by(self) -> Option<&'static [KeyUsage]> {
        use KeyUsage::{DigitalSignature, KeyAgreement, KeyEncipherment, NonRepudiation};
        match self {
            Self::SERVER_AUTH => Some(&[DigitalSignature, KeyEncipherment, KeyAgreement]),
            Self::CLIENT_AUTH => Some(&[DigitalSignature, KeyAgreement]),
            Self::CODE_SIGNING => Some(&[DigitalSignature]),
            Self::EMAIL_PROTECTION => {
                Some(&[DigitalSignature, NonRepudiation, KeyEncipherment, KeyAgreement])
            }
            Self::TIME_STAMPING => Some(&[DigitalSignature, NonRepudiation]),
            _ => None,
        }
    }
}

impl fmt::Display for ExtendedKeyUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let oid = self.0.to_string();
        let named = NAMES.iter().find(|(known, ..)| *known == oid);
        f.write_str(named.map_or(oid.as_str(), |(_, shown, _)| shown))
    }
}

/// Either name in any case, or the dotted object identifier.
impl FromStr for ExtendedKeyUsage {
    type Err = NotAnExtendedKeyUsage;

    fn from_str(text: &str) -> Result<Self, NotAnExtendedKeyUsage> {
        let folded = fold(text);
        let known = NAMES
            .iter()
            .find(|(_, shown, standard)| fold(shown) == folded || fold(standard) == folded);
        ObjectIdentifier::new(known.map_or(text, |(oid, ..)| oid))
            .map(Self)
            .map_err(|_| NotAnExtendedKeyUsage(text.to_owned()))
    }
}

impl Serialize for ExtendedKeyUsage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ExtendedKeyUsage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}
