//! The proof that an intent is on disk.

use flume::Sender;

use chancery_shared::id::KeyId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::algorithm::SignatureAlgorithm;

use super::command::Command;
use crate::policy::CheckedTbs;

/// A [`CheckedTbs`] whose intent is on disk: even if the power fails now, it is known what was to
/// be signed. Only [`Journal::record`](super::Journal::record) makes one, and the key's `sign`
/// consumes it, so one check leads to one intent and at most one signature.
///
/// ```compile_fail
/// let forged = chancery_signer::journal::RecordedTbs { tbs: todo!(), head: todo!() };
/// ```
#[derive(Debug)]
pub struct RecordedTbs {
    tbs: CheckedTbs,
    head: JournalHead,
}

impl RecordedTbs {
    /// Only for the writer, and only when the intent is on disk.
    pub(super) fn on_disk(tbs: CheckedTbs, head: JournalHead) -> Self {
        Self { tbs, head }
    }

    /// The bytes that were checked and recorded, and the number of the intent's entry.
    #[must_use]
    pub fn into_parts(self) -> (Vec<u8>, u64) {
        let intent = self.intent();
        (self.tbs.into_der(), intent)
    }

    /// The bytes that were checked and recorded.
    pub fn der(&self) -> &[u8] {
        self.tbs.der()
    }

    /// The key that is to sign.
    pub fn key_id(&self) -> KeyId {
        self.tbs.key_id()
    }

    /// How it is to sign.
    pub fn signature_algorithm(&self) -> SignatureAlgorithm {
        self.tbs.signature_algorithm()
    }

    /// The serial number in the TBS.
    pub fn serial_number(&self) -> [u8; 20] {
        self.tbs.serial_number()
    }

    /// The key that is certified: DER of its SubjectPublicKeyInfo.
    pub fn spki(&self) -> &[u8] {
        self.tbs.spki()
    }

    /// Number of the intent's entry, for its outcome.
    pub fn intent(&self) -> u64 {
        self.head.seq
    }

    /// The intent's entry as the journal's head.
    pub fn head(&self) -> JournalHead {
        self.head
    }
}

/// A [`RecordedTbs`] on its way to the caller. If the caller has gone, the writer hears of it and
/// closes the intent, which nobody else could do before the next start.
#[derive(Debug)]
pub(super) struct Unclaimed {
    recorded: Option<RecordedTbs>,
    writer: Sender<Command>,
}

impl Unclaimed {
    pub(super) fn new(recorded: RecordedTbs, writer: Sender<Command>) -> Self {
        Self { recorded: Some(recorded), writer }
    }

    /// The caller has it; the intent's outcome is the caller's to record from now on.
    pub(super) fn claim(mut self) -> Option<RecordedTbs> {
        self.recorded.take()
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(recorded) = &self.recorded {
            // A writer that has ended leaves the intent to the next start.
            let _ = self.writer.send(Command::Forget { intent: recorded.intent() });
        }
    }
}
