//! Certificates: recorded once, read back whole, streamed.

use chancery_shared::id::{Id, LocalCaId};
use futures::future::join_all;
use futures::stream::TryStreamExt as _;
use time::Duration;

use super::fixtures::{NOW, account, certificate, head, insert, team};
use crate::store::Unaudited;
use crate::store::account::Group;
use crate::store::certificate::search::Search;
use crate::store::certificate::{Inserted, StoredCertificate, Tombstone};
use crate::store::key_data::{KeyData, SealedKey};
use crate::store::testing::both;

#[tokio::test]
async fn a_recorded_certificate_reads_back_with_its_request_names_and_history() {
    for (engine, test) in both().await {
        insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;
        let new = certificate(1);

        let inserted = test.store.insert_certificate(new.clone()).await.unwrap();

        let found = test.store.certificate(new.certificate.id).await.unwrap();
        let expected = StoredCertificate {
            certificate: new.certificate.clone(),
            team_name: Some("Team 1".to_owned()),
            cert_issuer_name: None,
            history: new.history,
        };
        assert_eq!(inserted, Inserted::New(new.certificate.id), "{engine}");
        assert_eq!(found, Some(expected), "{engine}");
        let csr = test.store.csr(new.certificate.csr_id.unwrap()).await.unwrap();
        assert_eq!(csr, new.csr, "{engine}");
        assert_eq!(test.store.known_journals().await.unwrap()[0].head, head(1), "{engine}");
    }
}

#[tokio::test]
async fn a_request_that_comes_after_reconciliation_brings_its_key_once() {
    for (engine, test) in both().await {
        let mut recovered = certificate(1);
        recovered.history[0].id = Id::from_bytes([7; 12]);
        let id = recovered.certificate.id;
        test.store.insert_certificate(recovered.clone()).await.unwrap();
        let key = SealedKey {
            id: Id::from_bytes([9; 12]),
            token: "local".to_owned(),
            sealed: vec![1],
            created_at: NOW,
        };
        let mut write = test.store.begin().await.unwrap();
        write.insert_data_key(&key).await.unwrap();
        write.commit_unaudited(Unaudited::Fixture).await.unwrap();
        let mut late = recovered;
        late.certificate.id = Id::from_bytes([8; 12]);
        let (p12, jks, pem) = (vec![1], vec![2], vec![3]);
        late.key_data =
            Some(KeyData { data_key_id: key.id, p12, jks, pem, kept_at: NOW + Duration::SECOND });

        for _ in 0..2 {
            let inserted = test.store.insert_certificate(late.clone()).await.unwrap();

            assert_eq!(inserted, Inserted::AlreadyThere(id), "{engine}");
            assert_eq!(test.store.key_data(id).await.unwrap(), late.key_data, "{engine}");
            let found = test.store.certificate(id).await.unwrap().unwrap();
            assert!(found.certificate.has_key_data, "{engine}");
            let last = found.history.last().unwrap();
            assert!(last.details.ends_with("its private key is kept"), "{engine}: {last:?}");
            assert_eq!(found.history.len(), 2, "{engine}");
        }
    }
}

#[tokio::test]
async fn the_same_issuer_and_serial_number_is_recorded_once() {
    for (engine, test) in both().await {
        let first = certificate(1);
        let mut second = certificate(2);
        second.certificate.serial_number = first.certificate.serial_number.clone();
        second.certificate.journal = first.certificate.journal;
        test.store.insert_certificate(first.clone()).await.unwrap();

        let inserted = test.store.insert_certificate(second.clone()).await.unwrap();

        assert_eq!(inserted, Inserted::AlreadyThere(first.certificate.id), "{engine}");
        assert_eq!(test.store.certificate(second.certificate.id).await.unwrap(), None, "{engine}");
        assert_eq!(test.store.csr(second.certificate.csr_id.unwrap()).await.unwrap(), None);
        let known = test
            .store
            .certificate_id_by_serial(
                &first.certificate.issuer_key,
                &first.certificate.serial_number,
            )
            .await
            .unwrap();
        assert_eq!(known, Some(first.certificate.id), "{engine}");
    }
}

