//! The state that the client keeps, and what it tells in return.

use super::*;

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
async fn the_state_follows_the_tokens_and_says_at_once_what_the_signer_would() {
    let (_folder, fake, client) = started();
    let key = key(&client).await;
    becomes(&client, |state| state.key(key.key_id).is_some()).await;
    assert_eq!(client.state().check_key(key.key_id), Ok(()));

    fake.signer().tokens[0].state = TokenState::Absent;
    becomes(&client, |state| state.check_key(key.key_id).is_err()).await;

    let Err(SignerError::Refused(no)) = client.state().check_key(key.key_id) else { panic!() };
    assert_eq!(no.code, RefusalCode::TokenUnavailable);

    fake.signer().tokens[0].state = TokenState::Ok;
    becomes(&client, |state| state.check_key(key.key_id).is_ok()).await;
}

#[tokio::test]
async fn a_refusal_that_speaks_of_the_token_refreshes_the_state_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeSigner::start(folder.path());
    let options = Options {
        wait_for_connection: Duration::from_secs(20),
        // Never by itself within this test.
        refresh_every: Duration::from_hours(1),
        ..Options::new(fake.socket.clone())
    };
    let client = SignerClient::start(options, Arc::new(NoHeads), Arc::new(TestRandom::default()));
    becomes(&client, SignerState::is_reachable).await;
    fake.signer().tokens[0].state = TokenState::PinRefused;
    fake.script(|request| match request {
        Request::Seal(_) => Reaction::Refuse(refusal(RefusalCode::PinRefused)),
        _ => Reaction::Answer,
    });

    client.seal(seal(1)).await.unwrap_err();

    becomes(&client, |state| state.check_token("local").is_err()).await;
}

#[tokio::test]
async fn each_hello_tells_the_heads_and_without_them_there_is_none() {
    struct Heads(std::sync::Mutex<Option<Vec<JournalHead>>>);
    impl JournalHeads for Heads {
        fn journal_heads(&self) -> BoxFuture<'_, Result<Vec<JournalHead>, HeadsUnknown>> {
            Box::pin(async { self.0.lock().unwrap().clone().ok_or(HeadsUnknown) })
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeSigner::start(folder.path());
    let head = fake.signer().journal.head();
    let (told, mut hellos) = mpsc::unbounded_channel();
    fake.script(move |request| {
        if let Request::Hello(hello) = request {
            let _ = told.send(hello.journal_heads.clone());
        }
        Reaction::Answer
    });
    let heads = Arc::new(Heads(std::sync::Mutex::new(None)));

    let client = client(&fake, heads.clone());
    let mut state = client.watch_state();
    tokio::task::yield_now().await;
    assert!(!state.borrow_and_update().is_reachable());
    *heads.0.lock().unwrap() = Some(vec![head]);
    state.wait_for(SignerState::is_reachable).await.unwrap();

    assert_eq!(hellos.recv().await, Some(vec![head]));
}
