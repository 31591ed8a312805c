//! Connections that end, answers that are late or none at all.

use super::*;

#[tokio::test]
async fn what_was_sent_on_a_connection_that_ends_has_an_unknown_outcome() {
    for reaction in [Reaction::Close, Reaction::DoAndClose, Reaction::DoAndCloseMidReply] {
        let (_folder, fake, client) = started();
        let key = key(&client).await;
        fake.script(move |request| match request {
            Request::SignCertificate(_) => reaction.clone(),
            _ => Reaction::Answer,
        });

        let lost = sign(&client, &key).await;

        assert_eq!(lost, Err(SignerError::LostAfterSending));
        assert!(lost.unwrap_err().outcome_is_unknown());
        // The next question finds a new connection.
        client.seal(seal(1)).await.unwrap();
    }
}

#[tokio::test]
async fn a_nonce_of_a_lost_connection_is_drafted_again_and_nothing_was_sent() {
    let (_folder, mut fake, client) = started();
    let key = key(&client).await;
    let (nonce, on) = client.serial_nonce().await.unwrap();
    let before = fake.signer().journal.head();

    fake.stop().await;
    becomes(&client, |state| !state.is_reachable()).await;
    fake.serve();
    let refused = sign_on(&client, &key, nonce, on).await;

    assert_eq!(refused, Err(SignerError::RetryDraft));
    assert_eq!(fake.signer().journal.head(), before);
    assert!(matches!(sign(&client, &key).await, Ok(Signing::Signed(_))));
}

#[tokio::test]
async fn a_signer_that_is_away_is_unreachable_within_the_wait_for_a_connection() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        wait_for_connection: Duration::from_millis(1),
        ..Options::new(folder.path().join("signer.sock"))
    };
    let client = SignerClient::start(options, Arc::new(NoHeads), Arc::new(TestRandom::default()));

    assert_eq!(client.seal(seal(1)).await, Err(SignerError::Unreachable));
    assert_eq!(client.serial_nonce().await.err(), Some(SignerError::Unreachable));
    assert_eq!(client.state().check_signer(), Err(SignerError::Unreachable));
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_has_an_unknown_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeSigner::start(folder.path());
    let options = Options {
        request_within: Duration::from_millis(1),
        wait_for_connection: Duration::from_secs(20),
        ..Options::new(fake.socket.clone())
    };
    let client = SignerClient::start(options, Arc::new(NoHeads), Arc::new(TestRandom::default()));
    fake.script(|request| match request {
        Request::Seal(_) => Reaction::AnswerWhen(Arc::new(Notify::new())),
        _ => Reaction::Answer,
    });

    assert_eq!(client.seal(seal(1)).await, Err(SignerError::Deadline));
}

#[tokio::test]
async fn frames_that_are_no_answer_end_the_connection_and_the_next_one_works() {
    let broken = [
        Reaction::Frame(b"not json".to_vec()),
        Reaction::Frame(b"{}".to_vec()),
        Reaction::Frame(br#"{"version":1,"id":77777,"outcome":{"done":{}}}"#.to_vec()),
        Reaction::Raw(vec![0xff; 8]),
        Reaction::Raw(vec![0, 4, 0, 1]),
    ];
    for reaction in broken {
        let (_folder, fake, client) = started();
        fake.script(move |request| match request {
            Request::Seal(_) => reaction.clone(),
            _ => Reaction::Answer,
        });

        assert_eq!(client.seal(seal(1)).await, Err(SignerError::LostAfterSending));

        fake.script(|_| Reaction::Answer);
        client.seal(seal(2)).await.unwrap();
    }
}

#[tokio::test]
async fn an_answer_of_the_wrong_kind_is_a_fault_of_the_protocol() {
    let (_folder, fake, client) = started();
    let key = key(&client).await;
    fake.script(|request| match request {
        Request::SignCertificate(_) => {
            Reaction::Reply(Reply::Journal(JournalPart { entries: vec![] }))
        }
        _ => Reaction::Answer,
    });

    let answer = sign(&client, &key).await;

    assert_eq!(answer, Err(SignerError::Protocol));
}
