//! Lists, downloads and verification.

use axum::http::header;
use serde_json::{Value, json};

use crate::app;
use crate::store::testing::both;
use crate::testing::{Persona, api, api_on};

#[tokio::test]
async fn entries_are_listed_page_by_page_and_downloaded_a_line_each() {
    let api = api().await;
    let admin = api.administrator();
    for number in 0..7 {
        admin.post("/api/admin/teams", &json!({"name": format!("Team {number}")})).await;
    }

    let (mut names, mut path) =
        (Vec::new(), "/api/admin/audit?objectKind=teams&limit=3".to_owned());
    loop {
        let page = admin.get(&path).await;
        for entry in page.json().as_array().unwrap() {
            names.push(entry["after"]["name"].as_str().unwrap().to_owned());
        }
        let Some(link) = page.headers.get(header::LINK) else { break };
        let link = link.to_str().unwrap().trim_start_matches('<');
        path = link.split('>').next().unwrap().to_owned();
    }
    let download = admin.get("/api/admin/audit/download?action=create").await;

    let expected: Vec<_> = (0..7).map(|number| format!("Team {number}")).collect();
    let lines: Vec<Value> =
        download.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let downloaded: Vec<_> = lines.iter().map(|line| line["objectName"].clone()).collect();
    assert_eq!(downloaded, expected);
    names.reverse();
    assert_eq!(names, expected);
    assert_eq!(download.headers[header::CONTENT_TYPE], "application/jsonl");
    let one = &lines[0];
    let stated = json!({
        "timestamp": "2026-11-28T02:00:00.000+00:00", "chain": 1, "number": 1,
        "userId": api.admin_id(), "username": "admin", "apiTokenId": null, "address": "127.0.0.1",
        "requestId": one["requestId"], "action": "create", "objectKind": "teams",
        "objectId": one["objectId"], "objectName": "Team 0", "before": null, "after": one["after"],
        "result": "ok", "times": 1, "hash": one["hash"],
    });
    assert_eq!(*one, stated);
}

#[tokio::test]
async fn a_later_download_brings_what_the_earlier_ones_have_not_whatever_its_time() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let second = app::router(&api.second_process().await);
        let (admin, other) = (api.administrator(), api.administrator().at(second));
        let make = async |by: &Persona, name: &str| {
            let made = by.post("/api/admin/teams", &json!({"name": name})).await;
            assert_eq!(made.status, 200, "{engine}: {}", made.text);
        };
        let download = "/api/admin/audit/download?objectKind=teams";
        let mut path = download.to_owned();
        let mut downloaded = async || {
            let answer = admin.get(&path).await;
            assert_eq!(answer.status, 200, "{engine}: {}", answer.text);
            let after = answer.headers["audit-after"].to_str().unwrap();
            path = format!("{download}&after={after}");
            let name = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
            let lines = answer.text.lines().map(name);
            lines.map(|line| line["objectName"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        make(&admin, "one").await;
        make(&other, "two").await;
        api.clock.advance(time::Duration::minutes(20));
        make(&admin, "three").await;

        let first = downloaded().await;
        let nothing = downloaded().await;
        // A process whose clock is behind, or whose transaction took its time.
        api.clock.advance(-time::Duration::minutes(15));
        make(&other, "four").await;
        api.clock.advance(time::Duration::minutes(20));
        make(&admin, "five").await;
        let second = downloaded().await;

        assert_eq!(first, ["one", "two", "three"], "{engine}");
        assert_eq!(nothing, Vec::<String>::new(), "{engine}");
        assert_eq!(second, ["five", "four"], "{engine}: chain by chain");
        let old = admin.get("/api/admin/audit/download?after=1.x").await;
        assert_eq!(old.refusal(), (400, "invalid_request".to_owned()), "{engine}");
    }
}

#[tokio::test]
async fn a_question_that_makes_no_sense_is_refused_and_its_fields_are_named() {
    let api = api().await;
    let admin = api.administrator();
    for (query, field) in [
        ("from=soon", "from"),
        ("to=2026-99-01", "to"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("after=x", "after"),
        ("after=1.2", "after"),
        ("user=x", "user"),
    ] {
        let answer = admin.get(&format!("/api/admin/audit?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        assert_eq!(answer.json()["fields"][0]["field"], field, "{}", answer.text);
    }
    let long = "x".repeat(257);
    let answer = admin.get(&format!("/api/admin/audit?username={long}")).await;
    assert_eq!(answer.json()["fields"][0]["field"], "username");
}

#[tokio::test]
async fn a_changed_entry_is_told_with_its_number() {
    let api = api().await;
    for name in ["One", "Two"] {
        api.administrator().post("/api/admin/teams", &json!({"name": name})).await;
    }
    for sql in [
        "DROP TRIGGER audit_is_not_changed",
        "UPDATE audit SET username = 'member' WHERE entry_no = 2",
    ] {
        api.state.store.execute_for_test(sql).await;
    }

    let chains = api.administrator().get("/api/admin/audit/verify").await.json();

    let found = ["chain", "ok", "faultAt", "fault"].map(|field| chains[0][field].clone());
    let fault =
        "the entry, the one before it, or the beginning of the chain is not what was written";
    assert_eq!(found, [json!(1), json!(false), json!(2), json!(fault)]);
}
