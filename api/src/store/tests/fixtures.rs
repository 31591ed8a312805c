//! Rows that tests put into a store.

use chancery_shared::bytes::Fixed;
use chancery_shared::id::{CertificateId, CsrId, RowId, SignerId, TeamId, UserId};
use chancery_shared::wire::JournalHead;
use time::OffsetDateTime;
use time::macros::datetime;

use crate::certificate::history::HistoryEvent;
use crate::store::Store;
use crate::store::account::{Account, Group};
use crate::store::audit::AuditEntry;
use crate::store::certificate::{Certificate, HistoryEntry, NewCertificate};
use crate::store::team::Team;

pub(super) const NOW: OffsetDateTime = datetime!(2026-11-28 02:00:00.123 UTC);

pub(super) fn team(number: u8, group: Group) -> Team {
    Team {
        id: TeamId::from_bytes([number; 12]),
        name: format!("Team {number}"),
        description: String::new(),
        internal_group: group,
        dont_send_emails_on_issue: true,
        dont_send_reminder_emails: false,
        ip_white_list: String::new(),
        created_at: NOW,
        created_by: "admin".to_owned(),
    }
}

pub(super) fn account(number: u8) -> Account {
    Account {
        id: UserId::from_bytes([number; 12]),
        username: format!("User{number}"),
        email: format!("user{number}@example.test"),
        group: Group::Users,
        enabled: true,
        must_change_password: false,
        password_hash: "$argon2id$".to_owned(),
        token_version: 1,
        failed_logins: 0,
        delayed_until: OffsetDateTime::UNIX_EPOCH,
        locked: false,
        last_login_at: None,
        last_login_address: None,
        created_at: NOW,
        created_by: "admin".to_owned(),
    }
}

pub(super) async fn insert(store: &Store, team: &Team, accounts: &[&Account]) {
    let mut write = store.begin().await.unwrap();
    write.insert_team(team).await.unwrap();
    for account in accounts {
        write.insert_account(account).await.unwrap();
        write.add_member(team.id, account.id).await.unwrap();
    }
    write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
}

pub(super) fn head(seq: u64) -> JournalHead {
    JournalHead {
        signer_id: SignerId::from_bytes([9; 12]),
        seq,
        hash: Fixed([u8::try_from(seq % 256).unwrap(); 32]),
    }
}

/// The certificate number `number`, journaled as the entry of that number.
pub(super) fn certificate(number: u64) -> NewCertificate {
    let mut id = [0; 12];
    id[4..].copy_from_slice(&number.to_be_bytes());
    NewCertificate {
        certificate: Certificate {
            id: CertificateId::from_bytes(id),
            issuer_key: "aa".repeat(32),
            serial_number: format!("{number:040x}"),
            der: vec![0x30, 0x00],
            thumbprint: "bb".repeat(20),
            common_name: "www.example.test".to_owned(),
            subject_dn: "CN=www.example.test".to_owned(),
            issuer_dn: "CN=Chancery Issuing CA".to_owned(),
            subject_alt_names: vec!["DNS:www.example.test".to_owned()],
            not_before: NOW,
            not_after: NOW + time::Duration::days(397),
            is_ca: false,
            cert_issuer_id: None,
            local_ca_id: None,
            issuer_certificate_id: None,
            csr_id: Some(CsrId::from_bytes(id)),
            owner_user_id: UserId::from_bytes([1; 12]),
            owner_username: "User1".to_owned(),
            team_id: TeamId::from_bytes([1; 12]),
            extra_details: Some("line 1\r\nline 2 \u{1f512}".to_owned()),
            extra_emails: Some(vec!["a@example.test".to_owned()]),
            track_expiry: true,
            renewed: false,
            renewed_by_certificate_id: None,
            renews_certificate_id: None,
            revoked: false,
            revoked_at: None,
            revocation_reason: None,
            has_key_data: false,
            imported_at: None,
            ms_template_name: None,
            journal: Some(head(number)),
            created_at: NOW,
        },
        csr: Some(vec![0x30, 0x01, 0x00]),
        history: vec![HistoryEntry {
            id: RowId::from_bytes(id),
            happened_at: NOW,
            event: HistoryEvent::Created,
            details: "Created by User1 with a CSR".to_owned(),
        }],
        key_data: None,
        audit: AuditEntry {
            object_id: Some(CertificateId::from_bytes(id).to_string()),
            ..audit_entry("issue", "certs")
        },
    }
}

/// An entry of User1.
pub(super) fn audit_entry(action: &'static str, kind: &'static str) -> AuditEntry {
    AuditEntry {
        happened_at: NOW,
        user_id: Some(UserId::from_bytes([1; 12])),
        api_token_id: None,
        username: Some("User1".to_owned()),
        address: Some("192.0.2.1".to_owned()),
        request_id: None,
        action: action.into(),
        object_kind: kind.into(),
        object_id: None,
        object_name: None,
        before: None,
        after: Some("{}".to_owned()),
        result: "ok".into(),
        times: 1,
    }
}
