//! No administrator shuts themselves out by a team's list of addresses, whichever way they try.

use serde_json::json;

use crate::store::account::Group;
use crate::store::testing::both;
use crate::testing::{Api, api_on, insert_team};

/// The team `Far` lets in 192.0.2.0/24 alone, `Open` everyone; the administrator is in neither.
async fn far_and_open(api: &Api) -> [String; 2] {
    let far = insert_team(&api.state, "Far", Group::Users).await;
    let open = insert_team(&api.state, "Open", Group::Users).await;
    let list = json!({"ipWhiteList": "192.0.2.0/24"});
    let far = format!("/api/admin/teams/{far}");
    assert_eq!(api.administrator().put(&far, &list).await.status, 200);
    [far, format!("/api/admin/teams/{open}")]
}

#[tokio::test]
async fn every_way_into_a_team_that_would_shut_its_new_member_out_is_refused() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let [far, open] = far_and_open(&api).await;
        let me = format!("/api/admin/users/{}", api.admin_id());
        let own_teams = json!({"teamsIds": ["Administrators", "Open"]});
        assert_eq!(api.administrator().put(&me, &own_teams).await.status, 200, "{engine}");
        for (is_new, path, body, field) in [
            (false, &me, json!({"teamsIds": ["Administrators", "Far"]}), "teamsIds"),
            (false, &me, json!({"teamsIds": ["Far", "Open", "Administrators"]}), "teamsIds"),
            (false, &far, json!({"members": ["admin"]}), "ipWhiteList"),
            (false, &open, json!({"ipWhiteList": "192.0.2.1"}), "ipWhiteList"),
            (
                true,
                &"/api/admin/teams".to_owned(),
                json!({"name": "New", "ipWhiteList": "::1", "members": ["admin"]}),
                "ipWhiteList",
            ),
        ] {
            let admin = api.administrator();

            let answer =
                if is_new { admin.post(path, &body).await } else { admin.put(path, &body).await };

            assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{engine} {body}");
            let fault = &answer.json()["fields"][0];
            assert_eq!(fault["field"], field, "{engine} {body}");
            let said = fault["message"].as_str().unwrap();
            assert!(said.contains("shut you out") && said.contains("127.0.0.1"), "{said}");
            assert_eq!(admin.get("/api/currentuser").await.status, 200, "{engine} {body}");
        }
    }
}

#[tokio::test]
async fn who_comes_from_an_allowed_address_joins_and_others_are_put_there_from_anywhere() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        far_and_open(&api).await;
        let user = |id: &dyn std::fmt::Display| format!("/api/admin/users/{id}");
        let join = json!({"teamsIds": ["Administrators", "Far"]});
        let far = json!({"teamsIds": ["Far"]});
        for (from, id, body) in [
            ("127.0.0.1", user(&api.member_id()), &far),
            ("192.0.2.3", user(&api.admin_id()), &join),
        ] {
            let answer = api.administrator().from(from).put(&id, body).await;
            assert_eq!(answer.status, 200, "{engine} {from}: {}", answer.text);
        }

        let inside = api.administrator().from("192.0.2.3");

        assert_eq!(inside.get("/api/currentuser").await.status, 200, "{engine}");
        let outside = api.administrator().get("/api/currentuser").await;
        assert_eq!(outside.refusal(), (403, "address_not_allowed".to_owned()), "{engine}");
    }
}
