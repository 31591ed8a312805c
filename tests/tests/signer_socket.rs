//! The signer's sockets against peers that break the rules of the wire.

use std::process::Command;

use chancery_shared::bytes::Fixed;
use chancery_shared::frame::MAX_FRAME;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::journal::{Entry, Event};
use chancery_shared::wire::v1::{CreateCaKey, Hello, KeyRole, ReadJournal, Reply, Request};
use chancery_shared::wire::{Context, JournalHead, Outcome, RefusalCode, ReplyEnvelope};
use chancery_tests::peer::Peer;
use chancery_tests::signer_home::SignerHome;

fn started() -> anyhow::Result<SignerHome> {
    let mut home = SignerHome::create(&[])?;
    home.start()?;
    Ok(home)
}

/// The refusal code in the next frame, and whether the signer then closes the connection.
fn refused_and_closed(peer: &mut Peer) -> anyhow::Result<(Option<u64>, RefusalCode)> {
    let frame = peer.receive()?.ok_or_else(|| anyhow::anyhow!("closed without a reply"))?;
    let reply: ReplyEnvelope<Reply> = serde_json::from_slice(&frame)?;
    let Outcome::Refused(refusal) = reply.outcome else { anyhow::bail!("{reply:?}") };
    anyhow::ensure!(peer.receive()?.is_none(), "the connection goes on");
    Ok((reply.id, refusal.code))
}

