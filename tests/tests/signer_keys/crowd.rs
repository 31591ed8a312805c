//! A taken-over API can't keep the operator from seeing and deciding what waits.

use chancery_shared::wire::MAX_CONTEXT;

use super::*;

const APPROVE: (&str, &str) = ("ca_certificates = \"allow\"", "ca_certificates = \"approve\"");

fn limit(per_hour: u32) -> (&'static str, String) {
    ("approvals_per_hour = 30", format!("approvals_per_hour = {per_hour}"))
}

/// As large as a context may be, of letters that an escape would make larger.
fn with_large_context(mut request: Request) -> Request {
    if let Request::SignCaCertificate(sign) = &mut request {
        let text = "\u{202e}".repeat((MAX_CONTEXT - 16) / 3);
        sign.context = [("a", text)].into_iter().collect();
    }
    request
}

fn listed(home: &SignerHome) -> anyhow::Result<Vec<operator::Parked>> {
    match home.operator(&operator::Request::Pending(Nothing {}))? {
        Outcome::Done(operator::Reply::Pending(list)) => Ok(list),
        other => anyhow::bail!("{other:?}"),
    }
}

#[test]
fn as_many_large_requests_as_may_wait_are_listed_shown_and_decided() -> anyhow::Result<()> {
    let (none, off) = limit(0);
    let (home, mut peer, ca) = started(&[APPROVE, (none, &off)])?;
    let mut asked = Vec::new();
    for _ in 0..100 {
        let request = with_large_context(subordinate(&mut peer, &ca)?);
        asked.push((parked(&mut peer, &request)?, request));
    }
    let head = home.status()?.journal_head;

    // One more is refused, and the journal does not say that it waits.
    let one_more = subordinate(&mut peer, &ca)?;
    assert_eq!(peer.refused(&one_more)?.code, RefusalCode::Busy);
    let since = events_since(&mut peer, head.seq)?;
    assert!(matches!(since.as_slice(), [Event::Refused { .. }]), "{since:?}");

    let list = listed(&home)?;
    let (ids, requests): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
    assert_eq!(list.iter().map(|parked| parked.approval_id).collect::<Vec<_>>(), ids);
    let show = operator::Request::Show(Decision { approval_id: ids[99] });
    let Outcome::Done(operator::Reply::Shown(shown)) = home.operator(&show)? else {
        panic!("not shown");
    };
    assert_eq!((&shown.parked, &shown.status), (&list[99], &ApprovalStatus::Waiting));
    assert_eq!(shown.request, requests[99]);
    approve(&home, ids[99])?;
    assert_eq!(listed(&home)?.len(), 99);
    Ok(())
}

#[test]
fn requests_for_the_operator_are_limited_in_an_hour_and_what_is_over_is_not_parked()
-> anyhow::Result<()> {
    let (thirty, two) = limit(2);
    let (home, mut peer, ca) = started(&[APPROVE, (thirty, &two)])?;
    for _ in 0..2 {
        let request = subordinate(&mut peer, &ca)?;
        parked(&mut peer, &request)?;
    }

    let third = subordinate(&mut peer, &ca)?;
    let refused = peer.refused(&third)?;

    assert_eq!(refused.code, RefusalCode::RateLimited);
    assert!(refused.retry_after_ms.is_some());
    assert_eq!(home.status()?.pending, 2);
    Ok(())
}

#[test]
fn the_tool_shows_what_would_be_signed_before_it_is_approved() -> anyhow::Result<()> {
    let (home, mut peer, ca) = started(&[APPROVE])?;
    let request = subordinate(&mut peer, &ca)?;
    let approval_id = parked(&mut peer, &request)?.to_string();

    let said = |arguments: &[&str]| -> anyhow::Result<String> {
        let output = home.hsm(arguments).output()?;
        anyhow::ensure!(output.status.success(), "{output:?}");
        Ok(String::from_utf8(output.stdout)?)
    };

    assert!(said(&["pending"])?.contains(&approval_id));
    let shown = said(&["show", &approval_id])?;
    for line in [
        "subject: CN=Subordinate CA",
        "issuer: CN=Key Root",
        "CA: yes, with any number of CAs below it (critical)",
        "key usage: KeyCertSign, CRLSign (critical)",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    Ok(())
}

#[test]
fn an_approval_is_not_used_up_by_a_spent_budget() -> anyhow::Result<()> {
    // One for the root's own certificate, one for the request that is parked.
    let (mut home, mut peer, ca) =
        started(&[APPROVE, ("budget_per_minute = 0", "budget_per_minute = 2")])?;
    let request = subordinate(&mut peer, &ca)?;
    let approval_id = parked(&mut peer, &request)?;
    let head = home.status()?.journal_head;

    let refused = home.operator(&operator::Request::Approve(Decision { approval_id }))?;

    assert!(matches!(&refused, Outcome::Refused(r) if r.code == RefusalCode::Busy), "{refused:?}");
    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Waiting);
    // The journal says what became of the operator's yes.
    let since = events_since(&mut peer, head.seq)?;
    assert!(
        matches!(since.as_slice(), [Event::Approved { .. }, Event::Refused { .. }]),
        "{since:?}"
    );
    // A budget is as fresh as the signer.
    home.stop()?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    approve(&home, approval_id)?;
    assert!(matches!(
        fate(&mut peer, approval_id)?,
        ApprovalStatus::Approved { signature: Some(_) }
    ));
    Ok(())
}
