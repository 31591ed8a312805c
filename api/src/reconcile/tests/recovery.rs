//! What was signed and not recorded.

use chancery_shared::wire::Context;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::{SignCaCertificate, SignOwnCertificate};
use time::Duration;

use super::scene::{CSR, Scene, scene, scenes};
use crate::certificate::history::HistoryEvent;
use crate::reconcile::run_once;
use crate::signer_client::Signing;
use crate::store::certificate::{HistoryEntry, Tombstone};

#[tokio::test]
async fn a_request_whose_record_failed_gets_the_very_same_record_from_the_journal() {
    for (engine, scene) in scenes().await {
        let signed = scene.sign().await;

        let report = scene.reconcile_later().await.unwrap();

        let found = scene.stored(signed.id()).await.expect(engine);
        assert_eq!(found.certificate, signed.record.certificate, "{engine}");
        let csr = scene.api.state.store.csr(signed.context.csr_id.unwrap()).await.unwrap();
        assert_eq!(csr.as_deref(), Some(CSR), "{engine}");
        let [created, entry] = &found.history[..] else { panic!("{engine}: two entries") };
        assert_eq!(*created, signed.record.history[0], "{engine}");
        assert_eq!(entry.event, HistoryEvent::Recovered, "{engine}");
        assert_eq!(entry.happened_at, scene.api.state.clock.now(), "{engine}");
        assert_eq!(entry.details, signed.context.recovered_details(), "{engine}");
        assert_eq!((report.recovered, report.alarms), (1, 0), "{engine}");
        assert_eq!(report.reconciled_seq, scene.head().seq, "{engine}");
        assert_eq!(scene.known().await.reconciled_hash, scene.head().hash, "{engine}");
    }
}

#[tokio::test]
async fn what_its_request_has_recorded_is_left_as_it_is() {
    for (engine, scene) in scenes().await {
        let signed = scene.sign().await;
        scene.record(&signed).await;

        let report = scene.reconcile_later().await.unwrap();

        assert_eq!((report.recovered, report.alarms), (0, 0), "{engine}");
        let found = scene.stored(signed.id()).await.unwrap();
        assert_eq!(found.history, signed.record.history, "{engine}");
    }
}

#[tokio::test]
async fn a_request_may_last_35_seconds_before_its_record_is_made_for_it() {
    let scene = scene().await;
    let before = scene.head();
    let signed = scene.sign().await;

    scene.wait(Duration::milliseconds(34_999));
    let early = run_once(&scene.api.state).await.unwrap();
    assert_eq!((early.recovered, early.reconciled_seq), (0, before.seq));
    assert_eq!(scene.stored(signed.id()).await, None);

    scene.wait(Duration::milliseconds(1));
    let report = run_once(&scene.api.state).await.unwrap();

    assert_eq!((report.recovered, report.reconciled_seq), (1, before.seq + 2));
}

#[tokio::test]
async fn a_signature_from_far_in_the_future_is_not_waited_for() {
    let scene = scene().await;
    let now = scene.api.state.clock.now();
    scene.api.fake.signer().set_time(now + Duration::days(400));
    scene.sign().await;

    assert_eq!(run_once(&scene.api.state).await.unwrap().recovered, 1);
}

#[tokio::test]
async fn a_pass_reads_only_what_came_since_the_last_one() {
    let scene = scene().await;
    for _ in 0..20 {
        scene.sign().await;
    }
    assert_eq!(scene.reconcile_later().await.unwrap().recovered, 20);

    assert_eq!(scene.reconcile_later().await.unwrap().entries, 0);
    scene.sign().await;
    let report = scene.reconcile_later().await.unwrap();
    assert_eq!((report.entries, report.recovered), (2, 1));
}

