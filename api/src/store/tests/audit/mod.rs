//! The audit and its chains.

mod entries;
mod plans;
mod tampered;

use super::fixtures::audit_entry;
use crate::store::Store;
use crate::store::audit::{AuditSearch, ChainReport, Order, StoredAuditEntry};

pub(super) async fn add(store: &Store, count: usize) {
    for number in 0..count {
        let mut entry = audit_entry("change", "teams");
        entry.object_id = Some(format!("{number:024}"));
        entry.request_id = Some(format!("request {number}"));
        entry.object_name = Some(format!("team {number}"));
        store.add_audit_entries(&[entry]).await.unwrap();
    }
}

pub(super) async fn reports(store: &Store) -> Vec<ChainReport> {
    let (mut reports, mut after) = (Vec::new(), i64::MIN);
    while let Some(report) = store.verify_audit_chain(after).await.unwrap() {
        after = report.chain_no;
        reports.push(report);
    }
    reports
}

pub(super) async fn entries(store: &Store) -> Vec<StoredAuditEntry> {
    let all = AuditSearch::default();
    store.audit_entries(&all, Order::OldestFirst, None, 1000).await.unwrap()
}
