//! Changing a record: its details, its owner, its team.

use chancery_shared::id::{CertificateId, RowId};
use time::OffsetDateTime;

use super::permission::{Caller, NewOwner, begin_giving};
use crate::app::AppState;
use crate::certificate::history::HistoryEvent;
use crate::echo::cut;
use crate::error::ApiError;
use crate::store::Unaudited;
use crate::store::certificate::{Certificate, HistoryEntry, StoredCertificate};
use crate::store::team::Team;

/// What is to change; `None` stays as it is. Each value is sound by itself.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Free text, or none.
    pub extra_details: Option<Option<String>>,
    /// Addresses, or none.
    pub extra_emails: Option<Option<Vec<String>>>,
    /// Whether reminders are sent.
    pub track_expiry: Option<bool>,
    /// Whether another certificate took its place.
    pub renewed: Option<bool>,
    /// Whose it becomes.
    pub owner: Option<NewOwner>,
    /// Which team's it becomes.
    pub team: Option<Team>,
}

/// Changes the record `id` and tells its history what was changed. Where nothing is different
/// nothing is written. Concurrent changes come one after the other, each on what the one before left.
///
/// # Errors
///
/// [`crate::error::Code::NotFound`], or a refusal of [`Caller`]; nothing has changed then.
pub async fn change(
    state: &AppState,
    caller: &Caller,
    id: CertificateId,
    change: Change,
) -> Result<StoredCertificate, ApiError> {
    let missing = || ApiError::not_found("certificate");
    let stored = state.store.certificate(id).await?.ok_or_else(missing)?;
    check(caller, &stored.certificate, &change, state.clock.now())?;
    let team = change.team.as_ref().map(|team| team.id);
    let owner = change.owner.as_ref().map(NewOwner::user_id);
    let mut write = begin_giving(state, team, owner).await?;
    // Against the record as it is held: whoever could change it a moment ago may no longer.
    let stored = write.hold_certificate(id).await?.ok_or_else(missing)?;
    check(caller, &stored.certificate, &change, state.clock.now())?;
    let (mut changed, told) = apply(&stored, change, caller.actor().username());
    if told.is_empty() {
        write.commit_unaudited(Unaudited::Nothing).await?;
        return Ok(changed);
    }
    write.update_details(&changed.certificate).await?;
    // What happens at one moment is told in the order of the ids.
    let mut ids: Vec<RowId> = told.iter().map(|_| state.new_id()).collect();
    ids.sort_unstable();
    let happened_at = state.clock.now();
    for (id_of_entry, (event, details)) in ids.into_iter().zip(told) {
        let entry = HistoryEntry { id: id_of_entry, happened_at, event, details };
        write.insert_history(id, &entry).await?;
        changed.history.push(entry);
    }
    changed.history.sort_by_key(|entry| (entry.happened_at, entry.id));
    let entry = state.audited("change", "certs");
    let entry = entry.changed(&stored.certificate, &changed.certificate);
    write.commit_beside_inventory(entry).await?;
    tracing::info!(certificate.id = %id, user = caller.actor().username(), "changed a record");
    Ok(changed)
}

fn check(
    caller: &Caller,
    certificate: &Certificate,
    change: &Change,
    now: OffsetDateTime,
) -> Result<(), ApiError> {
    caller.check_may_change(certificate)?;
    let team = change.team.as_ref().filter(|team| team.id != certificate.team_id);
    if let Some(team) = team {
        caller.check_may_give_to_team(team)?;
    }
    let owner = change.owner.as_ref();
    if let Some(owner) = owner.filter(|owner| owner.user_id() != certificate.owner_user_id) {
        let team = team.map_or(certificate.team_id, |team| team.id);
        caller.check_may_give_to_user(owner, team)?;
        caller.check_may_give_key_data(certificate, now)?;
    }
    Ok(())
}

/// The changed record, and what its history is told.
fn apply(
    stored: &StoredCertificate,
    change: Change,
    user: &str,
) -> (StoredCertificate, Vec<(HistoryEvent, String)>) {
    let Change { extra_details, extra_emails, track_expiry, renewed, owner, team } = change;
    let mut changed = stored.clone();
    let certificate = &mut changed.certificate;
    let mut clauses = Vec::new();
    if let Some(new) = extra_details.filter(|new| *new != certificate.extra_details) {
        clauses.push(format!(
            "the extra information from {} to {}",
            text(certificate.extra_details.as_deref()),
            text(new.as_deref())
        ));
        certificate.extra_details = new;
    }
    if let Some(new) = extra_emails.filter(|new| *new != certificate.extra_emails) {
        clauses.push(format!(
            "the extra addresses from {} to {}",
            list(certificate.extra_emails.as_deref()),
            list(new.as_deref())
        ));
        certificate.extra_emails = new;
    }
    if let Some(new) = track_expiry.filter(|new| *new != certificate.track_expiry) {
        let whether = if new { "off to on" } else { "on to off" };
        clauses.push(format!("the tracking of its end from {whether}"));
        certificate.track_expiry = new;
    }
    let mut told = Vec::new();
    if !clauses.is_empty() {
        let details = format!("User {user} changed {}", clauses.join("; "));
        told.push((HistoryEvent::DetailsUpdated, details));
    }
    if let Some(new) = renewed.filter(|new| *new != certificate.renewed) {
        let not = if new { "" } else { "not " };
        told.push((HistoryEvent::Renewed, format!("User {user} marked it as {not}renewed")));
        certificate.renewed = new;
    }
    if let Some(new) = team.filter(|new| new.id != certificate.team_id) {
        let old = changed.team_name.as_deref().map_or_else(|| certificate.team_id.to_string(), cut);
        let details = format!("User {user} gave it from the team {old} to the team {}", new.name);
        told.push((HistoryEvent::TeamChanged, details));
        certificate.team_id = new.id;
        changed.team_name = Some(new.name);
    }
    if let Some(new) = owner.filter(|new| new.user_id() != certificate.owner_user_id) {
        let old = &certificate.owner_username;
        let details = format!("User {user} gave it from {old} to {}", new.username());
        told.push((HistoryEvent::OwnerChanged, details));
        certificate.owner_user_id = new.user_id();
        new.username().clone_into(&mut certificate.owner_username);
    }
    (changed, told)
}

/// A text of up to 4 KiB is not told whole.
fn text(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| format!("{:?}", cut(text)))
}

fn list(emails: Option<&[String]>) -> String {
    emails.map_or_else(|| "none".to_owned(), |emails| cut(&emails.join(", ")))
}
