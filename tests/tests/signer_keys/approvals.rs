//! What waits for the operator, and who decides.

use super::*;

#[test]
fn a_ca_with_cas_below_it_is_destroyed_only_by_the_operator_also_when_those_are_disabled()
-> anyhow::Result<()> {
    let (home, mut peer, root) = started(&[])?;
    let below = home.create_ca_below(&mut peer, &root, "Below CA")?;
    state(&mut peer, &Request::DisableKey(change(&below)))?;
    state(&mut peer, &Request::DisableKey(change(&root)))?;

    let approval_id = parked(&mut peer, &Request::DestroyKey(change(&root)))?;

    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Waiting);
    assert_eq!(state(&mut peer, &Request::DestroyKey(change(&below)))?, KeyState::Destroyed);
    assert_eq!(state(&mut peer, &Request::DestroyKey(change(&root)))?, KeyState::Destroyed);
    Ok(())
}

#[test]
fn a_key_that_is_destroyed_while_it_is_disabled_is_destroyed_with_approval_where_it_is_needed()
-> anyhow::Result<()> {
    let approve = ("destroy = \"allow\"", "destroy = \"approve\"");
    let (home, _peer, ca) = started(&[approve])?;
    // Whichever comes first: destroying a live key is refused, destroying a disabled one waits.
    for _ in 0..20 {
        let socket = home.socket();
        let (disable, destroy) = (change(&ca), change(&ca));
        let ask = |request: Request| {
            let socket = socket.clone();
            std::thread::spawn(move || Peer::connect(&socket)?.0.ask(&request))
        };
        let answers = [ask(Request::DestroyKey(destroy)), ask(Request::DisableKey(disable))];
        for answer in answers {
            let outcome = answer.join().map_err(|_| anyhow::anyhow!("a thread failed"))??.outcome;
            let destroyed = Reply::KeyChanged(KeyChanged { state: KeyState::Destroyed });
            assert!(!matches!(&outcome, Outcome::Done(reply) if *reply == destroyed));
        }
        let (mut peer, _) = Peer::connect(&home.socket())?;
        assert_eq!(state(&mut peer, &Request::EnableKey(change(&ca)))?, KeyState::Live);
    }
    Ok(())
}

#[test]
fn what_waits_already_is_not_parked_again() -> anyhow::Result<()> {
    for (rule, again) in [
        ("enable", Request::EnableKey as fn(KeyChange) -> Request),
        ("destroy", Request::DestroyKey as fn(KeyChange) -> Request),
    ] {
        let (from, to) = (format!("{rule} = \"allow\""), format!("{rule} = \"approve\""));
        let (mut home, mut peer, ca) = started(&[(&from, &to)])?;
        state(&mut peer, &Request::DisableKey(change(&ca)))?;

        let approval_id = parked(&mut peer, &again(change(&ca)))?;
        let other = KeyChange { reason: "another reason".into(), ..change(&ca) };
        assert_eq!(parked(&mut peer, &again(other))?, approval_id);
        home.stop()?;
        home.start()?;
        let (mut peer, _) = Peer::connect(&home.socket())?;

        assert_eq!(parked(&mut peer, &again(change(&ca)))?, approval_id);
        assert_eq!(home.status()?.pending, 1);
    }
    Ok(())
}

#[test]
fn an_enable_that_waits_is_over_once_its_key_is_disabled_or_destroyed() -> anyhow::Result<()> {
    for out in [Request::DisableKey as fn(KeyChange) -> Request, Request::DestroyKey] {
        let approve = ("enable = \"allow\"", "enable = \"approve\"");
        let (mut home, mut peer, ca) = started(&[approve])?;
        state(&mut peer, &Request::DisableKey(change(&ca)))?;
        let approval_id = parked(&mut peer, &Request::EnableKey(change(&ca)))?;

        state(&mut peer, &out(change(&ca)))?;

        assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Expired);
        assert_eq!(home.status()?.pending, 0);
        // Nor does it come back with an older copy of its file.
        home.stop()?;
        edit(&home, approval_id, |parked| parked["fate"] = "waiting".into())?;
        home.start()?;
        let (mut peer, _) = Peer::connect(&home.socket())?;
        let late = home.operator(&operator::Request::Approve(Decision { approval_id }))?;
        assert!(
            matches!(&late, Outcome::Refused(no) if no.code == RefusalCode::ApprovalState),
            "{late:?}"
        );
        assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Expired);
        let request = certificate(&mut peer, &ca)?;
        assert_eq!(peer.refused(&request)?.code, RefusalCode::KeyState);
    }
    Ok(())
}

