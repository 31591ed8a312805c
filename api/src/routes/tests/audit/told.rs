//! What is told, what is not, and what happens where it can't be.

use std::net::{Ipv4Addr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Method, header};
use serde_json::{Value, json};

use super::super::certs::ISSUER;
use super::audit;
use crate::testing::{PASSWORD, api, api_on, api_with, api_with_issuer};

#[tokio::test]
async fn reading_is_told_only_where_it_is_refused_for_want_of_a_right() {
    let api = api().await;

    api.administrator().get("/api/admin/users").await;
    api.member().post("/api/certs/search", &json!({})).await;
    api.member().get("/api/admin/users").await;

    let told = audit(&api, "").await;
    assert_eq!(told.len(), 1, "{told:?}");
    let expected = json!(["member", "read", "users", "not_administrator"]);
    let found: Vec<_> =
        ["username", "action", "objectKind", "result"].map(|field| told[0][field].clone()).into();
    assert_eq!(Value::from(found), expected);
}

#[tokio::test]
async fn refusals_on_different_things_within_a_minute_are_told_apart() {
    let api = api().await;
    let ids: Vec<_> = (1..=4).map(|number| format!("{number:024}")).collect();
    for kind in ["users", "teams", "ca", "localca", "keystores", "profiles", "generators"] {
        for id in ids.iter().chain([&ids[0], &ids[2], &ids[3]]) {
            let refused = api.member().delete(&format!("/api/admin/{kind}/{id}")).await;
            assert_eq!(refused.refusal(), (403, "not_administrator".to_owned()));
        }

        let told = audit(&api, &format!("objectKind={kind}&action=delete")).await;

        let times = |id: &String| {
            let of_id = told.iter().filter(|entry| entry["objectId"] == json!(id));
            of_id.map(|entry| entry["times"].as_u64().unwrap()).sum::<u64>()
        };
        let found: Vec<_> = ids.iter().map(times).collect();
        assert_eq!(found, [2, 1, 2, 2], "{kind}: {told:?}");
    }
}

#[tokio::test]
async fn a_refusal_below_a_base_path_that_repeats_a_part_is_told_of_the_same_thing() {
    for base in ["/api/ca", "/users/api", "/api/admin/teams"] {
        let api = api_with(|config| config.base_paths = vec![base.to_owned()]).await;
        let id = api.admin_id().to_string();
        let refused = api.member().delete(&format!("{base}/api/admin/users/{id}")).await;
        assert_eq!(refused.refusal(), (403, "not_administrator".to_owned()), "{base}");
        api.state.audit.flush().await;

        let told = api.administrator().get(&format!("{base}/api/admin/audit")).await.json();

        let fields = ["action", "objectKind", "objectId"];
        let found = fields.map(|field| told[0][field].as_str().unwrap_or_default().to_owned());
        assert_eq!(found, ["delete".to_owned(), "users".to_owned(), id], "{base}");
    }
}

#[tokio::test]
async fn a_failed_login_names_the_user_and_the_address_but_not_what_was_typed() {
    let api = api().await;
    let from = ConnectInfo(SocketAddr::from((Ipv4Addr::new(192, 0, 2, 7), 4711)));
    for username in ["MEMBER", "correct horse battery", "MEMBER"] {
        let request = api.anonymous().request(Method::POST, "/api/login");
        let request = request.header(header::CONTENT_TYPE, "application/json").extension(from);
        let body = json!({"username": username, "password": "wrong"}).to_string();
        let answer = api.anonymous().send(request.body(body.into()).unwrap()).await;
        assert_eq!(answer.refusal(), (401, "bad_credentials".to_owned()));
    }

    let told = audit(&api, "action=login").await;

    let found = told.iter().map(|entry| {
        assert_eq!(entry["address"], "192.0.2.7");
        (entry["objectName"].clone(), entry["times"].clone())
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(name, _)| name.to_string());
    let member = (json!("member"), json!(1));
    assert_eq!(found, [member.clone(), member, (Value::Null, json!(1))]);
}

#[tokio::test]
async fn no_secret_stands_in_any_entry() {
    let secrets = ["Secret-of-User-1", "Secret-Package-2", "Secret-Change-3"];
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let user = json!({"username": "new", "password": secrets[0], "teamsIds": ["Default"]});
    assert_eq!(admin.post("/api/admin/users", &user).await.status, 200);
    let login = json!({"username": "new", "password": secrets[0]});
    let token = api.anonymous().post("/api/login", &login).await.json()["token"].clone();
    let token = token.as_str().unwrap().to_owned();
    let new = api.with_token(Some(token.clone()));
    let keep = json!({"privateKeyRetentionPeriod": {"value": 10, "unit": "days"}});
    admin.put("/api/admin/settings", &keep).await;
    for dn in ["CN=www.example.test", "XX=no"] {
        let dn = json!({
            "caName": ISSUER, "dn": dn, "csrGeneratorName": "ECDSA P-256",
            "p12Password": secrets[1],
        });
        new.post("/api/certs/request", &dn).await;
    }
    let wrong = json!({"oldPassword": secrets[2], "newPassword": secrets[2]});
    new.post("/api/currentuser/password", &wrong).await;
    let right = json!({"oldPassword": secrets[0], "newPassword": secrets[2]});
    assert_eq!(new.post("/api/currentuser/password", &right).await.status, 200);
    // Into the wrong fields.
    let odd = json!({"username": secrets[0], "password": "x"});
    api.anonymous().post("/api/login", &odd).await;
    admin.post(&format!("/api/admin/{}", secrets[0]), &odd).await;
    admin.put(&format!("/api/admin/generators/{}", secrets[0]), &odd).await;
    let account = api.state.store.account_named("new").await.unwrap().unwrap();

    api.state.audit.flush().await;
    let all = admin.get("/api/admin/audit/download").await.text;

    assert!(all.lines().count() > 10, "{all}");
    let others = [token.as_str(), PASSWORD, account.password_hash.as_str(), "$argon2"];
    for secret in secrets.iter().chain(&others) {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
}

#[tokio::test]
async fn a_write_whose_entry_can_not_be_kept_does_not_happen() {
    for (engine, database) in crate::store::testing::both().await {
        let api = api_on(database, |_| ()).await;
        let check = match engine {
            "SQLite" => {
                "CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END"
            }
            _ => "ALTER TABLE audit ADD CONSTRAINT no CHECK (times > 1000)",
        };
        api.state.store.execute_for_test(check).await;

        let answer = api.administrator().post("/api/admin/teams", &json!({"name": "Web"})).await;

        assert_eq!(answer.refusal(), (500, "internal".to_owned()), "{engine}");
        assert!(api.state.store.team_named("Web").await.unwrap().is_none(), "{engine}");
    }
}

#[tokio::test]
async fn what_could_not_be_told_is_told_by_its_number_as_soon_as_the_database_takes_it() {
    let api = api().await;
    let no = "CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END";
    api.state.store.execute_for_test(no).await;
    for _ in 0..3 {
        api.member().get("/api/admin/users").await;
        api.state.audit.flush().await;
    }
    api.state.store.execute_for_test("DROP TRIGGER no").await;
    api.member().get("/api/admin/teams").await;

    let told = audit(&api, "").await;

    let found: Vec<_> = told.iter().map(|entry| (&entry["action"], &entry["times"])).collect();
    assert_eq!(found, [(&json!("lose entries"), &json!(3)), (&json!("read"), &json!(1))]);
}
