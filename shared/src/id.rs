//! Ids: 24 lower-case hexadecimal characters, one type per kind.
//!
//! The first 12 characters are the Unix time in 65,536ths of a second, so ids sort by time, and new
//! ones stand together in an index however fast they come; the other 12 are random, so that no one
//! can guess an id from another.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;

use crate::hexadecimal;

/// The id of one `Kind` of thing. Two kinds are two types.
pub struct Id<Kind> {
    bytes: [u8; 12],
    kind: PhantomData<fn() -> Kind>,
}

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

impl<Kind> Id<Kind> {
    /// A new id: the time it was made at, and 6 bytes from a cryptographic source.
    #[must_use]
    pub fn new(made_at: OffsetDateTime, random: [u8; 6]) -> Self {
        // Seconds wrap in 2106; ids stay unique then, only their order starts again.
        let mut bytes = [0; 12];
        let [_, _, _, _, seconds @ ..] = made_at.unix_timestamp().to_be_bytes();
        let part = (u64::from(made_at.nanosecond()) << 16) / NANOSECONDS_PER_SECOND;
        let [.., high, low] = part.to_be_bytes();
        bytes[..4].copy_from_slice(&seconds);
        bytes[4..6].copy_from_slice(&[high, low]);
        bytes[6..].copy_from_slice(&random);
        Self::from_bytes(bytes)
    }

    /// The id with exactly these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 12]) -> Self {
        Self { bytes, kind: PhantomData }
    }

    /// The 12 bytes behind the 24 characters.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 12] {
        &self.bytes
    }

    fn text<'a>(&self, room: &'a mut [u8; 24]) -> &'a str {
        // Neither can fail: there is room for exactly that, and the digits are ASCII.
        let _ = hex::encode_to_slice(self.bytes, room);
        std::str::from_utf8(room).unwrap_or_default()
    }
}

/// The text is not 24 lower-case hexadecimal characters.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is 24 lower-case hexadecimal characters")]
pub struct NotAnId;

impl<Kind> FromStr for Id<Kind> {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let mut bytes = [0; 12];
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(NotAnId);
        }
        hex::decode_to_slice(text, &mut bytes).map_err(|_| NotAnId)?;
        Ok(Self::from_bytes(bytes))
    }
}

impl<Kind> fmt::Display for Id<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(&mut [0; 24]))
    }
}

impl<Kind> fmt::Debug for Id<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// Derives would ask the same of `Kind`, which is only a name.
impl<Kind> Clone for Id<Kind> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Kind> Copy for Id<Kind> {}

impl<Kind> PartialEq for Id<Kind> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<Kind> Eq for Id<Kind> {}

impl<Kind> PartialOrd for Id<Kind> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Kind> Ord for Id<Kind> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl<Kind> Hash for Id<Kind> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl<Kind> Serialize for Id<Kind> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text(&mut [0; 24]))
    }
}

impl<'de, Kind> Deserialize<'de> for Id<Kind> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hexadecimal::deserialize(deserializer)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $id:ident = $kind:ident;)*) => {
        /// The names that tell ids apart; they have no values.
        pub mod kind {
            $($(#[$doc])* #[derive(Debug)] pub enum $kind {})*
        }
        $($(#[$doc])* pub type $id = Id<kind::$kind>;)*
    };
}

kinds! {
    /// A key on a token; its bytes are the `CKA_ID`.
    KeyId = Key;
    /// A signer with its journal.
    SignerId = Signer;
    /// A request parked in the signer until the operator decides.
    ApprovalId = Approval;
    /// A certificate record.
    CertificateId = Certificate;
    /// A stored certification request.
    CsrId = Csr;
    /// A Local CA.
    LocalCaId = LocalCa;
    /// A Key Store.
    KeyStoreId = KeyStore;
    /// A Certificate Issuer.
    CertIssuerId = CertIssuer;
    /// A certificate profile.
    ProfileId = Profile;
    /// A CSR Generator.
    CsrGeneratorId = CsrGenerator;
    /// A team.
    TeamId = Team;
    /// A user.
    UserId = User;
    /// A history entry, a session or another row that nothing outside refers to.
    RowId = Row;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_carries_its_time_first_and_round_trips() {
        let made_at = OffsetDateTime::from_unix_timestamp(0x6565_6565).unwrap();

        let id = TeamId::new(made_at + time::Duration::milliseconds(500), [0xab; 6]);

        assert_eq!(id.to_string(), "656565658000abababababab");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn ids_sort_by_the_time_they_were_made_at_within_a_second_too() {
        let second = time::macros::datetime!(2026-11-28 02:00:00 UTC);
        let times = [0, 16, 32, 1_000, 500_000, 999_999, 1_000_000]
            .map(|microseconds| second + time::Duration::microseconds(microseconds));

        let ids = times.map(|at| TeamId::new(at, [0; 6]).to_string());

        assert!(ids.is_sorted_by(|earlier, later| earlier < later), "{ids:?}");
    }

    #[test]
    fn nothing_but_24_lower_case_hexadecimal_characters_is_an_id() {
        for text in ["", "65", "65656565ABABABABABABABAB", "65656565abababababababag", "../../etc"]
        {
            assert_eq!(text.parse::<TeamId>(), Err(NotAnId), "{text}");
        }
    }
}
