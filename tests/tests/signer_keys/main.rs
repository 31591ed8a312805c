//! Keys in the signer.

mod approvals;
mod crowd;
mod cut_off;
mod external;
mod installing;
mod life;
mod lost;

use anyhow::Context as _;
use chancery_shared::bytes::Bytes;
use chancery_shared::id::ApprovalId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::journal::{Entry, Event};
use chancery_shared::wire::operator::{self, Decision, Nothing};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{
    ApprovalQuery, ApprovalStatus, CreateCaKey, KeyChange, KeyChanged, KeyRole, KeyState,
    ReadJournal, Reply, Request, Seal, SignCaCertificate, SignCertificate, TokenState, Unseal,
};
use chancery_shared::wire::{Context, Outcome, RefusalCode};
use chancery_tests::clock::now;
use chancery_tests::forge::der::{boolean, context, integer, octets, oid, sequence};
use chancery_tests::forge::subject::{SubjectKey, common_name};
use chancery_tests::forge::{self, Forged, Serial, authority, critical, oids, plain};
use chancery_tests::peer::Peer;
use chancery_tests::signer_ca::{Ca, own_tbs};
use chancery_tests::signer_home::SignerHome;

pub(crate) fn started(configure: &[(&str, &str)]) -> anyhow::Result<(SignerHome, Peer, Ca)> {
    let mut home = SignerHome::create(configure)?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let ca = home.create_ca(&mut peer, "Key Root")?;
    Ok((home, peer, ca))
}

pub(crate) fn change(ca: &Ca) -> KeyChange {
    KeyChange { key_id: ca.key_id, reason: "a test".into(), context: Context::default() }
}

pub(crate) fn certificate(peer: &mut Peer, ca: &Ca) -> anyhow::Result<Request> {
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
pub(crate) fn subordinate(peer: &mut Peer, ca: &Ca) -> anyhow::Result<Request> {
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

pub(crate) fn state(peer: &mut Peer, request: &Request) -> anyhow::Result<KeyState> {
    match peer.ask(request)?.outcome {
        Outcome::Done(Reply::KeyChanged(KeyChanged { state })) => Ok(state),
        other => anyhow::bail!("{other:?}"),
    }
}

pub(crate) fn parked(peer: &mut Peer, request: &Request) -> anyhow::Result<ApprovalId> {
    match peer.ask(request)?.outcome {
        Outcome::Done(Reply::Pending(pending)) => Ok(pending.approval_id),
        other => anyhow::bail!("{other:?}"),
    }
}

pub(crate) fn fate(peer: &mut Peer, approval_id: ApprovalId) -> anyhow::Result<ApprovalStatus> {
    match peer.ask(&Request::ApprovalStatus(ApprovalQuery { approval_id }))?.outcome {
        Outcome::Done(Reply::Approval(status)) => Ok(status),
        other => anyhow::bail!("{other:?}"),
    }
}

/// The operator says yes, and it is done.
pub(crate) fn approve(home: &SignerHome, approval_id: ApprovalId) -> anyhow::Result<()> {
    match home.operator(&operator::Request::Approve(Decision { approval_id }))? {
        Outcome::Done(operator::Reply::Approved { .. }) => Ok(()),
        other => anyhow::bail!("{other:?}"),
    }
}

/// Changes the file of a parked request while the signer is stopped.
pub(crate) fn edit(
    home: &SignerHome,
    approval_id: ApprovalId,
    change: impl FnOnce(&mut serde_json::Value),
) -> anyhow::Result<()> {
    let file = home.path().join(format!("signer/approvals/{approval_id}.json"));
    let mut stored: serde_json::Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    change(stored.get_mut("parked").context("a parked request")?);
    Ok(std::fs::write(file, serde_json::to_vec(&stored)?)?)
}

/// What was journaled above that entry.
pub(crate) fn events_since(peer: &mut Peer, after: u64) -> anyhow::Result<Vec<Event>> {
    let Outcome::Done(Reply::Journal(part)) =
        peer.ask(&Request::ReadJournal(ReadJournal { after }))?.outcome
    else {
        anyhow::bail!("no journal");
    };
    let event = |entry: &String| Ok(serde_json::from_str::<Entry>(entry)?.event);
    part.entries.iter().map(event).collect()
}
