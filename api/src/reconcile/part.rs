//! A part of the journal as it was read, to be held against the records.

use std::collections::HashMap;

use chancery_shared::bytes::Hash;
use chancery_shared::id::CertificateId;

use super::Alarm;
use super::recover::SignedEntry;
use crate::store::certificate::JournaledRecord;

/// Entries that records may name, above those of the part before.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The last entry of the part.
    pub(super) up_to: u64,
    /// What was signed.
    pub(super) signed: Vec<SignedEntry>,
    evidence: HashMap<u64, Evidence>,
}

/// What an entry says of a certificate.
#[derive(Debug)]
struct Evidence {
    hash: Hash,
    serial_number: String,
}

impl Part {
    /// Nothing yet, after this entry.
    pub(super) fn after(seq: u64) -> Self {
        Self { up_to: seq, ..Self::default() }
    }

    /// Notes that entry `seq` is about the certificate with this serial number.
    pub(super) fn note(&mut self, seq: u64, hash: Hash, serial_number: String) {
        self.evidence.insert(seq, Evidence { hash, serial_number });
    }

    /// Whether the entry that `record` names is about it.
    pub(super) fn bears_out(&self, record: &JournaledRecord) -> bool {
        self.evidence.get(&record.seq).is_some_and(|entry| {
            record.hash == Some(entry.hash) && record.serial_number == entry.serial_number
        })
    }
}

/// Records whose entries are not theirs, until it is known whether the operator has accepted that
/// entries are lost: that stands above them.
#[derive(Debug, Default)]
pub(super) struct Mismatches {
    count: u64,
    first: Vec<(CertificateId, u64)>,
}

impl Mismatches {
    pub(super) fn add(&mut self, record: &JournaledRecord) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < NAMED {
            self.first.push((record.certificate_id, record.seq));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The operator has accepted that entries are lost: these records' are.
    pub(super) fn explain(&mut self) -> u64 {
        std::mem::take(self).count
    }

    /// Raises the alarm for each; says how many they are.
    pub(super) fn raise(&mut self) -> u64 {
        let Self { count, first } = std::mem::take(self);
        for (certificate_id, seq) in &first {
            Alarm::RecordWithoutEntry { certificate_id: *certificate_id, seq: *seq }.raise();
        }
        let unnamed = count.saturating_sub(first.len() as u64);
        if unnamed > 0 {
            Alarm::MoreRecordsWithoutEntry { count: unnamed }.raise();
        }
        count
    }
}

/// So many are named in the log at most.
const NAMED: usize = 100;
