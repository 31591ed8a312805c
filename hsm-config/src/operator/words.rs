//! The signer's answers in plain words.

use std::fmt::Write as _;

use chancery_shared::wire::operator::{Parked, Reply, Status, TokenStatus, UnknownObject};
use chancery_shared::wire::v1::KeySummary;
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::shown;

/// A reply as a few lines for a person.
pub(crate) fn words(reply: &Reply) -> String {
    match reply {
        Reply::Status(status) => status_words(status),
        Reply::Pending(parked) if parked.is_empty() => "nothing waits for a decision".to_owned(),
        Reply::Pending(parked) => parked.iter().map(parked_words).collect(),
        Reply::Shown(shown) => shown::words(shown),
        Reply::Approved { .. } => "approved and done".to_owned(),
        Reply::Accepted(_) => "done".to_owned(),
    }
}

fn status_words(status: &Status) -> String {
    let Status {
        signer_id,
        boot_id: _,
        version,
        started_at,
        journal_head,
        journal,
        halted,
        sandbox,
        tokens,
        keys,
        pending,
        unreadable_approvals,
        refusals,
    } = status;
    let mut text = String::new();
    let _ =
        writeln!(text, "signer {signer_id}, version {version}, started {}", moment(*started_at));
    let _ = match halted {
        None => writeln!(text, "signs"),
        Some(refusal) => writeln!(text, "signs nothing: {}", refusal.detail),
    };
    let _ = writeln!(text, "journal at entry {}, hash {}", journal_head.seq, journal_head.hash);
    let _ = writeln!(
        text,
        "written since the start: {} entries, {} bytes, in {} syncs; {} refused by the disk",
        journal.entries, journal.bytes, journal.syncs, journal.failures
    );
    for line in sandbox {
        let _ = writeln!(text, "{line}");
    }
    text.extend(tokens.iter().map(token_words));
    text.extend(keys.iter().map(key_words));
    let _ = writeln!(text, "{pending} waiting for a decision, {refusals} refused since the start");
    if *unreadable_approvals > 0 {
        let _ = writeln!(text, "{unreadable_approvals} parked requests can't be read: see the log");
    }
    text
}

fn token_words(token: &TokenStatus) -> String {
    let TokenStatus {
        summary,
        signatures,
        canary_signatures,
        failures,
        workers_started,
        unknown_objects,
        ..
    } = token;
    let mut text = format!(
        "token {}: {}, {} (serial {}), {} of {} keys, {signatures} signatures, \
         {canary_signatures} health checks, {workers_started} workers started\n",
        summary.name,
        name_of(&summary.state),
        summary.model,
        summary.serial,
        summary.used_keys,
        summary.max_keys,
    );
    if !summary.message.is_empty() {
        let _ = writeln!(text, "  {}", summary.message);
    }
    for (call, count) in failures {
        let _ = writeln!(text, "  {call}: {count}");
    }
    if summary.unknown_keys > 0 {
        let count = summary.unknown_keys;
        let _ = writeln!(text, "  private keys that the keyring does not know: {count}");
    }
    for UnknownObject { id, label } in unknown_objects {
        let _ =
            writeln!(text, "  unknown key {id}, label {}", chancery_shared::text::plain(label, 64));
    }
    text
}

fn key_words(key: &KeySummary) -> String {
    let certificate =
        if key.has_ca_certificate { "has a CA certificate" } else { "has no CA certificate" };
    let missing = if key.is_missing { ", IS NOT ON THE TOKEN" } else { "" };
    format!(
        "key {} on {}: {}, signs with {}, {}, {certificate}{missing}\n",
        key.key_id,
        key.token,
        name_of(&key.key_algorithm),
        name_of(&key.signature_algorithm),
        name_of(&key.state),
    )
}

/// As a list has it.
pub(super) fn parked_words(parked: &Parked) -> String {
    let Parked { approval_id, operation, key_id, parked_at, expires_at, summary } = parked;
    format!(
        "{approval_id}  {operation} by key {key_id}\n  {summary}\n  \
         asked {}, expires {}\n",
        moment(*parked_at),
        moment(*expires_at),
    )
}

/// As the journal and the log write it. RFC 3339 can't express years past 9999; the clock can't
/// show them.
fn moment(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).unwrap_or_default()
}

/// The name that the wire and the configuration use, so that what is read can be searched for.
fn name_of(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_halted_signer_says_so_first() {
        let status = serde_json::json!({"status": {
            "signerId": "65656565abababababababab", "bootId": "b", "version": "0.1.0",
            "startedAt": "2026-11-28T01:02:03Z",
            "journalHead": {"signerId": "65656565abababababababab", "seq": 7, "hash": "00".repeat(32)},
            "journal": {"entries": 5, "bytes": 4321, "syncs": 3, "failures": 0},
            "halted": {"code": "clock-jumped", "detail": "the clock jumped by 9 minutes"},
            "sandbox": ["Landlock confines signer and workers"],
            "tokens": [{"name": "SoftHSM2", "model": "SoftHSM v2", "serial": "12ab",
                "state": "absent", "message": "no slot has the label chancery",
                "keyAlgorithms": [], "usedKeys": 2, "maxKeys": 100, "signatures": 5,
                "canarySignatures": 6, "trialSignatures": 2, "failures": {"CKR_GENERAL_ERROR": 1},
                "workersStarted": 3, "epochs": 4, "workerPid": null}],
            "keys": [{"keyId": "65656565cdcdcdcdcdcdcdcd", "token": "SoftHSM2",
                "keyAlgorithm": "ecdsa-p256", "signatureAlgorithm": "ecdsa-sha256", "role": "ca",
                "state": "live", "hasCaCertificate": true}],
            "pending": 1, "unreadableApprovals": 0, "refusals": 2}});

        let text = words(&serde_json::from_value(status).unwrap());

        let expected = [
            "signer 65656565abababababababab, version 0.1.0, started 2026-11-28T01:02:03Z",
            "signs nothing: the clock jumped by 9 minutes",
            &format!("journal at entry 7, hash {}", "00".repeat(32)),
            "written since the start: 5 entries, 4321 bytes, in 3 syncs; 0 refused by the disk",
            "Landlock confines signer and workers",
            "token SoftHSM2: absent, SoftHSM v2 (serial 12ab), 2 of 100 keys, 5 signatures, \
             6 health checks, 3 workers started",
            "  no slot has the label chancery",
            "  CKR_GENERAL_ERROR: 1",
            "key 65656565cdcdcdcdcdcdcdcd on SoftHSM2: ecdsa-p256, signs with ecdsa-sha256, live, \
             has a CA certificate",
            "1 waiting for a decision, 2 refused since the start",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
