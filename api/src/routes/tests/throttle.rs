//! Logins that fail too often, and addresses that a team does not allow.

use axum::http::header::RETRY_AFTER;
use serde_json::json;

use crate::store::testing::both;
use crate::testing::{Answer, Api, PASSWORD, api, api_on, api_with};

const SETTINGS: &str = "/api/admin/settings";

async fn log_in(api: &Api, from: &str, username: &str, password: &str) -> Answer {
    let body = json!({"username": username, "password": password});
    api.anonymous().from(from).post("/api/login", &body).await
}

#[tokio::test]
async fn an_ordinary_account_is_locked_until_an_administrator_unlocks_it() {
    let api = api().await;
    let admin = api.administrator();
    admin.put(SETTINGS, &json!({"loginFailures": 3})).await;
    let path = format!("/api/admin/users/{}", api.member_id());
    let session = api.member();
    for _ in 0..3 {
        assert_eq!(log_in(&api, "192.0.2.1", "member", "wrong").await.status, 401);
    }

    let right = log_in(&api, "192.0.2.1", "member", PASSWORD).await;
    let of_session = session.get("/api/currentuser").await.status;
    api.clock.advance(time::Duration::days(1));
    let much_later = log_in(&api, "192.0.2.1", "member", PASSWORD).await;
    let admin = api.administrator();
    let locked = admin.get(&path).await.json();
    let unlocked = admin.post(&format!("{path}/unlock"), &json!({})).await.json();

    assert_eq!(of_session, 200, "who guesses throws nobody out");
    assert_eq!(right.refusal(), (401, "bad_credentials".to_owned()));
    assert_eq!(much_later.status, 401);
    assert_eq!((&locked["locked"], &locked["numFailedLoginAttempts"]), (&json!(true), &json!(3)));
    assert_eq!(
        (&unlocked["locked"], &unlocked["numFailedLoginAttempts"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(log_in(&api, "192.0.2.1", "member", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn the_lock_of_an_account_has_one_entry_of_its_own_in_the_audit() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        api.administrator().put(SETTINGS, &json!({"loginFailures": 3})).await;
        // At once, too: one of them locks it.
        futures::future::join_all((0..6).map(|_| log_in(&api, "192.0.2.1", "member", "wrong")))
            .await;
        log_in(&api, "192.0.2.1", "member", PASSWORD).await;

        let entries = api.administrator().get("/api/admin/audit?action=lock").await.json();

        let [entry] = &entries.as_array().unwrap()[..] else { panic!("{engine}: {entries}") };
        assert_eq!(
            (&entry["objectKind"], &entry["objectId"], &entry["objectName"]),
            (&json!("users"), &json!(api.member_id()), &json!("member")),
            "{engine}"
        );
        assert_eq!((&entry["address"], &entry["username"]), (&json!("192.0.2.1"), &json!(null)));
        assert_eq!(entry["after"], json!({"locked": true, "failedLogins": 3}), "{engine}");
    }
}

#[tokio::test]
async fn an_administrators_account_is_only_delayed() {
    let api = api().await;
    let body = json!({"loginFailures": 2, "administratorDelay": 60});
    api.administrator().put(SETTINGS, &body).await;
    for _ in 0..2 {
        log_in(&api, "192.0.2.1", "admin", "wrong").await;
    }

    let at_once = log_in(&api, "192.0.2.1", "admin", PASSWORD).await.status;
    api.clock.advance(time::Duration::seconds(59));
    log_in(&api, "192.0.2.1", "admin", "wrong").await;
    api.clock.advance(time::Duration::SECOND);
    let afterwards = log_in(&api, "192.0.2.1", "admin", PASSWORD).await.status;

    assert_eq!((at_once.as_u16(), afterwards.as_u16()), (401, 200));
    log_in(&api, "192.0.2.1", "admin", "wrong").await;
    assert_eq!(log_in(&api, "192.0.2.1", "admin", PASSWORD).await.status, 200, "counted anew");
}

#[tokio::test]
async fn who_guesses_on_and_on_keeps_no_administrator_out() {
    let api = api().await;
    let body = json!({"loginFailures": 2, "administratorDelay": 60});
    api.administrator().put(SETTINGS, &body).await;
    assert_eq!(log_in(&api, "192.0.2.1", "admin", PASSWORD).await.status, 200);
    for _ in 0..5 {
        log_in(&api, "192.0.2.66", "admin", "wrong").await;
    }

    let elsewhere = log_in(&api, "192.0.2.66", "admin", PASSWORD).await.status;
    let at_home = log_in(&api, "192.0.2.1", "admin", PASSWORD).await.status;

    assert_eq!((elsewhere.as_u16(), at_home.as_u16()), (401, 200));
}

#[tokio::test]
async fn an_address_is_held_by_its_failures_alone() {
    let api = api().await;
    api.administrator().put(SETTINGS, &json!({"addressFailures": 3})).await;
    for _ in 0..20 {
        assert_eq!(log_in(&api, "192.0.2.1", "member", PASSWORD).await.status, 200);
    }
    for username in ["nobody", "member", "no one"] {
        assert_eq!(log_in(&api, "192.0.2.1", username, "wrong").await.status, 401);
    }
    api.clock.advance(time::Duration::seconds(15));

    let held = log_in(&api, "192.0.2.1", "member", PASSWORD).await;
    let elsewhere = log_in(&api, "192.0.2.2", "member", PASSWORD).await;
    api.clock.advance(time::Duration::seconds(45));
    let afterwards = log_in(&api, "192.0.2.1", "member", PASSWORD).await;

    assert_eq!(held.refusal(), (429, "throttled".to_owned()));
    assert_eq!(held.headers[RETRY_AFTER], "45");
    assert_eq!((elsewhere.status.as_u16(), afterwards.status.as_u16()), (200, 200));
}

#[tokio::test]
async fn guesses_of_the_old_password_count_too() {
    let api = api().await;
    api.administrator().put(SETTINGS, &json!({"loginFailures": 2})).await;
    let member = api.member();
    let change = |old: &str| json!({"oldPassword": old, "newPassword": "another horse, battery"});
    for _ in 0..2 {
        let answer = member.post("/api/currentuser/password", &change("wrong")).await;
        assert_eq!(answer.refusal(), (401, "bad_credentials".to_owned()));
    }

    let right = member.post("/api/currentuser/password", &change(PASSWORD)).await;

    assert_eq!(right.refusal(), (401, "bad_credentials".to_owned()));
    assert_eq!(log_in(&api, "192.0.2.1", "member", PASSWORD).await.status, 401);
}

#[tokio::test]
async fn a_user_comes_only_from_where_every_team_of_theirs_allows() {
    let api = api().await;
    let list = json!({"ipWhiteList": "192.0.2.0/24, 2001:db8::1-2001:db8::5"});
    let path = format!("/api/admin/teams/{}", api.default_team);
    assert_eq!(api.administrator().put(&path, &list).await.status, 200);
    for (address, is_allowed) in
        [("192.0.2.7", true), ("2001:db8::3", true), ("198.51.100.1", false), ("::1", false)]
    {
        let login = log_in(&api, address, "member", PASSWORD).await;
        let call = api.member().from(address).get("/api/currentuser").await;

        if is_allowed {
            assert_eq!((login.status, call.status), (200.try_into().unwrap(), login.status));
        } else {
            assert_eq!(login.refusal(), (401, "bad_credentials".to_owned()), "{address}");
            assert_eq!(call.refusal(), (403, "address_not_allowed".to_owned()), "{address}");
        }
    }
    assert_eq!(log_in(&api, "198.51.100.1", "admin", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn the_word_of_a_trusted_proxy_counts_and_of_nobody_else() {
    let trusted = crate::ip_white_list::IpWhiteList::read("10.0.0.1").unwrap();
    let api = api_with(|config| config.trusted_proxies = trusted).await;
    let path = format!("/api/admin/teams/{}", api.default_team);
    let list = json!({"ipWhiteList": "192.0.2.0/24"});
    assert_eq!(api.administrator().put(&path, &list).await.status, 200);
    for (peer, said, status) in [
        ("10.0.0.1", "192.0.2.7", 200),
        ("10.0.0.1", "192.0.2.7, 198.51.100.1", 403),
        ("198.51.100.1", "192.0.2.7", 403),
    ] {
        let member = api.member().from(peer);
        let request = member.request(axum::http::Method::GET, "/api/currentuser");
        let request = request.header("x-forwarded-for", said);
        let answer = member.send(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(answer.status, status, "{peer} {said}");
    }
}