#[tokio::test]
async fn a_record_that_is_offered_again_is_there_already() {
    for (engine, test) in both().await {
        // The same ids, as reconciliation has them, and a request whose commit broke off.
        let new = certificate(1);
        test.store.insert_certificate(new.clone()).await.unwrap();

        let again = test.store.insert_certificate(new.clone()).await.unwrap();

        assert_eq!(again, Inserted::AlreadyThere(new.certificate.id), "{engine}");
        let found = test.store.certificate(new.certificate.id).await.unwrap().unwrap();
        assert_eq!(found.history, new.history, "{engine}");
    }
}

#[tokio::test]
async fn however_many_are_recorded_at_a_time_each_is() {
    for (engine, test) in both().await {
        let mut last = 0;
        for together in (1..=16).chain([19, 23, 27, 31, 39, 47, 55, 63, 64, 65, 130]) {
            let new: Vec<_> = (last + 1..=last + together).map(certificate).collect();

            let results =
                join_all(new.iter().map(|each| test.store.insert_certificate(each.clone()))).await;

            for (new, result) in new.iter().zip(results) {
                let id = new.certificate.id;
                assert_eq!(result.unwrap(), Inserted::New(id), "{engine}: {together}");
                assert!(test.store.certificate(id).await.unwrap().is_some(), "{engine}");
            }
            last += together;
        }
        assert_eq!(test.store.known_journals().await.unwrap()[0].head, head(last), "{engine}");
    }
}

#[tokio::test]
async fn concurrent_records_each_get_their_own_result() {
    for (engine, test) in both().await {
        let mut new: Vec<_> = (1..=200).map(certificate).collect();
        new[50].certificate.id = new[49].certificate.id;
        new[100].certificate.serial_number = new[99].certificate.serial_number.clone();
        new[100].certificate.journal = new[99].certificate.journal;

        let results =
            join_all(new.iter().map(|each| test.store.insert_certificate(each.clone()))).await;

        for (index, result) in results.iter().enumerate() {
            let id = new[index].certificate.id;
            match index {
                // The primary key is taken: a fault, and this caller's alone.
                50 => assert!(result.is_err(), "{engine}: {result:?}"),
                100 => {
                    let other = new[99].certificate.id;
                    assert_eq!(
                        *result.as_ref().unwrap(),
                        Inserted::AlreadyThere(other),
                        "{engine}"
                    );
                }
                _ => assert_eq!(*result.as_ref().unwrap(), Inserted::New(id), "{engine}"),
            }
        }
        assert_eq!(test.store.known_journals().await.unwrap()[0].head, head(200), "{engine}");
    }
}

#[tokio::test]
async fn all_certificates_stream_by_id_with_their_histories() {
    for (engine, test) in both().await {
        let mut write = test.store.begin().await.unwrap();
        for number in 1..=600 {
            write.insert_certificate(&certificate(number)).await.unwrap();
        }
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        let all: Vec<_> =
            test.store.certificates(Search::default(), None).try_collect().await.unwrap();
        let after = test.store.record_no(certificate(598).certificate.id).await.unwrap();
        let rest = test.store.certificates(Search::default(), after);
        let rest: Vec<_> = rest.try_collect().await.unwrap();

        assert_eq!(all.len(), 600, "{engine}");
        for (number, found) in (1..).zip(&all) {
            assert_eq!(found.certificate, certificate(number).certificate, "{engine}");
            assert_eq!(found.history, certificate(number).history, "{engine}");
        }
        assert_eq!(rest.len(), 2, "{engine}");
    }
}

#[tokio::test]
async fn a_deleted_record_leaves_a_tombstone() {
    for (engine, test) in both().await {
        let mut write = test.store.begin().await.unwrap();
        let tombstone = Tombstone {
            issuer_key: "aa".to_owned(),
            serial_number: "01".to_owned(),
            local_ca_id: Some(LocalCaId::from_bytes([4; 12])),
            not_after: Some(NOW),
            revoked_at: Some(NOW),
            revocation_reason: Some("superseded".to_owned()),
            deleted_at: NOW,
            deleted_by: "admin".to_owned(),
        };
        write.insert_tombstone(&tombstone).await.unwrap();
        assert_eq!(write.tombstone("aa", "01").await.unwrap(), Some(tombstone), "{engine}");
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        assert!(test.store.is_tombstoned("aa", "01").await.unwrap(), "{engine}");
        assert!(!test.store.is_tombstoned("aa", "02").await.unwrap(), "{engine}");
        assert!(!test.store.is_tombstoned("ab", "01").await.unwrap(), "{engine}");
    }
}