#[tokio::test]
async fn a_pass_that_ended_before_it_noted_its_end_does_no_harm_when_repeated() {
    for (engine, scene) in scenes().await {
        let signed = scene.sign().await;
        scene.reconcile_later().await.unwrap();
        scene.execute("UPDATE journal_head SET reconciled_seq = 0").await;
        let zeros = format!("UPDATE journal_head SET reconciled_hash = '{}'", "0".repeat(64));
        scene.execute(&zeros).await;

        let report = scene.reconcile_later().await.unwrap();

        assert_eq!((report.recovered, report.alarms), (0, 0), "{engine}");
        assert_eq!(scene.stored(signed.id()).await.unwrap().history.len(), 2, "{engine}");
        assert_eq!(report.reconciled_seq, scene.head().seq, "{engine}");
    }
}

#[tokio::test]
async fn a_deleted_certificate_stays_deleted() {
    for (engine, scene) in scenes().await {
        let signed = scene.sign().await;
        let certificate = &signed.record.certificate;
        let mut write = scene.api.state.store.begin().await.unwrap();
        let tombstone = Tombstone {
            issuer_key: certificate.issuer_key.clone(),
            serial_number: certificate.serial_number.clone(),
            local_ca_id: certificate.local_ca_id,
            not_after: Some(certificate.not_after),
            revoked_at: None,
            revocation_reason: None,
            deleted_at: scene.api.state.clock.now(),
            deleted_by: "admin".to_owned(),
        };
        write.insert_tombstone(&tombstone).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        let report = scene.reconcile_later().await.unwrap();

        assert_eq!(report.recovered, 0, "{engine}");
        assert_eq!(scene.stored(signed.id()).await, None, "{engine}");
        assert_eq!(report.reconciled_seq, scene.head().seq, "{engine}");
    }
}

#[tokio::test]
async fn a_late_request_and_reconciliation_make_one_record_between_them() {
    for (engine, scene) in scenes().await {
        for _ in 0..20 {
            let signed = scene.sign().await;
            scene.wait(Duration::minutes(1));

            let late = scene.api.state.store.insert_certificate(signed.record.clone());
            let (late, report) = tokio::join!(late, run_once(&scene.api.state));

            // Where the same ids meet within one moment, the request offers its record again.
            if late.is_err() {
                scene.record(&signed).await;
            }
            assert_eq!(report.unwrap().alarms, 0, "{engine}");
            let found = scene.stored(signed.id()).await.unwrap();
            assert_eq!(found.certificate, signed.record.certificate, "{engine}");
            let created = |entry: &&HistoryEntry| entry.event == HistoryEvent::Created;
            assert_eq!(found.history.iter().filter(created).count(), 1, "{engine}");
        }
        let all = scene.api.state.store.certificates_after(None, 100).await.unwrap().certificates;
        assert_eq!(all.len(), 20, "{engine}");
    }
}

#[tokio::test]
async fn an_open_intent_is_not_passed_and_holds_nothing_up() {
    let scene = scene().await;
    let before = scene.head();
    let open = scene.open_intent().await;
    let signed = scene.sign().await;

    let report = scene.reconcile_later().await.unwrap();
    assert_eq!((report.recovered, report.reconciled_seq), (1, before.seq));
    assert_eq!(scene.known().await.reconciled_hash, before.hash);
    assert!(scene.stored(signed.id()).await.is_some());

    scene.append(Event::Abandoned { intent: open.seq, reason: "lost".into() });
    let report = scene.reconcile_later().await.unwrap();
    assert_eq!((report.recovered, report.reconciled_seq), (0, scene.head().seq));
}

#[tokio::test]
async fn certificates_of_cas_are_recovered_too_even_those_that_an_operator_approved_later() {
    let scene = scene().await;
    let signer = &scene.api.state.signer;
    let (own, subordinate) = (scene.context(), scene.context());
    let (tbs, serial_nonce, connection) = scene.draft().await;
    let request = SignOwnCertificate {
        key_id: scene.key.key_id,
        tbs: tbs.into(),
        serial_nonce,
        context: own.to_wire().unwrap(),
    };
    signer.sign_own_certificate(connection, request).await.unwrap();
    scene.api.fake.signer().approve_cas = true;
    let (tbs, serial_nonce, connection) = scene.draft().await;
    let request = SignCaCertificate {
        key_id: scene.key.key_id,
        tbs: tbs.into(),
        csr: None,
        serial_nonce,
        context: subordinate.to_wire().unwrap(),
    };
    let asked = signer.sign_ca_certificate(connection, request).await.unwrap();
    let Signing::Pending(approval) = asked.value else { panic!("it waits for approval") };

    assert_eq!(scene.reconcile_later().await.unwrap().recovered, 1);
    assert!(scene.stored(own.certificate_id).await.unwrap().certificate.is_ca);

    scene.api.fake.signer().approve(approval);
    assert_eq!(scene.reconcile_later().await.unwrap().recovered, 1);
    assert!(scene.stored(subordinate.certificate_id).await.is_some());
}

