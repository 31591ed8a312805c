//! A decision that was cut off by a crash is what the journal says it is.

use super::installing::Anchor;
use super::*;

/// Puts the approval's file back to where it was while the operator's word was being carried out,
/// as a crash leaves it, and starts the signer again.
fn cut_off(home: &mut SignerHome, approval_id: ApprovalId, after: u64) -> anyhow::Result<Peer> {
    home.stop()?;
    edit(home, approval_id, |parked| {
        parked["fate"] = serde_json::json!({"deciding": {"after": after}});
    })?;
    home.start()?;
    Ok(Peer::connect(&home.socket())?.0)
}

/// What is asked for, whatever it needs before, parked.
type Ask = fn() -> anyhow::Result<(SignerHome, Peer, ApprovalId)>;

fn enable() -> anyhow::Result<(SignerHome, Peer, ApprovalId)> {
    let (home, mut peer, ca) = started(&[("enable = \"allow\"", "enable = \"approve\"")])?;
    state(&mut peer, &Request::DisableKey(change(&ca)))?;
    let approval_id = parked(&mut peer, &Request::EnableKey(change(&ca)))?;
    Ok((home, peer, approval_id))
}

fn destroy() -> anyhow::Result<(SignerHome, Peer, ApprovalId)> {
    let (home, mut peer, ca) = started(&[("destroy = \"allow\"", "destroy = \"approve\"")])?;
    state(&mut peer, &Request::DisableKey(change(&ca)))?;
    let approval_id = parked(&mut peer, &Request::DestroyKey(change(&ca)))?;
    Ok((home, peer, approval_id))
}

fn install() -> anyhow::Result<(SignerHome, Peer, ApprovalId)> {
    let (anchor, home, mut peer, ca) = Anchor::trusted()?;
    let approval_id = parked(&mut peer, &anchor.install(&ca, 200)?)?;
    Ok((home, peer, approval_id))
}

fn sign() -> anyhow::Result<(SignerHome, Peer, ApprovalId)> {
    let approve = ("ca_certificates = \"allow\"", "ca_certificates = \"approve\"");
    let (home, mut peer, ca) = started(&[approve])?;
    let request = subordinate(&mut peer, &ca)?;
    let approval_id = parked(&mut peer, &request)?;
    Ok((home, peer, approval_id))
}

const EACH: [Ask; 4] = [enable, destroy, install, sign];

#[test]
fn what_was_approved_and_done_is_approved_after_the_next_start() -> anyhow::Result<()> {
    for ask in EACH {
        let (mut home, mut peer, approval_id) = ask()?;
        let before = home.status()?.journal_head.seq;
        approve(&home, approval_id)?;
        let approved = fate(&mut peer, approval_id)?;
        assert!(matches!(approved, ApprovalStatus::Approved { .. }));

        let mut peer = cut_off(&mut home, approval_id, before)?;

        assert_eq!(fate(&mut peer, approval_id)?, approved);
    }
    Ok(())
}

#[test]
fn what_was_approved_and_not_done_waits_again_after_the_next_start() -> anyhow::Result<()> {
    for ask in EACH {
        let (mut home, _, approval_id) = ask()?;
        let before = home.status()?.journal_head.seq;

        let mut peer = cut_off(&mut home, approval_id, before)?;

        assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Waiting);
        approve(&home, approval_id)?;
        assert!(matches!(fate(&mut peer, approval_id)?, ApprovalStatus::Approved { .. }));
    }
    Ok(())
}

#[test]
fn what_was_denied_stays_denied_after_the_next_start() -> anyhow::Result<()> {
    let (mut home, _, approval_id) = sign()?;
    let before = home.status()?.journal_head.seq;
    home.operator(&operator::Request::Deny(Decision { approval_id }))?;

    let mut peer = cut_off(&mut home, approval_id, before)?;

    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Denied);
    Ok(())
}

/// An older copy of the approvals came back: what was decided seems to wait.
#[test]
fn what_was_done_or_denied_is_not_done_again_from_an_older_copy_of_the_approval()
-> anyhow::Result<()> {
    let deny: fn(ApprovalId) -> operator::Request =
        |approval_id| operator::Request::Deny(Decision { approval_id });
    let approve: fn(ApprovalId) -> operator::Request =
        |approval_id| operator::Request::Approve(Decision { approval_id });
    for ask in EACH {
        for (first, then) in [(approve, approve), (approve, deny), (deny, approve), (deny, deny)] {
            let (mut home, mut peer, approval_id) = ask()?;
            home.operator(&first(approval_id))?;
            let decided = fate(&mut peer, approval_id)?;
            home.stop()?;
            edit(&home, approval_id, |parked| parked["fate"] = "waiting".into())?;
            home.start()?;
            let before = home.status()?.journal_head.seq;

            let second = home.operator(&then(approval_id))?;

            let Outcome::Refused(refusal) = second else { anyhow::bail!("{second:?}") };
            assert_eq!(refusal.code, RefusalCode::ApprovalState);
            let mut peer = Peer::connect(&home.socket())?.0;
            assert_eq!(fate(&mut peer, approval_id)?, decided);
            let since = events_since(&mut peer, before)?;
            let is_decision = |event: &Event| {
                matches!(event, Event::Approved { .. } | Event::Denied { .. } | Event::Intent(_))
            };
            assert!(!since.iter().any(is_decision), "{since:?}");
        }
    }
    Ok(())
}
