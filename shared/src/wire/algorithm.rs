//! The algorithms of CA keys, one list for both processes.

use serde::{Deserialize, Serialize};

/// What kind of key pair a CA key is.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum KeyAlgorithm {
    /// RSA, 2048 bits.
    #[serde(rename = "rsa-2048")]
    Rsa2048,
    /// RSA, 3072 bits.
    #[serde(rename = "rsa-3072")]
    Rsa3072,
    /// RSA, 4096 bits.
    #[serde(rename = "rsa-4096")]
    Rsa4096,
    /// ECDSA on P-256 (secp256r1).
    EcdsaP256,
    /// ECDSA on P-384 (secp384r1).
    EcdsaP384,
    /// ECDSA on P-521 (secp521r1).
    EcdsaP521,
    /// Ed25519 (RFC 8032).
    Ed25519,
}

impl KeyAlgorithm {
    /// Every algorithm, in the order of this list.
    pub const ALL: [Self; 7] = [
        Self::Rsa2048,
        Self::Rsa3072,
        Self::Rsa4096,
        Self::EcdsaP256,
        Self::EcdsaP384,
        Self::EcdsaP521,
        Self::Ed25519,
    ];

    /// Whether a key of this kind can make signatures of that kind.
    #[must_use]
    pub fn makes(self, signature: SignatureAlgorithm) -> bool {
        use SignatureAlgorithm as S;
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => matches!(
                signature,
                S::RsaPkcs1Sha256
                    | S::RsaPkcs1Sha384
                    | S::RsaPkcs1Sha512
                    | S::RsaPssSha256
                    | S::RsaPssSha384
                    | S::RsaPssSha512
            ),
            Self::EcdsaP256 | Self::EcdsaP384 | Self::EcdsaP521 => {
                matches!(signature, S::EcdsaSha256 | S::EcdsaSha384 | S::EcdsaSha512)
            }
            Self::Ed25519 => signature == S::Ed25519,
        }
    }
}

/// How a CA key signs. Each CA key has exactly one, fixed when it is made.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RsaPkcs1Sha256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    RsaPkcs1Sha384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    RsaPkcs1Sha512,
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256, salt of 32 octets.
    RsaPssSha256,
    /// RSASSA-PSS with SHA-384, MGF1 with SHA-384, salt of 48 octets.
    RsaPssSha384,
    /// RSASSA-PSS with SHA-512, MGF1 with SHA-512, salt of 64 octets.
    RsaPssSha512,
    /// ECDSA with SHA-256.
    EcdsaSha256,
    /// ECDSA with SHA-384.
    EcdsaSha384,
    /// ECDSA with SHA-512.
    EcdsaSha512,
    /// Ed25519 over the message itself.
    #[serde(rename = "ed25519")]
    Ed25519,
}

impl SignatureAlgorithm {
    /// Every algorithm, in the order of this list.
    pub const ALL: [Self; 10] = [
        Self::RsaPkcs1Sha256,
        Self::RsaPkcs1Sha384,
        Self::RsaPkcs1Sha512,
        Self::RsaPssSha256,
        Self::RsaPssSha384,
        Self::RsaPssSha512,
        Self::EcdsaSha256,
        Self::EcdsaSha384,
        Self::EcdsaSha512,
        Self::Ed25519,
    ];

    /// The DER of the AlgorithmIdentifier (RFC 5280, section 4.1.1.2; parameters by RFC 4055,
    /// RFC 5758 and RFC 8410).
    #[must_use]
    pub fn algorithm_identifier(self) -> &'static [u8] {
        match self {
            Self::RsaPkcs1Sha256 => b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b\x05\x00",
            Self::RsaPkcs1Sha384 => b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c\x05\x00",
            Self::RsaPkcs1Sha512 => b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d\x05\x00",
            Self::RsaPssSha256 => {
                b"\x30\x41\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x30\x34\
                  \xa0\x0f\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\
                  \xa1\x1c\x30\x1a\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08\
                  \x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\
                  \xa2\x03\x02\x01\x20"
            }
            Self::RsaPssSha384 => {
                b"\x30\x41\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x30\x34\
                  \xa0\x0f\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\
                  \xa1\x1c\x30\x1a\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08\
                  \x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\
                  \xa2\x03\x02\x01\x30"
            }
            Self::RsaPssSha512 => {
                b"\x30\x41\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x30\x34\
                  \xa0\x0f\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\
                  \xa1\x1c\x30\x1a\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08\
                  \x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\
                  \xa2\x03\x02\x01\x40"
            }
            Self::EcdsaSha256 => b"\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02",
            Self::EcdsaSha384 => b"\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x03",
            Self::EcdsaSha512 => b"\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x04",
            Self::Ed25519 => b"\x30\x05\x06\x03\x2b\x65\x70",
        }
    }

    /// The algorithm whose AlgorithmIdentifier has exactly these bytes.
    #[must_use]
    pub fn from_algorithm_identifier(der: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.algorithm_identifier() == der)
    }
}