#[test]
fn a_malformed_request_is_answered_where_its_id_is_readable_and_ends_only_its_connection()
-> anyhow::Result<()> {
    let home = started()?;
    let (mut bystander, _) = Peer::connect(&home.socket())?;

    for (frame, id) in [
        (r#"{"version":1,"id":5,"body":{"hello":{"extra":1}}}"#, Some(5)),
        (r#"{"version":1,"id":6,"body":{"sign-bytes":{}}}"#, Some(6)),
        (r#"{"version":1,"id":7,"body":[]}"#, Some(7)),
        (r#"{"version":1,"id":8,"body":{},"more":1}"#, None),
        ("not json", None),
        ("", None),
    ] {
        let mut peer = Peer::open(&home.socket())?;
        peer.send(frame.as_bytes())?;
        assert_eq!(refused_and_closed(&mut peer)?, (id, RefusalCode::Malformed), "{frame}");
    }

    assert!(bystander.ask(&Request::Hello(Hello::default())).is_ok());
    Ok(())
}

/// Every entry of the journal.
fn events(home: &SignerHome) -> anyhow::Result<Vec<Event>> {
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let (mut events, mut after) = (Vec::new(), 0);
    loop {
        let answer = peer.ask(&Request::ReadJournal(ReadJournal { after }))?;
        let Outcome::Done(Reply::Journal(part)) = answer.outcome else { anyhow::bail!("no part") };
        if part.entries.is_empty() {
            return Ok(events);
        }
        for entry in part.entries {
            let Entry { seq, event, .. } = serde_json::from_str(&entry)?;
            after = seq;
            events.push(event);
        }
    }
}

#[test]
fn a_flood_of_frames_that_are_no_requests_is_journaled_in_part_and_counted_whole()
-> anyhow::Result<()> {
    let mut home = started()?;
    // A field that is not known is repeated in the refusal, at length no more than a sentence.
    let frame = format!(r#"{{"version":1,"id":5,"body":{{"{}":1}}}}"#, "x".repeat(100_000));
    for _ in 0..100 {
        let mut peer = Peer::open(&home.socket())?;
        peer.send(frame.as_bytes())?;
        assert_eq!(refused_and_closed(&mut peer)?, (Some(5), RefusalCode::Malformed));
    }
    home.stop()?;
    home.start()?;

    let (mut whole, mut counted) = (0, 0);
    for event in events(&home)? {
        match event {
            Event::Refused { code, detail, .. } => {
                assert_eq!(code, RefusalCode::Malformed);
                assert!(detail.len() < 1_000, "{detail}");
                whole += 1;
            }
            Event::RefusalsOmitted { count } => counted += count,
            _ => {}
        }
    }
    assert_eq!((whole, counted), (60, 40));
    Ok(())
}

#[test]
fn a_refusal_that_is_the_signers_own_state_is_journaled_too() -> anyhow::Result<()> {
    let home = started()?;
    let head = home.status()?.journal_head;
    let lost = JournalHead { seq: head.seq + 100, hash: Fixed([1; 32]), ..head };
    let (mut peer, _) = Peer::connect_knowing(&home.socket(), vec![lost])?;
    let create = Request::CreateCaKey(CreateCaKey {
        token: "SoftHSM2".into(),
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        role: KeyRole::Ca,
        policy: None,
        context: Context::default(),
    });

    assert_eq!(peer.refused(&create)?.code, RefusalCode::JournalBehind);

    let is_it = |event: &Event| {
        matches!(event, Event::Refused { operation, code: RefusalCode::JournalBehind, .. }
            if operation == "create-ca-key")
    };
    assert!(events(&home)?.iter().any(is_it));
    Ok(())
}

#[test]
fn a_version_that_is_not_spoken_is_refused_by_name() -> anyhow::Result<()> {
    let home = started()?;
    for version in [0, 2, 99] {
        let mut peer = Peer::open(&home.socket())?;
        let frame = serde_json::json!({"version": version, "id": 1, "body": {"hello": {}}});
        peer.send(&serde_json::to_vec(&frame)?)?;
        assert_eq!(refused_and_closed(&mut peer)?, (Some(1), RefusalCode::UnsupportedVersion));
    }
    Ok(())
}

#[test]
fn a_frame_over_the_limit_ends_the_connection_before_its_body_is_sent() -> anyhow::Result<()> {
    let home = started()?;
    let mut peer = Peer::open(&home.socket())?;

    peer.send_raw(&u32::try_from(MAX_FRAME + 1)?.to_be_bytes())?;

    assert!(peer.receive()?.is_none());
    Ok(())
}

#[test]
fn a_frame_that_is_begun_and_not_finished_ends_the_connection() -> anyhow::Result<()> {
    let home = started()?;
    let mut peer = Peer::open(&home.socket())?;

    peer.send_raw(&[0, 0, 1, 0, b'{'])?;

    assert!(peer.receive()?.is_none());
    Ok(())
}

#[test]
fn requests_may_be_sent_ahead_and_each_is_answered() -> anyhow::Result<()> {
    let home = started()?;
    let mut peer = Peer::open(&home.socket())?;

    for id in 0..200_u64 {
        let body = Request::ReadJournal(ReadJournal { after: 0 });
        let frame = serde_json::json!({"version": 1, "id": id, "body": body});
        peer.send(&serde_json::to_vec(&frame)?)?;
    }
    let mut answered = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let frame = peer.receive()?.ok_or_else(|| anyhow::anyhow!("closed"))?;
        let reply: ReplyEnvelope<Reply> = serde_json::from_slice(&frame)?;
        answered.extend(reply.id);
    }

    assert_eq!(answered, (0..200).collect());
    Ok(())
}

#[test]
fn a_peer_of_another_user_is_closed_before_a_byte_of_it_is_read() -> anyhow::Result<()> {
    anyhow::ensure!(rustix::process::geteuid().is_root(), "this test runs as root, as in CI");
    let home = started()?;
    // Both locks, one after the other: opened for everyone, the file lets the peer through, and
    // the uid still does not.
    let open = |mode: &str, path: std::path::PathBuf| -> anyhow::Result<()> {
        anyhow::ensure!(Command::new("chmod").arg(mode).arg(path).status()?.success());
        Ok(())
    };
    let speak = |socket: &std::path::Path| -> anyhow::Result<String> {
        let script = "my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) \
            or (print $!{EACCES} ? 'no permission' : $!) && exit; \
            $SIG{PIPE} = 'IGNORE'; syswrite $s, \"\\0\\0\\0\\2{}\"; \
            my $n = sysread $s, my $b, 1; print 'read ', $n // 0;";
        let peer = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/perl"])
            .args(["-MIO::Socket::UNIX", "-MErrno", "-e", script])
            .arg(socket)
            .output()?;
        Ok(String::from_utf8_lossy(&peer.stdout).trim().to_owned())
    };
    open("755", home.path())?;
    open("755", home.path().join("run"))?;

    for socket in [home.socket(), home.operator_socket()] {
        assert_eq!(speak(&socket)?, "no permission");
        open("666", socket.clone())?;
        assert_eq!(speak(&socket)?, "read 0");
    }
    assert!(home.log().contains("user 65534 is not admitted here"));
    Ok(())
}
