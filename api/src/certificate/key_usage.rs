//! Key usages (RFC 5280, section 4.2.1.3) by the names that people see.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::echo::cut;

/// One bit of keyUsage, in the order of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyUsage {
    /// digitalSignature (0).
    DigitalSignature,
    /// nonRepudiation, now contentCommitment (1).
    NonRepudiation,
    /// keyEncipherment (2).
    KeyEncipherment,
    /// dataEncipherment (3).
    DataEncipherment,
    /// keyAgreement (4).
    KeyAgreement,
    /// keyCertSign (5).
    CertificateSign,
    /// cRLSign (6).
    CrlSign,
    /// encipherOnly (7).
    EncipherOnly,
    /// decipherOnly (8).
    DecipherOnly,
}

/// The text names no key usage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{:?} is no key usage; write one such as Digital Signature or Key Encipherment", cut(.0))]
pub struct NotAKeyUsage(String);

impl KeyUsage {
    /// Every usage, in the order of its bit.
    pub const ALL: [Self; 9] = [
        Self::DigitalSignature,
        Self::NonRepudiation,
        Self::KeyEncipherment,
        Self::DataEncipherment,
        Self::KeyAgreement,
        Self::CertificateSign,
        Self::CrlSign,
        Self::EncipherOnly,
        Self::DecipherOnly,
    ];

    /// The name that people see, and the one of the standard.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::DigitalSignature => ("Digital Signature", "digitalSignature"),
            Self::NonRepudiation => ("Non Repudiation", "contentCommitment"),
            Self::KeyEncipherment => ("Key Encipherment", "keyEncipherment"),
            Self::DataEncipherment => ("Data Encipherment", "dataEncipherment"),
            Self::KeyAgreement => ("Key Agreement", "keyAgreement"),
            Self::CertificateSign => ("Certificate Sign", "keyCertSign"),
            Self::CrlSign => ("CRL Sign", "cRLSign"),
            Self::EncipherOnly => ("Encipher Only", "encipherOnly"),
            Self::DecipherOnly => ("Decipher Only", "decipherOnly"),
        }
    }
}

impl fmt::Display for KeyUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().0)
    }
}

/// Either name, in any case; blanks, hyphens and underscores don't count.
impl FromStr for KeyUsage {
    type Err = NotAKeyUsage;

    fn from_str(text: &str) -> Result<Self, NotAKeyUsage> {
        let folded = fold(text);
        let means = |usage: &Self| {
            let (shown, standard) = usage.names();
            fold(shown) == folded || fold(standard) == folded
        };
        Self::ALL.into_iter().find(means).ok_or_else(|| NotAKeyUsage(text.to_owned()))
    }
}

/// A name without what people write in different ways.
pub(super) fn fold(name: &str) -> String {
    let letters = name.chars().filter(|c| !" -_".contains(*c));
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

impl Serialize for KeyUsage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyUsage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}
