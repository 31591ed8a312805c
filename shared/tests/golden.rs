//! The wire and the journal, byte for byte: each file of `golden` is read, and written again as
//! it was. A change that alters one is a new version once the first release is out.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

use std::path::PathBuf;

use chancery_shared::bytes::{Bytes, Fixed};
use chancery_shared::id::Id;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::journal::{Entry, Event, Intent, KeyEvent};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::*;
use chancery_shared::wire::{
    Context, JournalHead, Outcome, Refusal, RefusalCode, ReplyEnvelope, operator,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use time::macros::datetime;

fn id<Kind>() -> Id<Kind> {
    Id::from_bytes(*b"\x65\x65\x65\x65abcdefgh")
}

fn context() -> Context {
    [("requestId", "r-1")].into_iter().collect()
}

fn head() -> JournalHead {
    JournalHead { signer_id: id(), seq: 7, hash: Fixed([0xab; 32]) }
}

fn change() -> KeyChange {
    KeyChange { key_id: id(), reason: "the CA was deleted".into(), context: context() }
}

fn requests() -> Vec<(&'static str, Request)> {
    let (tbs, csr, serial_nonce) = (Bytes(vec![0x30, 0]), Bytes(vec![0x30, 1]), Fixed([1; 40]));
    let context = context();
    let (key_id, token) = (id(), "SoftHSM2".to_owned());
    vec![
        ("hello", Request::Hello(Hello { journal_heads: vec![head()] })),
        (
            "create-ca-key",
            Request::CreateCaKey(CreateCaKey {
                token: token.clone(),
                key_algorithm: KeyAlgorithm::Rsa3072,
                signature_algorithm: SignatureAlgorithm::RsaPssSha384,
                role: KeyRole::Ca,
                policy: Some(Policy::shipped()),
                context: context.clone(),
            }),
        ),
        (
            "sign-own-certificate",
            Request::SignOwnCertificate(SignOwnCertificate {
                key_id,
                tbs: tbs.clone(),
                serial_nonce,
                context: context.clone(),
            }),
        ),
        (
            "sign-ca-certificate",
            Request::SignCaCertificate(SignCaCertificate {
                key_id,
                tbs: tbs.clone(),
                csr: None,
                serial_nonce,
                context: context.clone(),
            }),
        ),
        (
            "sign-certificate",
            Request::SignCertificate(SignCertificate {
                key_id,
                tbs: tbs.clone(),
                csr,
                serial_nonce,
                context: context.clone(),
            }),
        ),
        (
            "install-ca-certificate",
            Request::InstallCaCertificate(InstallCaCertificate {
                key_id,
                chain: vec![tbs.clone()],
                context: context.clone(),
            }),
        ),
        ("disable-key", Request::DisableKey(change())),
        ("enable-key", Request::EnableKey(change())),
        ("destroy-key", Request::DestroyKey(change())),
        ("approval-status", Request::ApprovalStatus(ApprovalQuery { approval_id: id() })),
        (
            "seal",
            Request::Seal(Seal {
                token: token.clone(),
                bytes: vec![7; 32].into(),
                context: context.clone(),
            }),
        ),
        ("unseal", Request::Unseal(Unseal { token, blob: tbs, context })),
        ("read-journal", Request::ReadJournal(ReadJournal { after: 41 })),
    ]
}

fn replies() -> Vec<(&'static str, Reply)> {
    let key = KeySummary {
        key_id: id(),
        token: "SoftHSM2".into(),
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        role: KeyRole::Ca,
        state: KeyState::Live,
        has_ca_certificate: true,
        is_missing: true,
    };
    let token = TokenSummary {
        name: "SoftHSM2".into(),
        model: "SoftHSM v2".into(),
        serial: "0011223344556677".into(),
        state: TokenState::Recovering,
        message: "the token is being opened again".into(),
        key_algorithms: KeyAlgorithm::ALL.into(),
        used_keys: 2,
        max_keys: 100,
        unknown_keys: 1,
    };
    let hello = HelloReply {
        signer_id: id(),
        boot_id: "00112233".into(),
        connection_nonce: Fixed([2; 16]),
        journal_head: Some(head()),
        halted: None,
        tokens: vec![token],
        keys: vec![key],
        ceiling: Policy::shipped(),
        destroy_awaits_operator: true,
    };
    let signature = Some(Bytes(vec![1, 2, 3]));
    vec![
        ("hello", Reply::Hello(Box::new(hello))),
        ("key-created", Reply::KeyCreated(KeyCreated { key_id: id(), spki: Bytes(vec![0x30]) })),
        ("signed", Reply::Signed(Signed { signature: Bytes(vec![1, 2, 3]) })),
        ("pending", Reply::Pending(Pending { approval_id: id() })),
        ("key-changed", Reply::KeyChanged(KeyChanged { state: KeyState::Disabled })),
        ("approval-waiting", Reply::Approval(ApprovalStatus::Waiting)),
        ("approval-approved", Reply::Approval(ApprovalStatus::Approved { signature })),
        ("sealed", Reply::Sealed(Sealed { blob: Bytes(vec![9; 4]) })),
        ("unsealed", Reply::Unsealed(Unsealed { bytes: vec![7; 32].into() })),
        ("journal", Reply::Journal(JournalPart { entries: vec!["{\"seq\":1}".into()] })),
    ]
}

fn events() -> Vec<(&'static str, Event)> {
    let key_event =
        KeyEvent { key_id: id(), reason: "the CA was deleted".into(), context: context() };
    vec![
        (
            "intent",
            Event::Intent(Box::new(Intent {
                operation: "sign-certificate".into(),
                key_id: id(),
                tbs: Bytes(vec![0x30, 0]),
                csr: Some(Bytes(vec![0x30, 1])),
                serial_nonce: Fixed([1; 40]),
                approval_id: None,
                context: context(),
            })),
        ),
        (
            "signed",
            Event::Signed {
                intent: 6,
                key_id: id(),
                serial_number: "40".into(),
                signature: Bytes(vec![1]),
            },
        ),
        ("abandoned", Event::Abandoned { intent: 6, reason: "the worker was lost".into() }),
        ("key-disabled", Event::KeyDisabled(key_event)),
        (
            "segment-opened-above-a-gap",
            Event::SegmentOpened {
                signer_id: id(),
                open_intents: vec![3],
                last_keyring_change: 2,
                lost_after: Some(4),
            },
        ),
        ("refusals-omitted", Event::RefusalsOmitted { count: 940 }),
        ("journal-accepted", Event::JournalAccepted { missing: head(), operator_uid: 0 }),
    ]
}

/// Compares with the file, or writes it where `CHANCERY_WRITE_GOLDEN` is set and it is new.
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(name: &str, value: &T) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.json"));
    let text = format!("{}\n", serde_json::to_string_pretty(value).unwrap());
    if std::env::var_os("CHANCERY_WRITE_GOLDEN").is_some() && !path.exists() {
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));

    assert_eq!(text, golden, "{name} is written as its golden file");
    assert_eq!(&serde_json::from_str::<T>(&golden).unwrap(), value, "{name} is read back");
}

