//! Questions and their answers.

use super::*;

#[tokio::test]
async fn a_key_is_made_and_signs_and_each_answer_carries_the_journals_head() {
    let (_folder, fake, client) = started();

    let key = key(&client).await;
    let (nonce, on) = client.serial_nonce().await.unwrap();
    let request = SignCertificate {
        key_id: key.key_id,
        tbs: Bytes(b"tbs".to_vec()),
        csr: Bytes(Vec::new()),
        serial_nonce: nonce,
        context: Context::default(),
    };
    let signed = client.sign_certificate(on, request).await.unwrap();

    assert_eq!(signed.head, Some(fake.signer().journal.head()));
    let Signing::Signed(signature) = signed.value else { panic!("nothing needs approval") };
    let algorithm = SignatureAlgorithm::EcdsaSha256;
    chancery_shared::signature::verify_as(&key.spki.0, algorithm, b"tbs", &signature).unwrap();
}

#[tokio::test]
async fn no_two_serial_nonces_are_the_same_and_all_begin_with_the_connections_nonce() {
    let (_folder, _fake, client) = started();

    let (first, _on) = client.serial_nonce().await.unwrap();
    let (second, _on) = client.serial_nonce().await.unwrap();

    assert_eq!(first.0[..16], second.0[..16]);
    assert_eq!(first.0[16..24], 1_u64.to_be_bytes());
    assert_eq!(second.0[16..24], 2_u64.to_be_bytes());
    assert_ne!(first.0[24..], second.0[24..]);
}

#[tokio::test]
async fn answers_may_come_in_any_order() {
    let (_folder, fake, client) = started();
    let late = Arc::new(Notify::new());
    let told = Arc::clone(&late);
    fake.script(move |request| match request {
        Request::Seal(seal) if seal.bytes.0[0] == 1 => Reaction::AnswerWhen(Arc::clone(&told)),
        _ => Reaction::Answer,
    });

    let first = tokio::spawn({
        let client = client.clone();
        async move { client.seal(seal(1)).await }
    });
    let second = client.seal(seal(2)).await.unwrap();
    late.notify_one();

    assert_eq!(second.value.0, [2; 32]);
    assert_eq!(first.await.unwrap().unwrap().value.0, [1; 32]);
}

#[tokio::test]
async fn a_request_over_the_limit_waits_unsent_until_another_is_answered() {
    let (_folder, fake, client) = started();
    let release = Arc::new(Notify::new());
    let (seen, mut arrivals) = mpsc::unbounded_channel();
    let told = Arc::clone(&release);
    fake.script(move |request| match request {
        Request::Seal(_) => {
            seen.send(()).unwrap();
            Reaction::AnswerWhen(Arc::clone(&told))
        }
        _ => Reaction::Answer,
    });

    let mut asked = tokio::task::JoinSet::new();
    for byte in 0..64 {
        let client = client.clone();
        asked.spawn(async move { client.seal(seal(byte)).await });
    }
    for _ in 0..63 {
        arrivals.recv().await.unwrap();
    }
    // One slot is kept for `hello`: the state stays known under load.
    becomes(&client, SignerState::is_reachable).await;
    assert!(arrivals.try_recv().is_err());
    release.notify_one();
    arrivals.recv().await.unwrap();
    while !asked.is_empty() {
        release.notify_waiters();
        if let Some(answer) = asked.try_join_next() {
            answer.unwrap().unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_refusal_is_an_ordinary_answer_and_the_connection_stays() {
    let (_folder, fake, client) = started();
    let key = key(&client).await;
    let before = client.serial_nonce().await.unwrap().0;
    fake.script(|request| match request {
        Request::SignCertificate(_) => Reaction::Refuse(refusal(RefusalCode::Busy)),
        _ => Reaction::Answer,
    });

    assert_eq!(sign(&client, &key).await, Err(SignerError::Refused(refusal(RefusalCode::Busy))));
    let after = client.serial_nonce().await.unwrap().0;
    assert_eq!(before.0[..16], after.0[..16]);
}
