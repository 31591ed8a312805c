//! All certificates.

use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{body, fields, records, request};
use crate::app;
use crate::testing::{Api, api, api_with, api_with_issuer};

#[tokio::test]
async fn without_any_certificate_the_list_is_an_empty_array() {
    let answer = api().await.member().get("/api/certs").await;

    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "[]"));
    assert_eq!(answer.headers["content-type"], "application/json");
}

#[tokio::test]
async fn the_list_has_every_record_as_it_is_read_alone() {
    let api = api_with_issuer().await;
    for _ in 0..3 {
        assert_eq!(request(&api.member(), &body()).await.status, 200);
    }

    let all = api.member().get("/api/certs").await.json();

    let all = all.as_array().unwrap();
    // Root and issuing CA are records too.
    assert_eq!(all.len(), 5);
    for record in all {
        let path = format!("/api/certs/{}", record["id"].as_str().unwrap());
        assert_eq!(*record, api.member().get(&path).await.json());
    }
}

/// Copies of the newest record, so that there are many.
async fn multiply(api: &Api, copies: u32) {
    let newest = records(api).await.pop().unwrap().parse().unwrap();
    let stored = api.state.store.certificate(newest).await.unwrap().unwrap();
    let mut write = api.state.store.begin().await.unwrap();
    for number in 0..copies {
        let mut certificate = stored.certificate.clone();
        certificate.id = api.state.new_id();
        certificate.serial_number = format!("{number:040x}");
        certificate.csr_id = None;
        let new = crate::store::certificate::NewCertificate {
            audit: api.state.audited("issue", "certs").made(&certificate).into(),
            certificate,
            csr: None,
            history: Vec::new(),
            key_data: None,
        };
        write.insert_certificate(&new).await.unwrap();
    }
    write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
}

#[tokio::test]
async fn many_records_come_in_one_answer_or_page_by_page_by_the_links() {
    let api = api_with_issuer().await;
    multiply(&api, 600).await;

    let all = records(&api).await;
    let mut by_page: Vec<String> = Vec::new();
    let mut next = Some("/api/certs?limit=250".to_owned());
    let mut pages = 0;
    while let Some(path) = next {
        let answer = api.member().get(&path).await;
        let page = answer.json();
        by_page.extend(page.as_array().unwrap().iter().map(id));
        next = answer.headers.get("link").map(|link| {
            let link = link.to_str().unwrap().strip_suffix(">; rel=\"next\"").unwrap();
            link.strip_prefix('<').unwrap().to_owned()
        });
        pages += 1;
    }
    let rest = api.member().get(&format!("/api/certs?after={}", all[599])).await.json();

    assert_eq!((all.len(), pages), (602, 3));
    assert_eq!(by_page, all);
    assert_eq!(rest.as_array().unwrap().iter().map(id).collect::<Vec<_>>(), all[600..]);
}

fn id(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_page_that_is_full_and_the_last_has_no_link() {
    let api = api_with_issuer().await;

    let answer = api.member().get("/api/certs?limit=2").await;

    assert_eq!(answer.json().as_array().unwrap().len(), 2);
    assert!(!answer.headers.contains_key("link"));
}

#[tokio::test]
async fn the_link_stands_below_the_base_path_that_was_asked() {
    let api = api_with(|config| config.base_paths = vec!["/chancery".to_owned()]).await;
    crate::first_start::run_once(&api.state).await.unwrap();

    let answer = api.member().get("/chancery/api/certs?limit=1").await;

    let link = answer.headers["link"].to_str().unwrap();
    assert!(link.starts_with("</chancery/api/certs?limit=1&after="), "{link}");
}

#[tokio::test]
async fn a_parameter_that_makes_no_sense_is_named() {
    let api = api().await;
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=-1", "limit"),
        ("limit=x", "limit"),
        ("limit=1&limit=2", "limit"),
        ("after=x", "after"),
        ("status=Alive", "status"),
        ("state=Active", "state"),
    ] {
        let answer = api.member().get(&format!("/api/certs?{query}")).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{query}");
        assert_eq!(fields(&answer), [field], "{query}");
    }
    assert_eq!(api.member().get("/api/certs?limit=&after=").await.json(), json!([]));
}

#[tokio::test]
async fn a_list_that_can_not_go_on_breaks_off_and_is_never_a_part_taken_for_the_whole() {
    let api = api_with_issuer().await;
    let last = records(&api).await.pop().unwrap();
    let damage = format!("UPDATE certificate SET der = x'00' WHERE certificate_id = '{last}'");
    api.state.store.execute_for_test(&damage).await;
    let call = api.member().request(Method::GET, "/api/certs").body(Body::empty()).unwrap();

    let response = app::router(&api.state).oneshot(call).await.unwrap();

    assert_eq!(response.status(), 200);
    assert!(response.into_body().collect().await.is_err());
}

#[tokio::test]
async fn a_database_that_is_away_is_told_before_the_list_begins() {
    let api = api().await;
    api.state.store.execute_for_test("ALTER TABLE certificate RENAME TO away").await;

    let answer = api.member().get("/api/certs").await;

    assert_eq!(answer.refusal(), (500, "internal".to_owned()));
}