#[tokio::test]
async fn a_certificate_that_no_request_of_ours_asked_for_belongs_to_the_first_administrator() {
    for (engine, scene) in scenes().await {
        scene.sign_for(Context::default()).await;

        assert_eq!(scene.reconcile_later().await.unwrap().recovered, 1, "{engine}");

        let all = scene.api.state.store.certificates_after(None, 10).await.unwrap().certificates;
        let [found] = &all[..] else { panic!("{engine}: one record") };
        assert_eq!(found.certificate.owner_user_id, scene.api.admin_id(), "{engine}");
        assert_eq!(found.certificate.owner_username, "admin", "{engine}");
        assert_eq!(found.certificate.team_id, scene.api.administrators, "{engine}");
        let [created, recovered] = &found.history[..] else { panic!("{engine}: two entries") };
        assert_eq!(created.event, HistoryEvent::Created, "{engine}");
        assert_eq!(
            created.details,
            "The signer's journal does not say which user created the certificate; a CSR was \
             provided; it was given to the first administrator"
        );
        assert_eq!(recovered.event, HistoryEvent::Recovered, "{engine}");
        let csr = found.certificate.csr_id.unwrap();
        assert_eq!(scene.api.state.store.csr(csr).await.unwrap().as_deref(), Some(CSR));
    }
}

#[tokio::test]
async fn ids_that_another_record_has_are_replaced_and_the_certificate_is_recorded() {
    for (engine, scene) in scenes().await {
        let first = scene.sign().await;
        scene.sign_for(first.context.to_wire().unwrap()).await;

        let report = scene.reconcile_later().await.unwrap();

        assert_eq!(report.recovered, 2, "{engine}");
        let all = scene.api.state.store.certificates_after(None, 10).await.unwrap().certificates;
        assert_eq!(all.len(), 2, "{engine}");
    }
}

#[tokio::test]
async fn only_the_holder_of_the_lease_reconciles() {
    for (engine, scene) in scenes().await {
        scene.sign().await;
        scene.wait(Duration::minutes(1));
        let store = &scene.api.state.store;
        let now = scene.api.state.clock.now();
        let until = now + Duration::seconds(10);
        assert!(store.take_lease("reconcile", "other", now, until).await.unwrap());

        let report = run_once(&scene.api.state).await.unwrap();
        assert_eq!((report.is_elsewhere, report.recovered), (true, 0), "{engine}");

        scene.wait(Duration::seconds(10));
        let report = run_once(&scene.api.state).await.unwrap();
        assert_eq!((report.is_elsewhere, report.recovered), (false, 1), "{engine}");
        // It was given back.
        let now = scene.api.state.clock.now();
        assert!(store.take_lease("reconcile", "other", now, now).await.unwrap(), "{engine}");
    }
}

#[tokio::test]
async fn a_certificate_whose_owner_is_unknown_waits_for_an_administrator() {
    let scene: Scene = scene().await;
    scene.sign_for(Context::default()).await;
    scene.execute("UPDATE team SET internal_group = 'USER'").await;

    let refused = scene.reconcile_later().await.unwrap_err();
    assert!(matches!(refused, crate::reconcile::ReconcileError::NoAdministrator), "{refused}");

    scene.execute("UPDATE team SET internal_group = 'ADMIN' WHERE name = 'Administrators'").await;
    assert_eq!(scene.reconcile_later().await.unwrap().recovered, 1);
}
