//! What was approved and signed is not lost when the signer stops before it says so.

use std::fs;

use anyhow::{Context as _, bail};
use chancery_shared::bytes::{Bytes, Fixed};
use chancery_shared::wire::operator::{self, Decision, Nothing};
use chancery_shared::wire::v1::{
    ApprovalQuery, ApprovalStatus, Reply, Request, SignOwnCertificate,
};
use chancery_shared::wire::{Context, JournalHead, Outcome};
use chancery_tests::clock::now;
use chancery_tests::peer::Peer;
use chancery_tests::signer_ca::own_tbs;
use chancery_tests::signer_home::SignerHome;

/// A signer that stopped between the journal's `signed` and the approval's file, with as many
/// segments begun in the journal since.
fn stopped_before_it_was_told(segments: u64) -> anyhow::Result<(SignerHome, Decision, Bytes)> {
    let mut home = SignerHome::create(&[])?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let ca = home.create_ca(&mut peer, "Approved Root")?;
    // A second certificate for the same key waits for the operator.
    let serial_nonce = peer.fresh_nonce();
    let answer = peer.ask(&Request::SignOwnCertificate(SignOwnCertificate {
        key_id: ca.key_id,
        tbs: Bytes(own_tbs(&ca, now()).der(&serial_nonce.0)),
        serial_nonce,
        context: Context::default(),
    }))?;
    let Outcome::Done(Reply::Pending(pending)) = answer.outcome else { bail!("{answer:?}") };
    let decision = Decision { approval_id: pending.approval_id };
    let before = home.status()?.journal_head.seq;
    let approved = home.operator(&operator::Request::Approve(decision.clone()))?;
    let Outcome::Done(operator::Reply::Approved { signature: Some(signature) }) = approved else {
        bail!("{approved:?}");
    };
    for _ in 0..segments {
        // Above an accepted head a segment begins, however short the one before is.
        let head = home.status()?.journal_head;
        let lost = JournalHead { seq: head.seq + 10, hash: Fixed([1; 32]), ..head };
        Peer::connect_knowing(&home.socket(), vec![lost])?;
        home.operator(&operator::Request::AcceptJournal(Nothing {}))?;
    }
    home.stop()?;
    let file = format!("signer/approvals/{}.json", decision.approval_id);
    let mut stored: serde_json::Value =
        serde_json::from_slice(&fs::read(home.path().join(&file))?)?;
    let fate = stored.pointer_mut("/parked/fate").context("a parked request")?;
    *fate = serde_json::json!({"deciding": {"after": before}});
    fs::write(home.path().join(file), serde_json::to_vec(&stored)?)?;
    Ok((home, decision, signature))
}

#[test]
fn a_start_finds_the_signature_of_an_approved_request_in_whatever_segment_it_is()
-> anyhow::Result<()> {
    for segments in [0, 1, 2] {
        let (mut home, Decision { approval_id }, signature) = stopped_before_it_was_told(segments)?;

        home.start()?;

        let (mut peer, _) = Peer::connect(&home.socket())?;
        let answer = peer.ask(&Request::ApprovalStatus(ApprovalQuery { approval_id }))?;
        let Outcome::Done(Reply::Approval(status)) = answer.outcome else { panic!("{answer:?}") };
        let signature = Some(signature);
        assert_eq!(status, ApprovalStatus::Approved { signature }, "{segments} segments since");
    }
    Ok(())
}
