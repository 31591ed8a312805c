//! Live, disabled, destroyed, and what a key may be.

use anyhow::Context as _;

use super::*;

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
fn a_key_that_is_out_of_use_gets_no_ca_certificate() -> anyhow::Result<()> {
    let (home, mut peer, root) = started(&[])?;
    let (algorithm, signature) = (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256);
    let below = home.create_key(&mut peer, "Below", algorithm, signature, None)?;
    state(&mut peer, &Request::DisableKey(change(&below)))?;

    let (request, _) = SignerHome::certify_below(&mut peer, &root, &below);
    assert_eq!(peer.refused(&request)?.code, RefusalCode::KeyState);

    state(&mut peer, &Request::EnableKey(change(&below)))?;
    let (request, _) = SignerHome::certify_below(&mut peer, &root, &below);
    assert!(matches!(peer.ask(&request)?.outcome, Outcome::Done(Reply::Signed(_))));
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
    assert!(told.contains("extensions.critical-in-ca"), "{told}");
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
fn a_sealed_data_key_opens_again_and_nothing_else_is_sealed_or_opened() -> anyhow::Result<()> {
    let (_home, mut peer, _ca) = started(&[])?;
    let (token, context) = ("SoftHSM2".to_owned(), Context::default());
    let seal = |bytes: Vec<u8>| {
        let (token, context) = (token.clone(), context.clone());
        Request::Seal(Seal { token, bytes: bytes.into(), context })
    };
    let unseal = |blob: Bytes| {
        let (token, context) = (token.clone(), context.clone());
        Request::Unseal(Unseal { token, blob, context })
    };

    let sealed = peer.ask(&seal(vec![42; 32]))?;
    let Outcome::Done(Reply::Sealed(sealed)) = sealed.outcome else { panic!("{sealed:?}") };
    let opened = peer.ask(&unseal(sealed.blob.clone()))?;
    let Outcome::Done(Reply::Unsealed(opened)) = opened.outcome else { panic!("{opened:?}") };

    assert_eq!(opened.bytes.expose(), [42; 32]);
    assert_eq!(peer.refused(&seal(vec![42; 31]))?.rule.as_deref(), Some("seal.size"));
    let mut broken = sealed.blob;
    if let Some(last) = broken.0.last_mut() {
        *last ^= 1;
    }
    assert_eq!(peer.refused(&unseal(broken))?.code, RefusalCode::SealBroken);
    Ok(())
}

#[test]
fn nothing_of_a_key_is_begun_or_left_open_in_the_journal_once_it_is_disabled() -> anyhow::Result<()>
{
    let (home, mut peer, ca) = started(&[])?;
    let (began, signing) = std::sync::mpsc::channel();
    let sign_until_refused = || {
        let (socket, ca, began) = (home.socket(), ca.clone(), began.clone());
        std::thread::spawn(move || -> anyhow::Result<RefusalCode> {
            let (mut peer, _) = Peer::connect(&socket)?;
            loop {
                let request = certificate(&mut peer, &ca)?;
                match peer.ask(&request)?.outcome {
                    Outcome::Refused(refusal) => return Ok(refusal.code),
                    Outcome::Done(_) => began.send(())?,
                }
            }
        })
    };

    let signers: Vec<_> = (0..4).map(|_| sign_until_refused()).collect();
    signing.iter().take(20).for_each(drop);
    state(&mut peer, &Request::DisableKey(change(&ca)))?;

    for signer in signers {
        let refused = signer.join().map_err(|_| anyhow::anyhow!("a thread failed"))??;
        assert_eq!(refused, RefusalCode::KeyState);
    }
    let segment = home.path().join("signer/journal/00000000000000000001.journal");
    let text = String::from_utf8_lossy(&std::fs::read(segment)?).into_owned();
    let (before, after) = text.split_once("\"key-disabled\"").context("no entry")?;
    let (intent, signed) = ("\"intent\":{", "\"signed\":{");
    let counts = [intent, signed].map(|event| before.matches(event).count());
    assert!(counts[0] == counts[1] && counts[0] > 20, "{counts:?}");
    assert!(!after.contains("\"intent\"") && !after.contains("\"signed\""), "{after}");
    Ok(())
}
