//! Records held, changed and deleted.

use futures::future::join_all;
use time::Duration;

use super::fixtures::{NOW, account, certificate, insert, team};
use crate::store::Store;
use crate::store::account::Group;
use crate::store::certificate::NewCertificate;
use crate::store::testing::{TestStore, both};

/// A store with the records 1 to `count`.
async fn filled(test: &TestStore, count: u64) -> Vec<NewCertificate> {
    insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;
    let new: Vec<_> = (1..=count).map(certificate).collect();
    for each in &new {
        test.store.insert_certificate(each.clone()).await.unwrap();
    }
    new
}

#[tokio::test]
async fn details_and_a_revocation_read_back_as_they_were_written() {
    for (engine, test) in both().await {
        let mut expected = filled(&test, 1).await.remove(0).certificate;
        expected.extra_details = None;
        expected.extra_emails = Some(vec!["b@example.test".to_owned()]);
        expected.track_expiry = false;
        expected.renewed = true;
        expected.owner_username = "User2".to_owned();

        let mut write = test.store.begin().await.unwrap();
        write.hold_certificate(expected.id).await.unwrap().unwrap();
        write.update_details(&expected).await.unwrap();
        let at = NOW - Duration::days(1);
        write.mark_revoked(expected.id, at, "keyCompromise").await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        (expected.revoked, expected.revoked_at) = (true, Some(at));
        expected.revocation_reason = Some("keyCompromise".to_owned());
        let found = test.store.certificate(expected.id).await.unwrap().unwrap();
        assert_eq!(found.certificate, expected, "{engine}");
    }
}

#[tokio::test]
async fn whoever_holds_a_record_sees_what_the_one_before_wrote() {
    async fn append(store: &Store, new: &NewCertificate, mark: char) {
        let mut write = store.begin().await.unwrap();
        let held = write.hold_certificate(new.certificate.id).await.unwrap().unwrap();
        let mut certificate = held.certificate;
        certificate.extra_details.get_or_insert_default().push(mark);
        write.update_details(&certificate).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
    }
    for (engine, test) in both().await {
        let new = filled(&test, 1).await.remove(0);

        join_all((0..8).map(|_| append(&test.store, &new, '+'))).await;

        let found = test.store.certificate(new.certificate.id).await.unwrap().unwrap();
        let details = found.certificate.extra_details.unwrap();
        assert_eq!(details.matches('+').count(), 8, "{engine}: {details}");
    }
}

#[tokio::test]
async fn a_record_goes_with_its_history_its_csr_and_what_others_say_of_it() {
    for (engine, test) in both().await {
        let new = filled(&test, 2).await;
        let (gone, left) = (&new[0].certificate, &new[1].certificate);
        for column in
            ["renewed_by_certificate_id", "renews_certificate_id", "issuer_certificate_id"]
        {
            let sql = format!(
                "UPDATE certificate SET {column} = '{}', is_ca = 1 WHERE certificate_id = '{}'",
                gone.id, left.id
            );
            test.store.execute_for_test(&sql).await;
        }

        let mut write = test.store.begin().await.unwrap();
        let mut gone = write.hold_certificate(gone.id).await.unwrap().unwrap().certificate;
        gone.is_ca = true;
        write.delete_certificate(&gone).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        assert_eq!(test.store.certificate(gone.id).await.unwrap(), None, "{engine}");
        assert_eq!(test.store.csr(gone.csr_id.unwrap()).await.unwrap(), None, "{engine}");
        let left = test.store.certificate(left.id).await.unwrap().unwrap().certificate;
        assert_eq!(left.renewed_by_certificate_id, None, "{engine}");
        assert_eq!(left.renews_certificate_id, None, "{engine}");
        assert_eq!(left.issuer_certificate_id, None, "{engine}");
    }
}

#[tokio::test]
async fn records_are_found_by_their_bytes_and_cas_by_their_name() {
    for (engine, test) in both().await {
        let new = filled(&test, 2).await;
        let (one, ca) = (&new[0].certificate, &new[1].certificate);
        let sql = format!(
            "UPDATE certificate SET is_ca = 1, subject_dn = 'CN=A CA' WHERE certificate_id = '{}'",
            ca.id
        );
        test.store.execute_for_test(&sql).await;

        let found = test.store.certificate_id_by_der(&one.thumbprint, &one.der).await.unwrap();
        let collided = test.store.certificate_id_by_der(&one.thumbprint, b"other").await.unwrap();
        let cas = test.store.cas_named("CN=A CA").await.unwrap();

        assert!(found == Some(one.id) || found == Some(ca.id), "{engine}: {found:?}");
        assert_eq!(collided, None, "{engine}");
        assert_eq!(cas.iter().map(|ca| ca.certificate_id).collect::<Vec<_>>(), [ca.id], "{engine}");
        assert_eq!(test.store.cas_named(&one.subject_dn).await.unwrap(), [], "{engine}");
        assert_eq!(test.store.local_cas_certified_as("CN=A CA").await.unwrap(), [], "{engine}");
    }
}
