//! One pass over the entries that are not reconciled yet, part by part: its cost depends on them
//! alone, and what it keeps in memory on what the signer works on at once.

use std::collections::{BTreeMap, HashSet};

use chancery_shared::bytes::Hash;
use chancery_shared::id::SignerId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::{Event, Intent};
use time::{Duration, OffsetDateTime};

use super::anchor::Anchor;
use super::chain::{Chain, Followed, Link};
use super::part::{Mismatches, Part};
use super::recover::{Recovered, SignedEntry, recover};
use super::{Alarm, ReconcileError, Report};
use crate::app::AppState;
use crate::certificate::fields::CertificateFields;
use crate::certificate::recorded_facts;
use crate::lease::Lease;
use crate::store::Unaudited;

/// A pass and where it is.
pub(super) struct Walk<'a> {
    state: &'a AppState,
    signer_id: SignerId,
    chain: Chain,
    /// Intents without an outcome so far.
    open: BTreeMap<u64, OpenIntent>,
    part: Part,
    /// Records that name entries up to here are compared.
    compared: u64,
    mismatches: Mismatches,
    report: Report,
}

struct OpenIntent {
    intent: Box<Intent>,
    /// The entry before it: up to there all is reconciled while the intent is open.
    before: Link,
}

/// Whether the pass goes on behind an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    GoOn,
    /// It was signed a moment ago: its request may be about to record it.
    Stop,
}

impl<'a> Walk<'a> {
    /// Begins at `anchor`; all up to entry `reconciled` was reconciled before.
    pub(super) fn new(
        state: &'a AppState,
        signer_id: SignerId,
        reconciled: u64,
        anchor: &Anchor,
    ) -> Self {
        Self {
            state,
            signer_id,
            chain: Chain::after(signer_id, anchor.link),
            open: BTreeMap::new(),
            part: Part::after(anchor.link.seq),
            compared: reconciled,
            mismatches: Mismatches::default(),
            report: Report { reconciled_seq: reconciled, ..Report::default() },
        }
    }

    /// Reads to the end of the journal, or to what is too young.
    pub(super) async fn run(
        mut self,
        anchor: Anchor,
        lease: &Lease<'_>,
    ) -> Result<Report, ReconcileError> {
        if let Some(up_to) = anchor.lost_up_to {
            self.pass_lost(up_to).await?;
        }
        // Another process that has the lease by now goes on from what is durable.
        while lease.renew().await? {
            let after = self.chain.last().map_or(0, |last| last.seq);
            let entries = self.state.signer.read_journal(after).await?;
            let mut next = if entries.is_empty() { Next::Stop } else { Next::GoOn };
            for body in &entries {
                next = self.take(body).await?;
                if next == Next::Stop {
                    break;
                }
            }
            self.finish_part().await?;
            if next == Next::Stop {
                self.report.alarms += self.mismatches.raise();
                self.advance().await?;
                break;
            }
        }
        Ok(self.report)
    }

    async fn take(&mut self, body: &str) -> Result<Next, ReconcileError> {
        let Followed { link, prev, time, event } = self.chain.follow(body)?;
        self.report.entries += 1;
        let next = match event {
            Some(Event::Signed { intent, serial_number, signature, .. }) => {
                self.take_signed(link, time, intent, serial_number, signature.0)
            }
            Some(event) => {
                if let Some(lost) = self.chain.accepted(Some(&event)) {
                    self.finish_part().await?;
                    self.pass_lost(lost.seq).await?;
                }
                self.note(link, prev, event);
                Next::GoOn
            }
            None => Next::GoOn,
        };
        if next == Next::GoOn
            && let Some(settled) = self.chain.settled()
        {
            self.part.up_to = settled.seq;
        }
        Ok(next)
    }

    fn take_signed(
        &mut self,
        link: Link,
        time: OffsetDateTime,
        intent: u64,
        serial_number: String,
        signature: Vec<u8>,
    ) -> Next {
        let Some(open) = self.open.remove(&intent) else {
            Alarm::SignedWithoutIntent { seq: link.seq }.raise();
            self.report.alarms += 1;
            return Next::GoOn;
        };
        if is_too_young(time, self.state.clock.now()) {
            self.open.insert(intent, open);
            return Next::Stop;
        }
        let Link { seq, hash } = link;
        self.part.note(seq, hash, serial_number);
        let intent = open.intent;
        self.part.signed.push(SignedEntry { seq, hash, time, signature, intent });
        Next::GoOn
    }

