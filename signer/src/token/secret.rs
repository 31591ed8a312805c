//! Bytes that no log, no swap and no freed memory may hold: PINs and data keys.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// A PIN or a data key. Locked in memory where the system allows it, wiped when dropped.
pub struct Secret {
    bytes: Zeroizing<Vec<u8>>,
}

impl Secret {
    /// Takes the bytes over. They never move again, so no copy stays behind.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self::from(Zeroizing::new(bytes))
    }

    /// The secret itself. Call it only where it is handed to the token or the caller.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<Zeroizing<Vec<u8>>> for Secret {
    fn from(bytes: Zeroizing<Vec<u8>>) -> Self {
        keep_out_of_swap(&bytes);
        Self { bytes }
    }
}

/// Locks the pages of a secret for as long as the process lives: another secret may lie on the
/// same page, so unlocking one would unlock the other.
pub(super) fn keep_out_of_swap(secret: &[u8]) {
    // Over the limit of locked memory a PIN still has to work: it is wiped all the same.
    if let Ok(locked) = region::lock(secret.as_ptr(), secret.len()) {
        std::mem::forget(locked);
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(STANDARD.encode(&*self.bytes)))
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Base64 needs no escapes, so this borrows from the frame and copies nothing.
        let text = <&str>::deserialize(deserializer)?;
        // The error must not quote a secret that is not base64.
        let bytes = STANDARD.decode(text).map_err(|_| D::Error::custom("not base64"))?;
        Ok(Self::new(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_crosses_the_socket_and_is_never_printed() {
        let json = serde_json::to_string(&Secret::new(b"1234".to_vec())).unwrap();

        let back: Secret = serde_json::from_str(&json).unwrap();

        assert_eq!(back.expose(), b"1234");
        assert_eq!(format!("{back:?}"), "Secret(..)");
    }
}
