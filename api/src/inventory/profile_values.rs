//! The words of a profile: kinds of names, kinds of keys, attribute types, extensions.

use std::fmt;
use std::str::FromStr;

use chancery_shared::bytes::Bytes;
use chancery_shared::wire::policy::{SanType, SubjectKey};
use der::asn1::ObjectIdentifier;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::echo::cut;
use crate::issuance::subject_key::SubjectKeyKind;
use crate::json::empty_is_default;
use crate::name::SubjectAltName;
use crate::name::attribute_type::{AttributeType, shown};

/// A kind of subject alternative name, as in front of the record's elements.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum AllowedSanType {
    /// dNSName.
    Dns,
    /// iPAddress.
    Ip,
    /// rfc822Name.
    Email,
    /// uniformResourceIdentifier.
    Uri,
    /// otherName with a user principal name.
    Upn,
    /// otherName of another type.
    Other,
    /// directoryName.
    Dirname,
    /// registeredID.
    Rid,
}

impl AllowedSanType {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Dns,
        Self::Ip,
        Self::Email,
        Self::Uri,
        Self::Upn,
        Self::Other,
        Self::Dirname,
        Self::Rid,
    ];

    /// The kind of a name.
    pub fn of(name: &SubjectAltName) -> Self {
        match name {
            SubjectAltName::DnsName(_) => Self::Dns,
            SubjectAltName::IpAddress(_) => Self::Ip,
            SubjectAltName::Rfc822Name(_) => Self::Email,
            SubjectAltName::Uri(_) => Self::Uri,
            SubjectAltName::UserPrincipalName(_) => Self::Upn,
            SubjectAltName::OtherName { .. } => Self::Other,
            SubjectAltName::DirectoryName(_) => Self::Dirname,
            SubjectAltName::RegisteredId(_) => Self::Rid,
        }
    }

    /// The same in the words of the signer's policy.
    pub fn san_type(self) -> SanType {
        match self {
            Self::Dns => SanType::Dns,
            Self::Ip => SanType::Ip,
            Self::Email => SanType::Email,
            Self::Uri => SanType::Uri,
            Self::Upn | Self::Other => SanType::OtherName,
            Self::Dirname => SanType::DirectoryName,
            Self::Rid => SanType::RegisteredId,
        }
    }
}

/// A kind of subject key; an RSA entry allows every longer RSA key too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowedKeyAlgorithm(pub SubjectKey);

const KEY_ALGORITHMS: [(SubjectKey, &str); 7] = [
    (SubjectKey::Rsa2048, "RSA 2048"),
    (SubjectKey::Rsa3072, "RSA 3072"),
    (SubjectKey::Rsa4096, "RSA 4096"),
    (SubjectKey::EcP256, "ECDSA P-256"),
    (SubjectKey::EcP384, "ECDSA P-384"),
    (SubjectKey::EcP521, "ECDSA P-521"),
    (SubjectKey::Ed25519, "Ed25519"),
];

impl AllowedKeyAlgorithm {
    /// RSA from 2048 bits, the three curves and Ed25519: everything that is taken here.
    pub const EVERY: [Self; 5] = [
        Self(SubjectKey::Rsa2048),
        Self(SubjectKey::EcP256),
        Self(SubjectKey::EcP384),
        Self(SubjectKey::EcP521),
        Self(SubjectKey::Ed25519),
    ];
}

impl AllowedKeyAlgorithm {
    /// The shortest key of this kind.
    pub fn kind(self) -> SubjectKeyKind {
        match self.0 {
            SubjectKey::Rsa2048 => SubjectKeyKind::Rsa { bits: 2048 },
            SubjectKey::Rsa3072 => SubjectKeyKind::Rsa { bits: 3072 },
            SubjectKey::Rsa4096 => SubjectKeyKind::Rsa { bits: 4096 },
            SubjectKey::EcP256 => SubjectKeyKind::EcP256,
            SubjectKey::EcP384 => SubjectKeyKind::EcP384,
            SubjectKey::EcP521 => SubjectKeyKind::EcP521,
            SubjectKey::Ed25519 => SubjectKeyKind::Ed25519,
        }
    }
}

/// The text is no kind of key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{:?} is no key algorithm; write RSA 2048, RSA 3072, RSA 4096, ECDSA P-256, ECDSA P-384, \
     ECDSA P-521 or Ed25519",
    cut(.0)
)]
pub struct NotAKeyAlgorithm(String);

impl fmt::Display for AllowedKeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = KEY_ALGORITHMS.iter().find(|(key, _)| *key == self.0);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}

impl FromStr for AllowedKeyAlgorithm {
    type Err = NotAKeyAlgorithm;

    fn from_str(text: &str) -> Result<Self, NotAKeyAlgorithm> {
        let named = KEY_ALGORITHMS.iter().find(|(_, name)| name.eq_ignore_ascii_case(text.trim()));
        named.map(|(key, _)| Self(*key)).ok_or_else(|| NotAKeyAlgorithm(text.to_owned()))
    }
}

/// An attribute type of a subject, written by its keyword or object identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubjectAttribute(pub ObjectIdentifier);

/// The text is no attribute type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{:?} is no attribute type; write a keyword such as CN or O, or an OID", cut(.0))]
pub struct NotAnAttribute(String);

impl fmt::Display for SubjectAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(self.0))
    }
}

impl FromStr for SubjectAttribute {
    type Err = NotAnAttribute;

    fn from_str(text: &str) -> Result<Self, NotAnAttribute> {
        if let Some(known) = AttributeType::by_keyword(text.trim()) {
            return Ok(Self(known.oid));
        }
        ObjectIdentifier::new(text.trim()).map(Self).map_err(|_| NotAnAttribute(text.to_owned()))
    }
}

/// An extension that every certificate of the profile gets, as it is.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomExtension {
    /// Dotted object identifier.
    pub oid: String,
    /// Whether clients that don't know it must refuse the certificate.
    #[serde(default, deserialize_with = "empty_is_default")]
    pub critical: bool,
    /// DER of the value, base64.
    #[schema(value_type = String)]
    pub value: Bytes,
}

macro_rules! text_in_json {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

text_in_json!(AllowedKeyAlgorithm, SubjectAttribute);
