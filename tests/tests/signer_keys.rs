//! The life of a key, and what waits for the operator.

use chancery_shared::bytes::Bytes;
use chancery_shared::id::ApprovalId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::operator::{self, Decision, Nothing};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{
    ApprovalQuery, ApprovalStatus, CreateCaKey, KeyChange, KeyChanged, KeyRole, KeyState, Reply,
    Request, Seal, SignCaCertificate, SignCertificate, TokenState, Unseal,
};
use chancery_shared::wire::{Context, Outcome, RefusalCode};
use chancery_tests::clock::now;
use chancery_tests::forge::der::{boolean, octets, sequence};
use chancery_tests::forge::subject::{SubjectKey, common_name};
use chancery_tests::forge::{Forged, authority, critical, oids, plain};
use chancery_tests::peer::Peer;
use chancery_tests::signer_home::{Ca, SignerHome, own_tbs};

fn started(configure: &[(&str, &str)]) -> anyhow::Result<(SignerHome, Peer, Ca)> {
    let mut home = SignerHome::create(configure)?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let ca = home.create_ca(&mut peer, "Key Root")?;
    Ok((home, peer, ca))
}

fn change(ca: &Ca) -> KeyChange {
    KeyChange { key_id: ca.key_id, reason: "a test".into(), context: Context::default() }
}

fn certificate(peer: &mut Peer, ca: &Ca) -> anyhow::Result<Request> {
    let key = SubjectKey::generate()?;
    let tbs = Forged::ordinary(&ca.issuer(), &key, now());
    let serial_nonce = peer.fresh_nonce();
    Ok(Request::SignCertificate(SignCertificate {
        key_id: ca.key_id,
        tbs: Bytes(tbs.der(&serial_nonce.0)),
        csr: Bytes(key.csr(&common_name("www.example.test"))?),
        serial_nonce,
        context: Context::default(),
    }))
}

/// A CA below `ca`, whose key is outside the signer.
fn subordinate(peer: &mut Peer, ca: &Ca) -> anyhow::Result<Request> {
    let key = SubjectKey::generate()?;
    let subject = common_name("Subordinate CA");
    let mut tbs = own_tbs(ca, now());
    tbs.not_after = chancery_tests::forge::at(now() + time::Duration::days(365));
    tbs.subject.clone_from(&subject);
    tbs.spki.clone_from(&key.spki);
    let identifier = chancery_tests::forge::key_identifier(&key.point);
    tbs.extensions = vec![
        plain(oids::AUTHORITY_KEY_IDENTIFIER, authority(&ca.key_identifier)),
        plain(oids::SUBJECT_KEY_IDENTIFIER, octets(&identifier)),
        critical(oids::BASIC_CONSTRAINTS, sequence(&[boolean(true)])),
        critical(oids::KEY_USAGE, vec![3, 2, 1, 0x06]),
    ];
    let serial_nonce = peer.fresh_nonce();
    Ok(Request::SignCaCertificate(SignCaCertificate {
        key_id: ca.key_id,
        tbs: Bytes(tbs.der(&serial_nonce.0)),
        csr: Some(Bytes(key.csr(&subject)?)),
        serial_nonce,
        context: Context::default(),
    }))
}

fn state(peer: &mut Peer, request: &Request) -> anyhow::Result<KeyState> {
    match peer.ask(request)?.outcome {
        Outcome::Done(Reply::KeyChanged(KeyChanged { state })) => Ok(state),
        other => anyhow::bail!("{other:?}"),
    }
}

fn parked(peer: &mut Peer, request: &Request) -> anyhow::Result<ApprovalId> {
    match peer.ask(request)?.outcome {
        Outcome::Done(Reply::Pending(pending)) => Ok(pending.approval_id),
        other => anyhow::bail!("{other:?}"),
    }
}

fn fate(peer: &mut Peer, approval_id: ApprovalId) -> anyhow::Result<ApprovalStatus> {
    match peer.ask(&Request::ApprovalStatus(ApprovalQuery { approval_id }))?.outcome {
        Outcome::Done(Reply::Approval(status)) => Ok(status),
        other => anyhow::bail!("{other:?}"),
    }
}

#[test]
fn a_disabled_key_signs_nothing_until_it_is_enabled_also_after_a_restart() -> anyhow::Result<()> {
    let (mut home, mut peer, ca) = started(&[])?;

    assert_eq!(state(&mut peer, &Request::DisableKey(change(&ca)))?, KeyState::Disabled);
    home.stop()?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let ask = certificate(&mut peer, &ca)?;
    assert_eq!(peer.refused(&ask)?.code, RefusalCode::KeyState);

    assert_eq!(state(&mut peer, &Request::EnableKey(change(&ca)))?, KeyState::Live);
    let ask = certificate(&mut peer, &ca)?;
    assert!(matches!(peer.ask(&ask)?.outcome, Outcome::Done(Reply::Signed(_))));
    Ok(())
}