#[test]
fn a_ca_below_waits_for_the_operator_who_approves_it_once() -> anyhow::Result<()> {
    let approve = ("ca_certificates = \"allow\"", "ca_certificates = \"approve\"");
    let (mut home, mut peer, ca) = started(&[approve])?;
    let request = subordinate(&mut peer, &ca)?;

    let approval_id = parked(&mut peer, &request)?;
    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Waiting);
    // What waits survives a restart.
    home.stop()?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    assert_eq!(home.status()?.pending, 1);
    let decision = Decision { approval_id };
    let approved = home.operator(&operator::Request::Approve(decision.clone()))?;
    let Outcome::Done(operator::Reply::Approved { signature: Some(signature) }) = approved else {
        panic!("{approved:?}");
    };

    assert_eq!(
        fate(&mut peer, approval_id)?,
        ApprovalStatus::Approved { signature: Some(signature) }
    );
    assert!(matches!(
        home.operator(&operator::Request::Approve(decision))?,
        Outcome::Refused(refusal) if refusal.code == RefusalCode::ApprovalState
    ));
    Ok(())
}

#[test]
fn an_approval_is_not_used_up_while_the_token_is_away() -> anyhow::Result<()> {
    let approve = ("ca_certificates = \"allow\"", "ca_certificates = \"approve\"");
    let (home, mut peer, ca) = started(&[approve])?;
    let request = subordinate(&mut peer, &ca)?;
    let approval_id = parked(&mut peer, &request)?;
    let decide = || home.operator(&operator::Request::Approve(Decision { approval_id }));
    let (token, away) = (home.path().join("signer/token"), home.path().join("signer/away"));
    let is_ok = |status: &operator::Status| {
        status.tokens.iter().all(|token| token.summary.state == TokenState::Ok)
    };

    std::fs::rename(&token, &away)?;
    home.wait_for("the token to be missed", |status| !is_ok(status))?;
    let refused = decide()?;
    assert!(
        matches!(&refused, Outcome::Refused(r) if r.code == RefusalCode::TokenUnavailable),
        "{refused:?}"
    );
    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Waiting);

    std::fs::rename(&away, &token)?;
    home.wait_for("the token to be back", is_ok)?;
    assert!(matches!(decide()?, Outcome::Done(operator::Reply::Approved { .. })));
    Ok(())
}

#[test]
fn a_denied_request_is_never_done() -> anyhow::Result<()> {
    let approve = ("ca_certificates = \"allow\"", "ca_certificates = \"approve\"");
    let (home, mut peer, ca) = started(&[approve])?;
    let request = subordinate(&mut peer, &ca)?;
    let approval_id = parked(&mut peer, &request)?;

    home.operator(&operator::Request::Deny(Decision { approval_id }))?;

    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Denied);
    let again = home.operator(&operator::Request::Approve(Decision { approval_id }))?;
    assert!(matches!(again, Outcome::Refused(_)), "{again:?}");
    Ok(())
}

#[test]
fn where_the_operator_denies_ca_certificates_none_is_signed() -> anyhow::Result<()> {
    let deny = ("ca_certificates = \"allow\"", "ca_certificates = \"deny\"");
    let (_home, mut peer, ca) = started(&[deny])?;

    let request = subordinate(&mut peer, &ca)?;

    assert_eq!(peer.refused(&request)?.rule.as_deref(), Some("ca.denied"));
    Ok(())
}

#[test]
fn a_second_own_certificate_waits_for_the_operator() -> anyhow::Result<()> {
    let (home, mut peer, ca) = started(&[])?;
    let serial_nonce = peer.fresh_nonce();
    let request = Request::SignOwnCertificate(chancery_shared::wire::v1::SignOwnCertificate {
        key_id: ca.key_id,
        tbs: Bytes(own_tbs(&ca, now()).der(&serial_nonce.0)),
        serial_nonce,
        context: Context::default(),
    });

    parked(&mut peer, &request)?;

    let Outcome::Done(operator::Reply::Pending(pending)) =
        home.operator(&operator::Request::Pending(Nothing {}))?
    else {
        panic!("no list");
    };
    assert_eq!(pending.len(), 1);
    assert!(pending[0].summary.contains("Key Root"), "{pending:?}");
    Ok(())
}
