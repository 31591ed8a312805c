//! Who owns what nobody asked for, on both engines.

use super::*;
use crate::first_start::make_accounts;
use crate::store::testing::both;
use crate::testing::{Api, api_on, insert_team, insert_user};

/// A service on each engine whose first start has made teams and administrator, beside an older
/// team of administrators with a member of its own.
async fn started() -> Vec<(&'static str, tempfile::TempDir, Api)> {
    let mut all = Vec::new();
    for (engine, store) in both().await {
        let home = tempfile::tempdir().unwrap();
        let secrets = home.path().join("config/secrets");
        std::fs::create_dir_all(&secrets).unwrap();
        std::fs::write(secrets.join("admin-password"), "correct horse battery").unwrap();
        let api = api_on(store, |config| config.home = home.path().to_owned()).await;
        for table in ["membership", "account", "team"] {
            api.state.store.execute_for_test(&format!("DELETE FROM {table}")).await;
        }
        let older = insert_team(&api.state, "A Team", Group::Administrators).await;
        insert_user(&api.state, "aaron", &[older]).await;
        api.clock.advance(time::Duration::days(1));
        make_accounts(&api.state).await.unwrap();
        all.push((engine, home, api));
    }
    all
}

async fn names(api: &Api) -> Option<(String, String)> {
    let owner = owner(&api.state).await.unwrap()?;
    let team = api.state.store.team(owner.team_id).await.unwrap().unwrap();
    assert_eq!(administrators(&api.state).await.unwrap(), Some(team.id));
    Some((owner.username, team.name))
}

fn pair(user: &str, team: &str) -> (String, String) {
    (user.to_owned(), team.to_owned())
}

#[tokio::test]
async fn the_administrator_and_the_team_of_the_first_start_own_whatever_else_there_is() {
    for (engine, _home, api) in started().await {
        assert_eq!(names(&api).await.unwrap(), pair("admin", "Administrators"), "{engine}");
    }
}

#[tokio::test]
async fn they_own_under_another_name_too() {
    for (engine, _home, api) in started().await {
        let store = &api.state.store;
        store.execute_for_test("UPDATE team SET name = 'Zzz' WHERE name = 'Administrators'").await;
        store
            .execute_for_test("UPDATE account SET username = 'zoe' WHERE username = 'admin'")
            .await;

        assert_eq!(names(&api).await.unwrap(), pair("zoe", "Zzz"), "{engine}");
    }
}

#[tokio::test]
async fn who_administers_no_longer_owns_no_longer() {
    for (engine, _home, api) in started().await {
        let store = &api.state.store;
        store
            .execute_for_test("UPDATE team SET internal_group = 'USER' WHERE name <> 'A Team'")
            .await;
        store
            .execute_for_test("UPDATE account SET user_group = 'USER' WHERE username = 'admin'")
            .await;

        assert_eq!(names(&api).await.unwrap(), pair("aaron", "A Team"), "{engine}");
    }
}

#[tokio::test]
async fn where_nobody_administers_nobody_owns() {
    for (engine, _home, api) in started().await {
        api.state.store.execute_for_test("UPDATE team SET internal_group = 'USER'").await;

        assert_eq!(names(&api).await, None, "{engine}");
    }
}

#[tokio::test]
async fn of_two_processes_that_start_at_once_the_slower_leaves_what_the_other_said() {
    for (engine, _home, api) in started().await {
        for table in ["membership", "account", "team", "installation"] {
            api.state.store.execute_for_test(&format!("DELETE FROM {table}")).await;
        }

        let (one, two) = tokio::join!(make_accounts(&api.state), make_accounts(&api.state));

        one.unwrap();
        two.unwrap();
        let said: Option<UserId> = id_in(&api.state, ADMINISTRATOR).await.unwrap();
        let admin = api.state.store.account_named("admin").await.unwrap();
        assert_eq!(said, admin.map(|admin| admin.id), "{engine}");
    }
}
