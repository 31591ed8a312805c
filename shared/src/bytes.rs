//! Byte strings that travel as text: base64 for DER, hexadecimal for hashes and nonces.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::hexadecimal;

/// DER or another byte string of any length; standard base64 with padding in JSON (RFC 4648,
/// section 4).
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// The bytes themselves.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64).map(Self)
    }
}

/// Reads base64 from where it lies: no copy of the text is made.
struct Base64;

impl Visitor<'_> for Base64 {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        // The error must not quote what may be a secret.
        STANDARD.decode(text).map_err(|_| E::custom("not base64"))
    }
}

/// As [`Bytes`], for a data key: never printed, and wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// The secret itself.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// The secret itself, still wiped when dropped.
    #[must_use]
    pub fn into_inner(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

impl From<Vec<u8>> for SecretBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBytes(..)")
    }
}

impl Serialize for SecretBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(STANDARD.encode(&*self.0)))
    }
}

impl<'de> Deserialize<'de> for SecretBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64).map(Self::from)
    }
}

/// A byte string of a fixed length; lower-case hexadecimal in JSON.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fixed<const N: usize>(pub [u8; N]);

/// SHA-256 of a journal record.
pub type Hash = Fixed<32>;

/// The 40 bytes from which a serial number is made: connection nonce (16), counter (8, big-endian)
/// and random bytes of the API (16).
pub type SerialNonce = Fixed<40>;

/// The part of a [`SerialNonce`] that the signer chose for one connection.
pub type ConnectionNonce = Fixed<16>;

impl<const N: usize> fmt::Display for Fixed<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal::encode(self.0))
    }
}

impl<const N: usize> fmt::Debug for Fixed<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> std::str::FromStr for Fixed<N> {
    type Err = NotFixedHex;

    fn from_str(text: &str) -> Result<Self, NotFixedHex> {
        let mut bytes = [0; N];
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(NotFixedHex { expected: N * 2 });
        }
        hex::decode_to_slice(text, &mut bytes).map_err(|_| NotFixedHex { expected: N * 2 })?;
        Ok(Self(bytes))
    }
}

/// The text is not lower-case hexadecimal of the right length.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} lower-case hexadecimal characters")]
pub struct NotFixedHex {
    /// How many characters would pass.
    pub expected: usize,
}

impl<const N: usize> Serialize for Fixed<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hexadecimal::encode(self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for Fixed<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hexadecimal::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_escapes_too_and_nothing_else_is() {
        for text in [r#""AQID""#, r#""\u0041QID""#] {
            assert_eq!(serde_json::from_str::<Bytes>(text).unwrap(), Bytes(vec![1, 2, 3]));
            let secret: SecretBytes = serde_json::from_str(text).unwrap();
            assert_eq!(secret.expose(), [1, 2, 3]);
        }
        for text in [r#""AQI""#, r#""AQI_""#, "1", "[1]", "null"] {
            assert!(serde_json::from_str::<Bytes>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_secret_is_never_printed_nor_quoted_in_an_error() {
        let secret = SecretBytes::from(b"secret".to_vec());

        let broken = serde_json::from_str::<SecretBytes>(r#""c2VjcmV0!""#).unwrap_err();

        assert_eq!(format!("{secret:?}"), "SecretBytes(..)");
        assert!(!broken.to_string().contains('!'), "{broken}");
    }
}
