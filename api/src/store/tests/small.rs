//! Leases, journal heads and who may use which issuer.

use chancery_shared::bytes::Fixed;
use chancery_shared::id::CertIssuerId;
use time::Duration;

use super::fixtures::{NOW, account, head, insert, team};
use crate::store::account::Group;
use crate::store::testing::{ISSUERS, both};

#[tokio::test]
async fn a_lease_is_held_by_one_until_it_runs_out() {
    for (engine, test) in both().await {
        let store = &test.store;
        let later = NOW + Duration::minutes(1);

        assert!(store.take_lease("mail", "one", NOW, later).await.unwrap(), "{engine}");
        assert!(!store.take_lease("mail", "two", NOW, later).await.unwrap(), "{engine}");
        assert!(store.take_lease("mail", "one", NOW, later).await.unwrap(), "{engine}");
        assert!(store.take_lease("purge", "two", NOW, later).await.unwrap(), "{engine}");
        assert!(store.take_lease("mail", "two", later, later).await.unwrap(), "{engine}");
        let mut write = store.begin().await.unwrap();
        write.give_lease_back("mail", "one").await.unwrap();
        write.give_lease_back("purge", "two").await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
        assert!(!store.take_lease("mail", "one", NOW, later).await.unwrap(), "{engine}");
        assert!(store.take_lease("purge", "one", NOW, later).await.unwrap(), "{engine}");
    }
}

#[tokio::test]
async fn a_lease_that_was_taken_under_a_wrong_clock_holds_nobody_up() {
    for (engine, test) in both().await {
        let store = &test.store;
        let (minute, year) = (Duration::minutes(1), Duration::days(365));
        let ahead = NOW + Duration::minutes(5);

        assert!(store.take_lease("a", "one", NOW + year, NOW + year + minute).await.unwrap());
        assert!(store.take_lease("a", "two", NOW, NOW + minute).await.unwrap(), "{engine}");
        // Two hosts' clocks differ a little.
        assert!(store.take_lease("b", "one", ahead, ahead + minute).await.unwrap());
        assert!(!store.take_lease("b", "two", NOW, NOW + minute).await.unwrap(), "{engine}");
    }
}

#[tokio::test]
async fn a_journal_head_only_ever_rises() {
    for (engine, test) in both().await {
        let mut write = test.store.begin().await.unwrap();
        for seq in [5, 9, 7] {
            write.raise_journal_head(&head(seq)).await.unwrap();
        }
        for seq in [4, 3] {
            let reconciled = head(seq);
            write.set_reconciled(reconciled.signer_id, seq, reconciled.hash).await.unwrap();
        }
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        let [known] = test.store.known_journals().await.unwrap()[..] else {
            panic!("{engine}: one signer, one row");
        };
        assert_eq!(known.head, head(9), "{engine}");
        assert_eq!((known.reconciled_seq, known.reconciled_hash), (4, Fixed([4; 32])), "{engine}");
    }
}

#[tokio::test]
async fn an_issuer_without_a_team_is_open_to_every_team() {
    for (engine, test) in both().await {
        insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;
        insert(&test.store, &team(2, Group::Users), &[&account(2)]).await;
        let mut loner = account(3);
        loner.username = "loner".to_owned();
        let closed = CertIssuerId::from_bytes([2; 12]);
        let mut write = test.store.begin().await.unwrap();
        write.insert_account(&loner).await.unwrap();
        for sql in ISSUERS {
            sqlx::query(*sql).execute(write.connection()).await.unwrap();
        }
        write.authorise_ca(team(2, Group::Users).id, closed).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        let store = &test.store;
        for (user, expected) in [(1, &["Open"][..]), (2, &["Closed", "Open"]), (3, &[])] {
            let names = store.usable_issuer_names(account(user).id).await.unwrap();
            assert_eq!(names, expected, "{engine}, user {user}");
        }
        assert_eq!(store.live_issuer_names().await.unwrap(), ["Closed", "Open"], "{engine}");
        assert_eq!(store.authorised_cas().await.unwrap().len(), 1, "{engine}");
    }
}
