//! A peer with the right uid sends the signer what policy forbids: each is refused by the name of
//! its rule, and the token's counter shows that nothing of it was signed.

mod finer;
mod forgeries;
mod scene;

use chancery_shared::bytes::{Bytes, SerialNonce};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{Reply, Request, SignCertificate};
use chancery_shared::wire::{Outcome, RefusalCode};
use chancery_tests::clock::now;
use chancery_tests::forge::der::{context, integer, sequence};
use chancery_tests::forge::subject::{SubjectKey, common_name};
use chancery_tests::forge::{critical, dns, oids};
use chancery_tests::peer::Peer;
use chancery_tests::signer_ca::Ca;
use chancery_tests::signer_home::SignerHome;

use crate::finer::FINER;
use crate::forgeries::FORGERIES;
use crate::scene::Scene;

fn request(ca: &Ca, tbs: Vec<u8>, csr: &[u8], serial_nonce: SerialNonce) -> Request {
    Request::SignCertificate(SignCertificate {
        key_id: ca.key_id,
        tbs: Bytes(tbs),
        csr: Bytes(csr.to_vec()),
        serial_nonce,
        context: [("requestId", "forged")].into_iter().collect(),
    })
}

fn set_up() -> anyhow::Result<(SignerHome, Peer, Scene)> {
    let mut home = SignerHome::create(&[])?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let ca = home.create_ca(&mut peer, "Forged Root")?;
    let constraints = sequence(&[
        context(0, &[sequence(&[dns("example.test")])]),
        context(1, &[sequence(&[dns("secret.example.test")])]),
    ]);
    let (key_algorithm, algorithm) = (
        chancery_shared::wire::algorithm::KeyAlgorithm::EcdsaP256,
        chancery_shared::wire::algorithm::SignatureAlgorithm::EcdsaSha256,
    );
    let constrained = home.create_ca_with(
        &mut peer,
        "Constrained Root",
        key_algorithm,
        algorithm,
        Some(Policy::shipped()),
        &[critical(oids::NAME_CONSTRAINTS, constraints)],
    )?;
    let (key, other) = (SubjectKey::generate()?, SubjectKey::generate()?);
    let scene = Scene { ca, constrained, key, other, now: now() };
    Ok((home, peer, scene))
}

fn signatures(home: &SignerHome) -> anyhow::Result<u64> {
    Ok(home.status()?.tokens.iter().map(|token| token.signatures).sum())
}

#[test]
fn every_forged_tbs_is_refused_by_its_rule_and_none_is_signed() -> anyhow::Result<()> {
    let (home, mut peer, scene) = set_up()?;
    let csr = scene.key.csr(&common_name("www.example.test"))?;
    let before = signatures(&home)?;
    let mut wrong = Vec::new();

    for (what, forge, rule) in FORGERIES.iter().chain(FINER) {
        let forged = forge(&scene);
        let ca =
            if forged.issuer == scene.constrained.subject { &scene.constrained } else { &scene.ca };
        let nonce = peer.fresh_nonce();
        let refusal = peer.refused(&request(ca, forged.der(&nonce.0), &csr, nonce))?;
        if refusal.code != RefusalCode::PolicyViolation || refusal.rule.as_deref() != Some(rule) {
            wrong.push(format!("{what}: expected {rule}, got {refusal:?}"));
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(FORGERIES.len() >= 60 && FINER.len() >= 20);
    assert_eq!(signatures(&home)?, before, "nothing refused was signed");
    assert!(home.status()?.refusals >= u64::try_from(FORGERIES.len() + FINER.len())?);
    Ok(())
}

#[test]
fn the_ordinary_tbs_that_each_forgery_starts_from_is_signed() -> anyhow::Result<()> {
    let (home, mut peer, scene) = set_up()?;
    let csr = scene.key.csr(&common_name("www.example.test"))?;
    let before = signatures(&home)?;

    for (ca, tbs) in [(&scene.ca, scene.tbs()), (&scene.constrained, scene.constrained())] {
        let nonce = peer.fresh_nonce();
        let answer = peer.ask(&request(ca, tbs.der(&nonce.0), &csr, nonce))?;
        assert!(matches!(answer.outcome, Outcome::Done(Reply::Signed(_))), "{answer:?}");
        assert!(answer.journal.is_some());
    }

    assert_eq!(signatures(&home)?, before + 2);
    Ok(())
}

#[test]
fn a_nonce_is_good_for_one_tbs_on_its_own_connection() -> anyhow::Result<()> {
    let (home, mut peer, scene) = set_up()?;
    let csr = scene.key.csr(&common_name("www.example.test"))?;
    let (other_peer, _) = Peer::connect(&home.socket())?;
    let used = peer.nonce_with(10_000);
    let ask = |nonce: SerialNonce| request(&scene.ca, scene.tbs().der(&nonce.0), &csr, nonce);
    peer.ask(&ask(used))?;

    for (what, nonce, rule) in [
        ("used before", used, "serial.nonce-used"),
        ("far behind", peer.nonce_with(10_000 - 4_096), "serial.nonce-too-old"),
        ("another connection's", other_peer.nonce_with(20_000), "serial.nonce-connection"),
    ] {
        let refusal = peer.refused(&ask(nonce))?;
        assert_eq!(refusal.rule.as_deref(), Some(rule), "{what}");
    }

    // Requests may overtake each other within the window.
    let overtaken = peer.nonce_with(10_000 - 4_095);
    assert!(matches!(peer.ask(&ask(overtaken))?.outcome, Outcome::Done(_)));
    Ok(())
}

#[test]
fn a_csr_that_does_not_prove_possession_is_refused() -> anyhow::Result<()> {
    let (_home, mut peer, scene) = set_up()?;
    let subject = common_name("www.example.test");
    let good = scene.key.csr(&subject)?;
    let info = sequence(&[integer(&[0]), subject.clone(), scene.key.spki.clone(), context(0, &[])]);
    let version_1 = sequence(&[integer(&[1]), subject, scene.key.spki.clone(), context(0, &[])]);
    let mut flipped = good.clone();
    if let Some(last) = flipped.last_mut() {
        *last ^= 1;
    }

    for (what, csr, rule) in [
        ("signed by another key", scene.other.request(&info)?, "csr.possession"),
        ("a flipped bit of the signature", flipped, "csr.possession"),
        ("bytes after it", [good.clone(), vec![0]].concat(), "csr.malformed"),
        ("version 1", scene.key.request(&version_1)?, "csr.malformed"),
        ("no CSR at all", Vec::new(), "csr.malformed"),
    ] {
        let nonce = peer.fresh_nonce();
        let ask = request(&scene.ca, scene.tbs().der(&nonce.0), &csr, nonce);
        assert_eq!(peer.refused(&ask)?.rule.as_deref(), Some(rule), "{what}");
    }
    Ok(())
}
