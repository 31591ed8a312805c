//! Users, teams and what binds them.

use chancery_shared::id::{RowId, UserId};

use super::fixtures::{NOW, account, insert, team};
use crate::store::StoreError;
use crate::store::account::{FailedLogin, Failures, Group, PassedLogin};
use crate::store::testing::both;

#[tokio::test]
async fn a_user_is_found_by_name_whatever_its_case() {
    for (engine, test) in both().await {
        insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;

        let found = test.store.account_named("uSER1").await.unwrap();

        assert_eq!(found, Some(account(1)), "{engine}");
        assert_eq!(test.store.account(account(1).id).await.unwrap(), found, "{engine}");
        assert_eq!(test.store.accounts().await.unwrap(), [account(1)], "{engine}");
        assert_eq!(test.store.account_named("User").await.unwrap(), None, "{engine}");
    }
}

#[tokio::test]
async fn a_name_can_be_taken_once() {
    for (engine, test) in both().await {
        insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;
        let mut again = account(2);
        again.username = "USER1".to_owned();
        let mut same = team(2, Group::Users);
        same.name = team(1, Group::Users).name;

        let mut write = test.store.begin().await.unwrap();
        let user = write.insert_account(&again).await;
        drop(write);
        let mut write = test.store.begin().await.unwrap();
        let team = write.insert_team(&same).await;

        assert!(matches!(user, Err(StoreError::Taken { table: "account" })), "{engine}: {user:?}");
        assert!(matches!(team, Err(StoreError::Taken { table: "team" })), "{engine}: {team:?}");
    }
}

#[tokio::test]
async fn a_user_is_an_administrator_by_itself_or_by_a_team() {
    for (engine, test) in both().await {
        let mut by_itself = account(2);
        by_itself.group = Group::Administrators;
        insert(&test.store, &team(1, Group::Users), &[&account(1), &by_itself]).await;
        insert(&test.store, &team(2, Group::Administrators), &[&account(3)]).await;
        let token = RowId::from_bytes([7; 12]);

        for (number, expected) in [(1, false), (2, true), (3, true)] {
            let holder = test.store.token_holder(account(number).id, token).await.unwrap().unwrap();
            assert_eq!(holder.is_administrator, expected, "{engine}, user {number}");
        }
        let nobody = test.store.token_holder(UserId::from_bytes([8; 12]), token).await.unwrap();
        assert_eq!(nobody, None, "{engine}");
    }
}

#[tokio::test]
async fn an_ended_token_stays_ended_until_it_would_have_expired() {
    for (engine, test) in both().await {
        insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;
        let (token, other) = (RowId::from_bytes([7; 12]), RowId::from_bytes([8; 12]));
        let mut write = test.store.begin().await.unwrap();
        write.end_token(token, NOW).await.unwrap();
        write.end_token(token, NOW).await.unwrap();
        write.forget_expired_tokens(NOW - time::Duration::MILLISECOND).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        for (id, ended) in [(token, true), (other, false)] {
            let holder = test.store.token_holder(account(1).id, id).await.unwrap().unwrap();
            assert_eq!(holder.token_ended, ended, "{engine}");
        }
        let mut write = test.store.begin().await.unwrap();
        assert_eq!(write.forget_expired_tokens(NOW).await.unwrap(), 1, "{engine}");
    }
}

#[tokio::test]
async fn a_new_password_ends_the_tokens_and_is_set_by_one_of_two() {
    for (engine, test) in both().await {
        insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;

        let mut write = test.store.begin().await.unwrap();
        let passed = PassedLogin { at: NOW, address: "192.0.2.1".to_owned(), version: 1 };
        let first = write.set_password(account(1).id, &passed, "$first$").await.unwrap();
        let second = write.set_password(account(1).id, &passed, "$second$").await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        let found = test.store.account(account(1).id).await.unwrap().unwrap();
        assert_eq!((first, second), (true, false), "{engine}");
        assert_eq!((found.token_version, &*found.password_hash), (2, "$first$"), "{engine}");
    }
}

