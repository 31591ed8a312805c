//! The journal seen from outside: what was cut off, changed or replaced is found, and nothing is
//! signed on top of it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use chancery_shared::bytes::Fixed;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::operator::{self, Nothing};
use chancery_shared::wire::v1::{
    CreateCaKey, Hello, KeyChange, KeyRole, ReadJournal, Reply, Request,
};
use chancery_shared::wire::{Context, JournalHead, Outcome, RefusalCode};
use chancery_tests::peer::Peer;
use chancery_tests::program::Program;
use chancery_tests::signer_home::SignerHome;

/// Length and checksum before each entry.
const RECORD_HEADER: usize = 8;

fn with_a_ca() -> anyhow::Result<(SignerHome, JournalHead)> {
    let mut home = SignerHome::create(&[])?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    home.create_ca(&mut peer, "Journal Root")?;
    let head = home.status()?.journal_head;
    home.stop()?;
    Ok((home, head))
}

fn verify(home: &SignerHome) -> anyhow::Result<std::process::Output> {
    Ok(home.hsm(&["journal", "verify"]).output()?)
}

fn last_segment(home: &SignerHome) -> anyhow::Result<PathBuf> {
    let mut segments: Vec<PathBuf> = fs::read_dir(home.path().join("signer/journal"))?
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "journal"))
        .collect();
    segments.sort();
    segments.pop().ok_or_else(|| anyhow::anyhow!("no segment"))
}

fn create() -> Request {
    Request::CreateCaKey(CreateCaKey {
        token: "SoftHSM2".into(),
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        role: KeyRole::Ca,
        policy: None,
        context: Context::default(),
    })
}

#[test]
fn a_whole_journal_verifies_offline() -> anyhow::Result<()> {
    let (home, _) = with_a_ca()?;

    let verified = verify(&home)?;

    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    Ok(())
}

#[test]
fn a_flipped_bit_anywhere_is_found_by_verify() -> anyhow::Result<()> {
    let (home, _) = with_a_ca()?;
    let segment = last_segment(&home)?;
    let whole = fs::read(&segment)?;

    let step = whole.len() / 40 + 1;
    for position in (0..whole.len()).step_by(step) {
        let mut flipped = whole.clone();
        if let Some(byte) = flipped.get_mut(position) {
            *byte ^= 4;
        }
        fs::write(&segment, flipped)?;
        assert!(!verify(&home)?.status.success(), "byte {position}");
    }
    fs::write(&segment, whole)?;
    Ok(())
}

#[test]
fn a_tail_that_was_cut_off_is_found_by_the_head_that_the_api_knows() -> anyhow::Result<()> {
    let (mut home, head) = with_a_ca()?;
    let before = home.path().join("signer");
    // The keyring would know too; here only the API remembers.
    fs::remove_file(before.join("keyring.json"))?;
    let segment = last_segment(&home)?;
    let whole = fs::read(&segment)?;
    fs::write(&segment, &whole[..whole.len() - 40])?;
    home.start()?;

    let (mut peer, hello) = Peer::connect_knowing(&home.socket(), vec![head])?;
    let key_id = hello.keys.first().map(|key| key.key_id);
    let key_id = key_id.ok_or_else(|| anyhow::anyhow!("no key"))?;
    let change = || KeyChange { key_id, reason: "a test".into(), context: Context::default() };

    let halted = hello.halted.ok_or_else(|| anyhow::anyhow!("not halted"))?;
    assert_eq!(halted.code, RefusalCode::JournalBehind);
    // A key may still be taken out of use, and get no power back nor be destroyed.
    assert!(matches!(peer.ask(&Request::DisableKey(change()))?.outcome, Outcome::Done(_)));
    for request in [create(), Request::EnableKey(change()), Request::DestroyKey(change())] {
        assert_eq!(peer.refused(&request)?.code, RefusalCode::JournalBehind);
    }
    Ok(())
}

#[test]
fn an_older_copy_signs_nothing_until_the_operator_accepts_and_then_counts_on_above_it()
-> anyhow::Result<()> {
    let (mut home, _) = with_a_ca()?;
    let segment = last_segment(&home)?;
    let older = fs::read(&segment)?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    peer.ask(&create())?;
    let head = home.status()?.journal_head;
    home.stop()?;
    fs::write(&segment, older)?;
    home.spawn()?;

    // The keyring's own head shows it, whatever the API knows.
    let (mut peer, hello) = Peer::connect(&home.socket())?;
    assert_eq!(hello.halted.map(|refusal| refusal.code), Some(RefusalCode::JournalBehind));
    assert_eq!(peer.refused(&create())?.code, RefusalCode::JournalBehind);
    let (mut peer, _) = Peer::connect_knowing(&home.socket(), vec![head])?;
    assert_eq!(peer.refused(&create())?.code, RefusalCode::JournalBehind);

    let accepted = home.operator(&operator::Request::AcceptJournal(Nothing {}))?;
    assert!(matches!(accepted, Outcome::Done(_)), "{accepted:?}");
    let (mut peer, hello) = Peer::connect_knowing(&home.socket(), vec![head])?;
    assert_eq!(hello.halted, None);
    assert!(hello.journal_head.is_some_and(|at| at.seq > head.seq));
    let answer = peer.ask(&create())?;
    assert!(matches!(answer.outcome, Outcome::Done(Reply::KeyCreated(_))), "{answer:?}");
    home.stop()?;
    assert!(verify(&home)?.status.success(), "{}", String::from_utf8_lossy(&verify(&home)?.stderr));

    // The acceptance holds over a restart.
    home.start()?;
    let (_, hello) = Peer::connect_knowing(&home.socket(), vec![head])?;
    assert_eq!(hello.halted, None);
    Ok(())
}

