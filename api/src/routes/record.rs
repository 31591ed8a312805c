//! From the row of a certificate to the record that the interface shows.

use std::fmt::Display;

use time::OffsetDateTime;

use super::json::certificate::{CertificateRecord, CertificateStatus, HistoryRecord};
use crate::app::AppState;
use crate::certificate::fields::NotACertificate;
use crate::certificate::{self, CertificateFacts};
use crate::inventory::view::InventoryView;
use crate::packaging::pem;
use crate::settings::Retention;
use crate::store::StoreError;
use crate::store::certificate::{HistoryEntry, StoredCertificate};
use crate::timestamp;

/// What a record depends on beside its row.
#[derive(Clone, Copy, Debug)]
pub struct AsOf {
    /// When.
    pub now: OffsetDateTime,
    /// Until when a key is kept.
    pub retention: Retention,
}

impl AsOf {
    /// As it is now, under the settings of this view. To be asked for before anything is changed.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn now(state: &AppState, view: &InventoryView) -> Result<Self, StoreError> {
        Ok(Self { now: state.clock.now(), retention: view.settings().await?.retention })
    }
}

impl CertificateRecord {
    /// The record of a row as it stands then.
    ///
    /// # Errors
    ///
    /// The stored bytes are no certificate.
    pub fn new(stored: &StoredCertificate, as_of: AsOf) -> Result<Self, NotACertificate> {
        let AsOf { now, retention } = as_of;
        let StoredCertificate { certificate: row, team_name, cert_issuer_name, history } = stored;
        let facts = CertificateFacts::read(&row.der)?;
        let has_expired = certificate::is_over(row.not_after, now);
        let status = match (row.revoked, has_expired, row.renewed) {
            (true, ..) => CertificateStatus::Revoked,
            (_, true, _) => CertificateStatus::Expired,
            (.., true) => CertificateStatus::Renewed,
            _ => CertificateStatus::Active,
        };
        Ok(Self {
            id: row.id.to_string(),
            ca_id: text(row.cert_issuer_id.as_ref()),
            local_ca_id: text(row.local_ca_id.as_ref()),
            csr_id: text(row.csr_id.as_ref()),
            pem_cert: pem::certificate(&row.der),
            common_name: facts.recorded.common_name,
            subject_dn: facts.recorded.subject_dn,
            issuer_dn: facts.recorded.issuer_dn,
            issuer_cert_id: text(row.issuer_certificate_id.as_ref()),
            serial_number: facts.recorded.serial_number,
            signature_algorithm: facts.signature_algorithm,
            hash_algorithm: facts.hash_algorithm.to_owned(),
            key_usages: texts(&facts.key_usages),
            enhanced_key_usages: texts(&facts.extended_key_usages),
            subject_alternative_names: facts.recorded.subject_alt_names,
            valid_from: timestamp::with_offset(facts.recorded.not_before),
            valid_to: timestamp::with_offset(facts.recorded.not_after),
            valid_from_str: timestamp::plain(facts.recorded.not_before),
            valid_to_str: timestamp::plain(facts.recorded.not_after),
            owner_user_id: row.owner_user_id.to_string(),
            owner_username: row.owner_username.clone(),
            team_id: row.team_id.to_string(),
            active: !row.revoked && !has_expired,
            renewed: row.renewed,
            renewed_by_cert_id: text(row.renewed_by_certificate_id.as_ref()),
            renews_cert_id: text(row.renews_certificate_id.as_ref()),
            revoked: row.revoked,
            history: history.iter().map(HistoryRecord::from).collect(),
            extra_details: row.extra_details.clone(),
            extra_emails: row.extra_emails.clone(),
            track_expiry: row.track_expiry,
            is_ca: facts.recorded.is_ca,
            // A key is kept from the moment that the record bears.
            has_key_data: row.has_key_data && !retention.is_over(row.created_at, now),
            imported: row.imported_at.is_some(),
            import_time: row.imported_at.map(timestamp::with_offset),
            aias: facts.aias,
            cdps: facts.cdps,
            thumbprint: facts.recorded.thumbprint,
            policies: texts(&facts.policies),
            key_size: facts.key_size,
            ecc_curve: facts.ecc_curve,
            ms_template_name: row.ms_template_name.clone().or(facts.recorded.ms_template_name),
            days_to_expiry: days_between(now, facts.recorded.not_after),
            status,
            revocation_time: row.revoked_at.map(timestamp::with_offset),
            revocation_reason: row.revocation_reason.clone(),
            issuer_name: cert_issuer_name.clone(),
            team_name: team_name.clone(),
        })
    }
}

impl From<&HistoryEntry> for HistoryRecord {
    fn from(entry: &HistoryEntry) -> Self {
        let HistoryEntry { id: _, happened_at, event, details } = entry;
        Self {
            timestamp: timestamp::with_offset(*happened_at),
            timestamp_str: timestamp::plain_with_milliseconds(*happened_at),
            event: event.to_string(),
            details: details.clone(),
        }
    }
}

/// To five places: less than a second.
fn days_between(from: OffsetDateTime, to: OffsetDateTime) -> f64 {
    ((to - from).as_seconds_f64() / 86_400.0 * 1e5).round() / 1e5
}

fn text(id: Option<&impl Display>) -> Option<String> {
    id.map(ToString::to_string)
}

fn texts(items: &[impl Display]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
pub(crate) mod odd;
#[cfg(test)]
mod tests;
