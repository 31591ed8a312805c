//! From an entry of the journal to the record that its request did not make.

use chancery_shared::bytes::Hash;
use chancery_shared::id::SignerId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Intent;
use time::OffsetDateTime;

use super::{Alarm, ReconcileError};
use crate::app::AppState;
use crate::certificate::history::HistoryEvent;
use crate::first_start;
use crate::issuance::context::IssuanceContext;
use crate::issuance::new_record::{MadeBy, new_record};
use crate::issuance::signing::SignedTbs;
use crate::store::StoreError;
use crate::store::certificate::{Inserted, NewCertificate};

/// A `signed` entry with its intent.
#[derive(Debug)]
pub(super) struct SignedEntry {
    pub(super) seq: u64,
    pub(super) hash: Hash,
    /// When the signer journaled it.
    pub(super) time: OffsetDateTime,
    pub(super) signature: Vec<u8>,
    pub(super) intent: Box<Intent>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovered {
    /// There is a record now.
    Made,
    /// There is one, or an administrator has deleted it.
    NotNeeded,
    /// It makes no certificate; the alarm is raised.
    Alarmed,
}

/// Makes the record of what `entry` signed, unless there is one or there shall be none.
pub(super) async fn recover(
    state: &AppState,
    signer_id: SignerId,
    entry: &SignedEntry,
) -> Result<Recovered, ReconcileError> {
    let known = IssuanceContext::from_wire(&entry.intent.context);
    let is_known = known.is_ok();
    let context = match known {
        Ok(context) => context,
        Err(_) => context_of_nobody(state, entry).await?,
    };
    let Some(mut record) = record(state, signer_id, entry, &context) else {
        Alarm::NoCertificate { seq: entry.seq }.raise();
        return Ok(Recovered::Alarmed);
    };
    if !is_known {
        let created = record.history.iter_mut().filter(|it| it.event == HistoryEvent::Created);
        for entry in created {
            entry.details = nobody_created(&context);
        }
    }

    // First the record, then the tombstone: a deletion in between has left one.
    let (issuer_key, serial) = (&record.certificate.issuer_key, &record.certificate.serial_number);
    if state.store.certificate_id_by_serial(issuer_key, serial).await?.is_some()
        || state.store.is_tombstoned(issuer_key, serial).await?
    {
        return Ok(Recovered::NotNeeded);
    }
    let inserted = match state.store.insert_certificate(record.clone()).await {
        // Some id of the context belongs to another record: this one gets new ids.
        Err(StoreError::Taken { .. }) => {
            state.store.insert_certificate(under_new_ids(state, record)).await?
        }
        inserted => inserted?,
    };
    Ok(match inserted {
        Inserted::New(certificate_id) => {
            tracing::warn!(
                certificate.id = %certificate_id,
                seq = entry.seq,
                request_id = entry.intent.context.request_id(),
                "a certificate's record was made from the signer's journal"
            );
            metrics::counter!("chancery_reconcile_recovered_total").increment(1);
            Recovered::Made
        }
        Inserted::AlreadyThere(_) => Recovered::NotNeeded,
    })
}

fn record(
    state: &AppState,
    signer_id: SignerId,
    entry: &SignedEntry,
    context: &IssuanceContext,
) -> Option<NewCertificate> {
    let signed = SignedTbs {
        tbs: entry.intent.tbs.0.clone(),
        signature: entry.signature.clone(),
        journal: JournalHead { signer_id, seq: entry.seq, hash: entry.hash },
    };
    let csr = entry.intent.csr.as_ref().map(|csr| csr.0.as_slice());
    let made_by = MadeBy::Reconciliation { at: state.clock.now(), history_id: state.new_id() };
    new_record(context, &signed, csr, made_by).ok()
}

/// For a signature whose context is not one of ours, such as an operator's tool would make: it
/// must not stay unknown, so it belongs to the first administrator.
async fn context_of_nobody(
    state: &AppState,
    entry: &SignedEntry,
) -> Result<IssuanceContext, ReconcileError> {
    let owner = first_start::owner(state).await?.ok_or(ReconcileError::NoAdministrator)?;
    let request_id = entry.intent.context.request_id().unwrap_or_default();
    Ok(IssuanceContext {
        request_id: request_id.to_owned(),
        // No later than its recovery, however the signer's clock goes.
        requested_at: entry.time.min(state.clock.now()),
        actor_user_id: owner.user_id,
        actor_username: owner.username.clone(),
        owner_user_id: owner.user_id,
        owner_username: owner.username,
        team_id: owner.team_id,
        cert_issuer_id: None,
        local_ca_id: None,
        issuer_certificate_id: None,
        certified_local_ca_id: None,
        certificate_id: state.new_id(),
        csr_id: entry.intent.csr.is_some().then(|| state.new_id()),
        history_id: state.new_id(),
        csr_generator_name: None,
        renews_certificate_id: None,
        extra_info: None,
        extra_emails: Vec::new(),
        track_expiry: true,
        departures: Vec::new(),
    })
}

fn under_new_ids(state: &AppState, mut record: NewCertificate) -> NewCertificate {
    let before = record.certificate.id;
    record.certificate.id = state.new_id();
    record.audit.object_id = Some(record.certificate.id.to_string());
    record.certificate.csr_id = record.certificate.csr_id.map(|_| state.new_id());
    if record.certificate.issuer_certificate_id == Some(before) {
        record.certificate.issuer_certificate_id = Some(record.certificate.id);
    }
    for happened in &mut record.history {
        happened.id = state.new_id();
    }
    record
}

/// The sentence of the `created` entry where no user is known.
fn nobody_created(context: &IssuanceContext) -> String {
    let csr = if context.csr_id.is_some() { "; a CSR was provided" } else { "" };
    format!(
        "The signer's journal does not say which user created the certificate{csr}; it was given \
         to the first administrator"
    )
}