#[test]
fn a_head_that_this_journal_never_had_stops_signing_and_one_of_another_signer_does_not()
-> anyhow::Result<()> {
    let (mut home, head) = with_a_ca()?;
    home.start()?;
    let foreign = JournalHead {
        signer_id: chancery_shared::id::Id::from_bytes([9; 12]),
        seq: 1_000,
        hash: Fixed([1; 32]),
    };

    let (_, hello) = Peer::connect_knowing(&home.socket(), vec![head, foreign])?;
    assert_eq!(hello.halted, None);

    let forged = JournalHead { hash: Fixed([1; 32]), ..head };
    let (_, hello) = Peer::connect_knowing(&home.socket(), vec![forged])?;
    assert_eq!(hello.halted.map(|refusal| refusal.code), Some(RefusalCode::JournalBehind));
    Ok(())
}

#[test]
fn a_head_that_no_operator_could_accept_is_refused_and_nothing_of_that_hello_is_remembered()
-> anyhow::Result<()> {
    let (mut home, head) = with_a_ca()?;
    home.start()?;
    let plausible = JournalHead { seq: head.seq + 500, hash: Fixed([1; 32]), ..head };
    for seq in [u64::MAX, u64::MAX - 1, 1 << 50] {
        let implausible = JournalHead { seq, ..plausible };

        let hello = Request::Hello(Hello { journal_heads: vec![plausible, implausible] });
        let refused = Peer::open(&home.socket())?.refused(&hello)?;

        assert_eq!(refused.rule.as_deref(), Some("hello.journal-heads"));
        assert!(refused.detail.contains(&seq.to_string()), "{}", refused.detail);
    }

    assert_eq!(home.status()?.halted, None);
    let (mut peer, _) = Peer::connect(&home.socket())?;
    home.create_ca(&mut peer, "Root after all")?;
    Ok(())
}

#[test]
fn the_api_reads_every_entry_as_stored_in_order() -> anyhow::Result<()> {
    let (mut home, _) = with_a_ca()?;
    home.start()?;
    let (mut peer, hello) = Peer::connect(&home.socket())?;

    let mut seqs = Vec::new();
    loop {
        let after = seqs.last().copied().unwrap_or_default();
        let answer = peer.ask(&Request::ReadJournal(ReadJournal { after }))?;
        let Outcome::Done(Reply::Journal(part)) = answer.outcome else { panic!("{answer:?}") };
        if part.entries.is_empty() {
            break;
        }
        for entry in part.entries {
            let entry: chancery_shared::wire::journal::Entry = serde_json::from_str(&entry)?;
            seqs.push(entry.seq);
        }
    }

    assert!(hello.journal_head.is_some_and(|head| seqs.len() as u64 >= head.seq));
    assert!(seqs.iter().copied().eq(1..=seqs.len() as u64));
    Ok(())
}

#[test]
fn a_ca_certificate_that_was_signed_and_not_installed_is_installed_at_the_next_start()
-> anyhow::Result<()> {
    let (mut home, _) = with_a_ca()?;
    // A crash just before the last entry, which is the installation, and before the keyring file.
    fs::remove_file(home.path().join("signer/keyring.json"))?;
    let segment = last_segment(&home)?;
    let whole = fs::read(&segment)?;
    let last = whole.windows(7).rposition(|window| window == b"{\"seq\":");
    let last = last.ok_or_else(|| anyhow::anyhow!("no entry"))?;
    assert!(String::from_utf8_lossy(&whole[last..]).contains("ca-certificate-installed"));
    fs::write(&segment, &whole[..last - RECORD_HEADER])?;

    home.start()?;

    let is_certified = |status: &operator::Status| {
        !status.keys.is_empty() && status.keys.iter().all(|key| key.has_ca_certificate)
    };
    home.wait_for("the installation", is_certified)?;
    home.stop()?;
    let text = fs::read(&segment)?;
    let installed = String::from_utf8_lossy(&text).matches("ca-certificate-installed").count();
    assert_eq!(installed, 1, "it is installed once");
    home.start()?;
    home.wait_for("the installation", is_certified)?;
    Ok(())
}

#[test]
fn the_first_greeting_after_a_start_tells_of_no_trouble_with_the_journal() -> anyhow::Result<()> {
    let (home, before) = with_a_ca()?;

    let signer = Program::start("the signer", home.signer())?;
    let first = signer.output().wait_for("a greeting", Duration::from_secs(40), |_| {
        Peer::connect(&home.socket()).ok().map(|(_, greeting)| greeting)
    })?;

    assert_eq!(first.halted, None);
    assert!(
        first.journal_head.is_some_and(|head| head.seq > before.seq),
        "the start is in the journal"
    );
    Ok(())
}

#[test]
fn a_second_signer_on_the_same_home_does_not_start() -> anyhow::Result<()> {
    let mut home = SignerHome::create(&[])?;
    home.start()?;

    let second = home.signer().output()?;

    assert!(!second.status.success());
    assert!(home.status().is_ok(), "the first one goes on");
    Ok(())
}