#[test]
fn asking_again_for_a_change_that_is_made_changes_nothing() -> anyhow::Result<()> {
    let (_home, mut peer, ca) = started(&[])?;
    for (request, expected) in [
        (Request::EnableKey(change(&ca)), KeyState::Live),
        (Request::DisableKey(change(&ca)), KeyState::Disabled),
        (Request::DisableKey(change(&ca)), KeyState::Disabled),
        (Request::DestroyKey(change(&ca)), KeyState::Destroyed),
        (Request::DestroyKey(change(&ca)), KeyState::Destroyed),
    ] {
        assert_eq!(state(&mut peer, &request)?, expected);
    }
    Ok(())
}

#[test]
fn only_a_disabled_key_is_destroyed_and_a_destroyed_one_never_comes_back() -> anyhow::Result<()> {
    let (_home, mut peer, ca) = started(&[])?;

    assert_eq!(peer.refused(&Request::DestroyKey(change(&ca)))?.code, RefusalCode::KeyState);
    state(&mut peer, &Request::DisableKey(change(&ca)))?;
    state(&mut peer, &Request::DestroyKey(change(&ca)))?;

    for request in [Request::EnableKey(change(&ca)), certificate(&mut peer, &ca)?] {
        assert_eq!(peer.refused(&request)?.code, RefusalCode::KeyState);
    }
    Ok(())
}

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
fn a_ca_certificate_that_could_not_be_read_again_is_not_signed() -> anyhow::Result<()> {
    let mut home = SignerHome::create(&[])?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let oid = chancery_tests::forge::der::oid("1.3.6.1.4.1.99999.7");
    let mapping = sequence(&[sequence(&[oid.clone(), oid])]);

    let refused = home.create_ca_with(
        &mut peer,
        "Mapped Root",
        KeyAlgorithm::EcdsaP256,
        SignatureAlgorithm::EcdsaSha256,
        None,
        &[critical("2.5.29.33", mapping)],
    );

    let told = refused.err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(told.contains("extensions.content"), "{told}");
    Ok(())
}

#[test]
fn a_key_has_a_policy_within_the_ceiling_and_the_token_a_limit() -> anyhow::Result<()> {
    let (_home, mut peer, _ca) = started(&[("max_keys = 100", "max_keys = 2")])?;
    let create = |policy: Option<Policy>, signature_algorithm| {
        Request::CreateCaKey(CreateCaKey {
            token: "SoftHSM2".into(),
            key_algorithm: KeyAlgorithm::EcdsaP384,
            signature_algorithm,
            role: KeyRole::Ca,
            policy,
            context: Context::default(),
        })
    };
    let wide = Policy { max_validity_days: 400, ..Policy::shipped() };

    let beyond = peer.refused(&create(Some(wide), SignatureAlgorithm::EcdsaSha384))?;
    assert_eq!(beyond.rule.as_deref(), Some("policy.beyond-ceiling"));
    let mismatch = peer.refused(&create(None, SignatureAlgorithm::RsaPssSha256))?;
    assert_eq!(mismatch.rule.as_deref(), Some("key.algorithm"));
    assert!(matches!(
        peer.ask(&create(None, SignatureAlgorithm::EcdsaSha384))?.outcome,
        Outcome::Done(Reply::KeyCreated(_))
    ));
    let full = peer.refused(&create(None, SignatureAlgorithm::EcdsaSha384))?;
    assert_eq!(full.code, RefusalCode::KeyLimit);
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

#[test]
fn a_sealed_data_key_opens_again_and_nothing_else_is_sealed_or_opened() -> anyhow::Result<()> {
    let (_home, mut peer, _ca) = started(&[])?;
    let (token, context) = ("SoftHSM2".to_owned(), Context::default());
    let seal = |bytes: Vec<u8>| {
        let (token, context) = (token.clone(), context.clone());
        Request::Seal(Seal { token, bytes: Bytes(bytes), context })
    };
    let unseal = |blob: Bytes| {
        let (token, context) = (token.clone(), context.clone());
        Request::Unseal(Unseal { token, blob, context })
    };

    let sealed = peer.ask(&seal(vec![42; 32]))?;
    let Outcome::Done(Reply::Sealed(sealed)) = sealed.outcome else { panic!("{sealed:?}") };
    let opened = peer.ask(&unseal(sealed.blob.clone()))?;
    let Outcome::Done(Reply::Unsealed(opened)) = opened.outcome else { panic!("{opened:?}") };

    assert_eq!(opened.bytes, Bytes(vec![42; 32]));
    assert_eq!(peer.refused(&seal(vec![42; 31]))?.rule.as_deref(), Some("seal.size"));
    let mut broken = sealed.blob;
    if let Some(last) = broken.0.last_mut() {
        *last ^= 1;
    }
    assert_eq!(peer.refused(&unseal(broken))?.code, RefusalCode::SealBroken);
    Ok(())
}