#[test]
fn every_request_is_written_and_read_as_its_golden_file() {
    for (name, request) in requests() {
        check(&format!("v1/request-{name}"), &request);
    }
}

#[test]
fn every_reply_is_written_and_read_as_its_golden_file() {
    for (id, (name, reply)) in (1..).zip(replies()) {
        let journal = (name == "signed").then(head);
        let outcome = Outcome::Done(reply);
        check(
            &format!("v1/reply-{name}"),
            &ReplyEnvelope { version: VERSION, id: Some(id), journal, outcome },
        );
    }
}

#[test]
fn a_refusal_is_written_and_read_as_its_golden_file() {
    let refusal = Refusal {
        code: RefusalCode::PolicyViolation,
        rule: Some("tbs.issuer".into()),
        detail: "the issuer is not this CA's subject".into(),
        retry_after_ms: None,
    };
    let outcome: Outcome<Reply> = Outcome::Refused(refusal);
    check(
        "v1/reply-refused",
        &ReplyEnvelope { version: VERSION, id: None, journal: None, outcome },
    );
}

#[test]
fn journal_entries_are_written_and_read_as_their_golden_files() {
    for (name, event) in events() {
        let time = datetime!(2026-11-28 02:03:04.005 UTC);
        check(&format!("v1/entry-{name}"), &Entry { seq: 7, time, prev: Fixed([0; 32]), event });
    }
}

#[test]
fn a_request_with_an_unknown_field_or_operation_is_refused() {
    for text in [
        r#"{"hello":{"journalHeads":[],"extra":1}}"#,
        r#"{"approval-status":{"approvalId":"656565656162636465666768","force":true}}"#,
        r#"{"read-journal":{}}"#,
        r#"{"read-journal":{"after":-1}}"#,
        r#"{"sign-bytes":{"bytes":""}}"#,
        r#"{"hello":{},"read-journal":{"after":1}}"#,
        r#""hello""#,
    ] {
        assert!(serde_json::from_str::<Request>(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<operator::Request>(r#"{"status":{"x":1}}"#).is_err());
}
