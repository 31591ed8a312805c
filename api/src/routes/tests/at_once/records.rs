//! Records that are given to a team that goes at the same time.

use serde_json::json;

use super::{ROUNDS, Two};
use crate::routes::tests::certs::import::FOREIGN;
use crate::store::account::Group;
use crate::testing::{Answer, insert_team};

/// Either the record came first, and keeps the team, or the team had gone.
fn assert_fits(engine: &str, given: &Answer, gone: &Answer) {
    let found = (given.status.as_u16(), gone.status.as_u16());
    assert!([(200, 409), (422, 200)].contains(&found), "{engine}: {found:?} {}", given.text);
}

#[tokio::test]
async fn no_record_is_given_to_a_team_that_goes_at_the_same_time() {
    for (engine, two) in Two::on_both().await {
        let home = json!({"certData": FOREIGN, "teamId": two.api.administrators});
        let record = two.one.post("/api/certs/import", &home).await.json();
        let record = format!("/api/certs/{}", record["id"].as_str().unwrap());
        for round in 0..ROUNDS {
            let team = insert_team(&two.api.state, &format!("Short {round}"), Group::Users).await;
            let path = format!("/api/admin/teams/{team}");
            let change = json!({"teamId": team});

            let (given, gone) =
                two.at_once(two.one.patch(&record, &change), two.other.delete(&path)).await;

            assert_fits(engine, &given, &gone);
            let back = json!({"teamId": two.api.administrators});
            assert_eq!(two.one.patch(&record, &back).await.status, 200, "{engine}");
        }
    }
}

#[tokio::test]
async fn no_certificate_is_imported_for_a_team_that_goes_at_the_same_time() {
    for (engine, two) in Two::on_both().await {
        for round in 0..ROUNDS {
            let team = insert_team(&two.api.state, &format!("Short {round}"), Group::Users).await;
            let path = format!("/api/admin/teams/{team}");
            let import = json!({"certData": FOREIGN, "teamId": team});

            let (given, gone) = two
                .at_once(two.one.post("/api/certs/import", &import), two.other.delete(&path))
                .await;

            assert_fits(engine, &given, &gone);
            for table in ["history", "certificate"] {
                let sql = format!("DELETE FROM {table}");
                two.api.state.store.execute_for_test(&sql).await;
            }
        }
    }
}