#[tokio::test]
async fn who_was_shut_out_meanwhile_sets_no_password() {
    for (engine, test) in both().await {
        insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;
        for (change, is_set) in [
            ("locked = 1", false),
            ("locked = 0, enabled = 0", false),
            ("enabled = 1, delayed_until = 9000000000000000", false),
            ("last_login_address = '192.0.2.1'", true),
        ] {
            test.store.execute_for_test(&format!("UPDATE account SET {change}")).await;
            let passed = PassedLogin { at: NOW, address: "192.0.2.1".to_owned(), version: 1 };

            let mut write = test.store.begin().await.unwrap();
            let found = write.set_password(account(1).id, &passed, "$new$").await.unwrap();
            write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

            assert_eq!(found, is_set, "{engine}: {change}");
        }
    }
}

#[tokio::test]
async fn logins_are_counted_until_one_passes() {
    for (engine, test) in both().await {
        insert(&test.store, &team(1, Group::Users), &[&account(1)]).await;
        let address = "192.0.2.1".to_owned();
        let passed = PassedLogin { at: NOW, address, version: 1 };
        let failed = FailedLogin { at: NOW, most: 10, delayed_until: NOW };

        let mut write = test.store.begin().await.unwrap();
        write.record_failed_login(account(1).id, failed).await.unwrap();
        let second = write.record_failed_login(account(1).id, failed).await.unwrap();
        let of_nobody = write.record_failed_login(account(9).id, failed).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
        let failed = test.store.account(account(1).id).await.unwrap().unwrap();
        let mut write = test.store.begin().await.unwrap();
        write.record_login(account(1).id, &passed).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
        let found = test.store.account(account(1).id).await.unwrap().unwrap();

        assert_eq!(
            (second, of_nobody),
            (Some(Failures { count: 2, locks: false }), None),
            "{engine}"
        );
        assert_eq!((failed.failed_logins, failed.last_login_at), (2, None), "{engine}");
        assert_eq!((found.failed_logins, found.last_login_at), (0, Some(NOW)), "{engine}");
        assert_eq!(found.last_login_address.as_deref(), Some("192.0.2.1"), "{engine}");
    }
}

#[tokio::test]
async fn teams_are_listed_by_name_and_by_member() {
    for (engine, test) in both().await {
        insert(&test.store, &team(2, Group::Users), &[&account(1)]).await;
        insert(&test.store, &team(1, Group::Administrators), &[]).await;
        let mut write = test.store.begin().await.unwrap();
        write.add_member(team(1, Group::Users).id, account(1).id).await.unwrap();
        write.add_member(team(1, Group::Users).id, account(1).id).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        let both_teams = [team(1, Group::Administrators), team(2, Group::Users)];
        assert_eq!(test.store.teams().await.unwrap(), both_teams, "{engine}");
        assert_eq!(test.store.teams_of(account(1).id).await.unwrap(), both_teams, "{engine}");
        assert_eq!(test.store.memberships().await.unwrap().len(), 2, "{engine}");
        assert_eq!(test.store.members_of(both_teams[0].id).await.unwrap().len(), 1, "{engine}");
        assert_eq!(test.store.team_named("Team 2").await.unwrap(), Some(team(2, Group::Users)));
    }
}

#[tokio::test]
async fn what_refers_to_a_row_that_is_gone_is_told_apart_from_a_fault() {
    for (engine, test) in both().await {
        let both_of_them = (team(1, Group::Users), account(1));
        insert(&test.store, &both_of_them.0, &[&both_of_them.1]).await;

        let mut write = test.store.begin().await.unwrap();
        let of_nothing = write.add_member(team(9, Group::Users).id, both_of_them.1.id).await;
        drop(write);
        let still_used = test.store.begin().await.unwrap().delete_team(both_of_them.0.id).await;

        let of_nothing = of_nothing.unwrap_err();
        assert!(matches!(of_nothing, StoreError::Reference { table: "membership" }), "{engine}");
        assert!(matches!(still_used, Err(StoreError::Reference { table: "team" })), "{engine}");
    }
}
