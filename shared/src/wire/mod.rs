//! Requests, replies and journal entries as they cross the signer's boundary.
//!
//! A frame holds one envelope. The signer speaks the versions of [`SPOKEN`] and refuses a field
//! that it does not know; the API tolerates new fields in replies.

pub mod algorithm;
pub mod journal;
pub mod operator;
pub mod policy;
pub mod refusal;
pub mod v1;

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use refusal::{Refusal, RefusalCode};

use crate::bytes::Hash;
use crate::id::SignerId;

/// The versions of the wire that this build speaks, oldest first. There is no older one yet.
pub const SPOKEN: &[u32] = &[v1::VERSION];

/// A TBSCertificate or a CSR has at most this many bytes of DER.
pub const MAX_DER: usize = 48 * 1024;

/// A context has at most this many bytes as compact JSON.
pub const MAX_CONTEXT: usize = 16 * 1024;

/// What every request frame holds: a body of the version that it names. Whoever may meet another
/// version must be able to read it as one of [`serde_json::value::RawValue`].
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RequestEnvelope<Body> {
    /// Version of the body, one of [`SPOKEN`].
    pub version: u32,
    /// Chosen by the client; the reply carries it back. Replies may overtake each other.
    pub id: u64,
    /// The request, as the version's module defines it.
    pub body: Body,
}

/// What every reply frame holds.
#[derive(Debug, Deserialize, Serialize, PartialEq)]
pub struct ReplyEnvelope<Reply> {
    /// Version of the reply: the request's.
    pub version: u32,
    /// The id of the request; `null` where none was readable.
    pub id: Option<u64>,
    /// The journal's head after what this reply speaks of, where the request wrote something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalHead>,
    /// What came of it.
    pub outcome: Outcome<Reply>,
}

/// A reply or a refusal. A refusal is an ordinary answer, not a failure of the connection.
#[derive(Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome<Reply> {
    /// The signer did what was asked.
    Done(Reply),
    /// The signer did not, and says why.
    Refused(Refusal),
}

/// Where a signer's journal stands: its highest entry and that entry's hash.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JournalHead {
    /// Whose journal.
    pub signer_id: SignerId,
    /// Number of the entry, from 1.
    pub seq: u64,
    /// SHA-256 over the entry as stored.
    pub hash: Hash,
}

/// What the API wants the journal to know: opaque to the signer, a JSON object of at most
/// [`MAX_CONTEXT`] bytes as encoded. Clones share it.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(transparent)]
pub struct Context(Arc<serde_json::Map<String, serde_json::Value>>);

impl Context {
    /// What it says.
    #[must_use]
    pub fn fields(&self) -> &serde_json::Map<String, serde_json::Value> {
        &self.0
    }

    /// The request id, by which one certificate is traced from the HTTP call to the token.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.get("requestId")?.as_str()
    }

    /// Length of the compact JSON, in bytes.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let mut length = Length(0);
        serde_json::to_writer(&mut length, &self.0).map_or(usize::MAX, |()| length.0)
    }
}

impl<Name: Into<String>, Value: Into<serde_json::Value>> FromIterator<(Name, Value)> for Context {
    fn from_iter<T: IntoIterator<Item = (Name, Value)>>(fields: T) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value.into()));
        fields.collect::<serde_json::Map<_, _>>().into()
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for Context {
    fn from(fields: serde_json::Map<String, serde_json::Value>) -> Self {
        Self(Arc::new(fields))
    }
}

/// Counts what is written and keeps none of it.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
