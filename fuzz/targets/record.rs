//! The record of a certificate from anywhere, as JSON.
#![no_main]

use chancery_api::routes::json::certificate::CertificateRecord;
use chancery_api::routes::record::AsOf;
use chancery_api::settings::{Period, Retention, TimeUnit};
use chancery_api::store::certificate::{Certificate, StoredCertificate};
use chancery_fuzz::within_bounds;
use chancery_shared::id::Id;
use libfuzzer_sys::fuzz_target;
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-11-28 12:00:00 UTC);

fuzz_target!(|input: &[u8]| {
    let stored = stored(input.to_vec());
    let as_of = AsOf {
        now: NOW,
        retention: Retention {
            period: Period { value: 1, unit: TimeUnit::Days },
            over_at_change: None,
        },
    };
    within_bounds(|| match CertificateRecord::new(&stored, as_of) {
        Ok(record) => assert!(serde_json::to_string(&record).unwrap().starts_with("{\"id\":")),
        Err(refused) => assert!(!refused.to_string().is_empty()),
    });
});

/// A row that says nothing of its own.
fn stored(der: Vec<u8>) -> StoredCertificate {
    let id = [1; 12];
    let certificate = Certificate {
        id: Id::from_bytes(id),
        issuer_key: String::new(),
        serial_number: String::new(),
        der,
        thumbprint: String::new(),
        common_name: String::new(),
        subject_dn: String::new(),
        issuer_dn: String::new(),
        subject_alt_names: Vec::new(),
        not_before: NOW,
        not_after: NOW,
        is_ca: false,
        cert_issuer_id: None,
        local_ca_id: None,
        issuer_certificate_id: None,
        csr_id: None,
        owner_user_id: Id::from_bytes(id),
        owner_username: String::new(),
        team_id: Id::from_bytes(id),
        extra_details: None,
        extra_emails: None,
        track_expiry: false,
        renewed: false,
        renewed_by_certificate_id: None,
        renews_certificate_id: None,
        revoked: false,
        revoked_at: None,
        revocation_reason: None,
        has_key_data: false,
        imported_at: None,
        ms_template_name: None,
        journal: None,
        created_at: NOW,
    };
    StoredCertificate { certificate, team_name: None, cert_issuer_name: None, history: Vec::new() }
}