    /// What is neither signed nor lost.
    fn note(&mut self, link: Link, prev: Hash, event: Event) {
        match event {
            Event::Intent(intent) => {
                let before = Link { seq: link.seq.saturating_sub(1), hash: prev };
                self.open.insert(link.seq, OpenIntent { intent, before });
            }
            Event::Abandoned { intent, .. } => {
                self.open.remove(&intent);
            }
            // The reply to a CA's own certificate carries the head after its installation.
            Event::CaCertificateInstalled { chain, .. } => {
                let own = chain.first().and_then(|der| CertificateFields::read(&der.0).ok());
                if let Some(own) = own {
                    let serial_number = recorded_facts::serial_number(own.serial_number);
                    self.part.note(link.seq, link.hash, serial_number);
                }
            }
            _ => {}
        }
    }

    /// Holds what was read against the records: makes those that are missing, notes those that
    /// should not be there.
    async fn finish_part(&mut self) -> Result<(), ReconcileError> {
        let up_to = self.part.up_to;
        let part = std::mem::replace(&mut self.part, Part::after(up_to));
        if part.up_to > self.compared {
            let store = &self.state.store;
            let records =
                store.journaled_records(self.signer_id, self.compared, part.up_to).await?;
            let mut recorded = HashSet::new();
            for record in &records {
                if part.bears_out(record) {
                    recorded.insert(record.seq);
                } else {
                    self.mismatches.add(record);
                }
            }
            for entry in part.signed.iter().filter(|entry| !recorded.contains(&entry.seq)) {
                match recover(self.state, self.signer_id, entry).await? {
                    Recovered::Made => self.report.recovered += 1,
                    Recovered::NotNeeded => {}
                    Recovered::Alarmed => self.report.alarms += 1,
                }
            }
            self.compared = part.up_to;
        }
        self.advance().await
    }

    /// Marks that the operator has accepted the loss of entries up to `up_to`.
    async fn pass_lost(&mut self, up_to: u64) -> Result<(), ReconcileError> {
        let explained = self.mismatches.explain();
        let (after, store) = (self.compared, &self.state.store);
        let within = store.count_journaled_records(self.signer_id, after, up_to).await?;
        let records = explained + within;
        tracing::warn!(
            after,
            up_to,
            records,
            "entries of the signer's journal are lost, as its operator has accepted; so many \
             records named them"
        );
        self.report.lost += up_to.saturating_sub(after);
        self.compared = self.compared.max(up_to);
        Ok(())
    }

    /// Remembers how far all is reconciled, so that the next pass begins there.
    async fn advance(&mut self) -> Result<(), ReconcileError> {
        let oldest_open = self.open.first_key_value().map(|(_, open)| open.before);
        let Some(done) = oldest_open.or(self.chain.settled()) else { return Ok(()) };
        // Those that may have to raise an alarm are read again if this pass does not come to it.
        if done.seq <= self.report.reconciled_seq || !self.mismatches.is_empty() {
            return Ok(());
        }
        let head = JournalHead { signer_id: self.signer_id, seq: done.seq, hash: done.hash };
        let mut write = self.state.store.begin().await?;
        write.raise_journal_head(&head).await?;
        write.set_reconciled(self.signer_id, done.seq, done.hash).await?;
        write.commit_unaudited(Unaudited::JournalHead).await?;
        self.report.reconciled_seq = done.seq;
        Ok(())
    }
}

fn is_too_young(signed_at: OffsetDateTime, now: OffsetDateTime) -> bool {
    let age = now - signed_at;
    age < REQUEST && age > -WRONG_CLOCK
}

/// No request lasts longer.
const REQUEST: Duration = Duration::seconds(35);
/// A signer's clock that was so far ahead was wrong: what it dated is not waited for.
const WRONG_CLOCK: Duration = Duration::minutes(10);
