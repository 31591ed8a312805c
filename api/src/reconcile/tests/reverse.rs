//! Records that the journal does not bear out.

use chancery_shared::bytes::{Bytes, Fixed};
use chancery_shared::wire::journal::{Event, Intent};

use super::scene::{Scene, scene, scenes};

/// Two certificates, both recorded.
async fn two(scene: &Scene) -> u64 {
    let (first, second) = (scene.sign().await, scene.sign().await);
    scene.record(&first).await;
    scene.record(&second).await;
    first.record.certificate.journal.unwrap().seq
}

#[tokio::test]
async fn a_record_that_its_entry_does_not_bear_out_raises_one_alarm() {
    let changes = [
        "serial_number = '4000'",
        "journal_seq = journal_seq - 1",
        "journal_hash = '0000000000000000000000000000000000000000000000000000000000000000'",
        "journal_hash = NULL",
    ];
    for change in changes {
        for (engine, scene) in scenes().await {
            let seq = two(&scene).await;
            scene
                .execute(&format!("UPDATE certificate SET {change} WHERE journal_seq = {seq}"))
                .await;

            let report = scene.reconcile_later().await.unwrap();
            assert_eq!(report.alarms, 1, "{engine}: {change}");
            assert_eq!(report.reconciled_seq, scene.head().seq, "{engine}: {change}");

            let again = scene.reconcile_later().await.unwrap();
            assert_eq!(again.alarms, 0, "{engine}: {change}");
        }
    }
}

#[tokio::test]
async fn an_alarm_is_not_lost_with_a_pass_that_ends_before_it_is_raised() {
    let scene = scene().await;
    let seq = two(&scene).await;
    scene
        .execute(&format!("UPDATE certificate SET journal_hash = NULL WHERE journal_seq = {seq}"))
        .await;
    let next = scene.head().seq + 1;
    let good = scene.api.fake.signer().journal.entries.clone();
    scene.api.fake.signer().journal.entries.push(format!("{{\"seq\":{next},}}"));
    scene.reconcile_later().await.unwrap_err();

    scene.api.fake.signer().journal.entries = good;

    assert_eq!(scene.reconcile_later().await.unwrap().alarms, 1);
}

#[tokio::test]
async fn a_record_of_another_signer_or_of_none_says_nothing_of_this_journal() {
    for signer in ["'090909090909090909090909'", "NULL"] {
        for (engine, scene) in scenes().await {
            two(&scene).await;
            scene.execute(&format!("UPDATE certificate SET signer_id = {signer}")).await;

            let report = scene.reconcile_later().await.unwrap();

            assert_eq!(report.alarms, 0, "{engine}: {signer}");
        }
    }
}

#[tokio::test]
async fn the_record_of_a_cas_own_certificate_may_name_the_entry_of_its_installation() {
    let scene = scene().await;
    let mut signed = scene.sign().await;
    let installed = scene.append(Event::CaCertificateInstalled {
        key_id: scene.key.key_id,
        chain: vec![Bytes(signed.record.certificate.der.clone())],
        context: signed.context.to_wire().unwrap(),
    });
    signed.record.certificate.journal = Some(installed);
    scene.record(&signed).await;

    let report = scene.reconcile_later().await.unwrap();

    assert_eq!((report.alarms, report.recovered), (0, 0));
}

#[tokio::test]
async fn a_signature_without_an_intent_or_without_a_certificate_is_an_alarm_and_is_passed() {
    let scene = scene().await;
    let signed = |intent| Event::Signed {
        intent,
        key_id: scene.key.key_id,
        serial_number: "40".into(),
        signature: Bytes(vec![1]),
    };
    scene.append(signed(1));
    let no_certificate = Intent {
        operation: "sign-certificate".into(),
        key_id: scene.key.key_id,
        tbs: Bytes(vec![0x30, 0]),
        csr: None,
        serial_nonce: Fixed([0; 40]),
        approval_id: None,
        context: scene.context().to_wire().unwrap(),
    };
    let intent = scene.append(Event::Intent(Box::new(no_certificate))).seq;
    scene.append(signed(intent));

    let report = scene.reconcile_later().await.unwrap();

    assert_eq!((report.alarms, report.recovered), (2, 0));
    assert_eq!(report.reconciled_seq, scene.head().seq);
}
