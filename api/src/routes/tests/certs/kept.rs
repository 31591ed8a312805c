//! Private keys that are kept, downloaded and removed.

use axum::body::Body;
use axum::http::{Method, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use time::Duration;

use super::{ISSUER, last, path};
use crate::key_data::purge_once;
use crate::store::account::Group;
use crate::testing::{Answer, Api, Persona, api_with_issuer, insert_team, insert_user};

const SETTINGS: &str = "/api/admin/settings";
const GONE: (u16, &str) = (410, "key_data_gone");

pub(super) async fn made(persona: &Persona) -> Value {
    let body = json!({
        "caName": ISSUER, "dn": "CN=www.example.test", "csrGeneratorName": "ECDSA P-256",
        "p12Password": "open sesame",
    });
    let answer = persona.post("/api/certs/request", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

pub(super) async fn keep_for(api: &Api, value: u32, unit: &str) {
    let body = json!({"privateKeyRetentionPeriod": {"value": value, "unit": unit}});
    let answer = api.administrator().put(SETTINGS, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

pub(super) async fn p12(persona: &Persona, issued: &Value) -> Answer {
    persona.get(&format!("{}/p12", path(issued))).await
}

fn removed() -> (String, String) {
    let told = "The private key was removed: its Private Key Retention Period was over";
    ("key data removed".to_owned(), told.to_owned())
}

pub(super) fn code(answer: &Answer) -> (u16, String) {
    answer.refusal()
}

fn gone() -> (u16, String) {
    (GONE.0, GONE.1.to_owned())
}

async fn record(api: &Api, issued: &Value) -> Value {
    api.member().get(&path(issued)).await.json()
}

#[tokio::test]
async fn the_owner_downloads_the_very_file_in_two_forms_and_the_history_tells() {
    let api = api_with_issuer().await;
    let member = api.member();
    let issued = made(&member).await;
    let base64 = issued["p12Data"].as_str().unwrap();

    let text = p12(&member, &issued).await;
    let request = member
        .request(Method::GET, &format!("{}/p12", path(&issued)))
        .header(header::ACCEPT, "text/html, application/octet-stream;q=0.9");
    let bytes = member.send(request.body(Body::empty()).unwrap()).await;
    let jks = member.get(&format!("{}/jks", path(&issued))).await;
    let pem = member.get(&format!("{}/pem", path(&issued))).await;

    assert_eq!((text.status.as_u16(), text.text.as_str()), (200, base64));
    assert_eq!(bytes.bytes, STANDARD.decode(base64).unwrap());
    assert_eq!(bytes.headers["content-type"], "application/octet-stream");
    assert_eq!(STANDARD.decode(jks.text).unwrap()[..4], [0xfe, 0xed, 0xfe, 0xed]);
    assert!(pem.text.starts_with(issued["pemCert"].as_str().unwrap()));
    assert!(pem.text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
    for answer in [&text, &bytes] {
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
    let record = record(&api, &issued).await;
    assert_eq!(record["hasKeyData"], true);
    let history = record["history"].as_array().unwrap();
    let told = history.iter().map(|entry| entry["details"].as_str().unwrap());
    let mut told: Vec<_> = told.filter_map(|told| told.strip_prefix("User member ")).collect();
    told.sort_unstable();
    let p12 = "downloaded the private key as PKCS #12";
    let expected = [
        "created the certificate; CSR Generator ECDSA P-256 made the key",
        "downloaded the private key as JKS",
        "downloaded the private key as PEM",
        p12,
        p12,
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn who_does_not_want_octets_gets_text_whatever_else_it_accepts() {
    let api = api_with_issuer().await;
    let issued = made(&api.member()).await;
    for accepted in ["application/json", "*/*", "application/octet-stream;q=0", "text/html;q=0.1"] {
        let request = api
            .member()
            .request(Method::GET, &format!("{}/p12", path(&issued)))
            .header(header::ACCEPT, accepted);
        let answer = api.member().send(request.body(Body::empty()).unwrap()).await;

        assert_eq!(answer.status, 200, "{accepted}");
        assert_eq!(answer.text, issued["p12Data"].as_str().unwrap(), "{accepted}");
    }
}

#[tokio::test]
async fn a_head_takes_nothing_along_and_is_no_download() {
    let api = api_with_issuer().await;
    let issued = made(&api.member()).await;
    for form in ["p12", "jks", "pem"] {
        let request = api.member().request(Method::HEAD, &format!("{}/{form}", path(&issued)));
        let answer = api.member().send(request.body(Body::empty()).unwrap()).await;

        assert_eq!((answer.status.as_u16(), answer.bytes.len()), (200, 0), "{form}");
    }

    assert_eq!(record(&api, &issued).await["history"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn nobody_but_the_owner_downloads_it_and_the_right_goes_with_the_ownership() {
    let api = api_with_issuer().await;
    let issued = made(&api.member()).await;
    let colleague = insert_user(&api.state, "colleague", &[api.default_team]).await;
    let team = insert_team(&api.state, "Web", Group::Users).await;
    let stranger = insert_user(&api.state, "stranger", &[team]).await;

    for persona in [api.administrator(), api.user(colleague), api.user(stranger)] {
        let answer = p12(&persona, &issued).await;
        assert_eq!(code(&answer), (403, "not_permitted".to_owned()));
    }
    assert_eq!(code(&p12(&api.anonymous(), &issued).await), (401, "token_missing".to_owned()));

    let change = json!({"ownerUserId": colleague});
    assert_eq!(api.member().patch(&path(&issued), &change).await.status, 200);
    assert_eq!(p12(&api.user(colleague), &issued).await.text, issued["p12Data"].as_str().unwrap());
    assert_eq!(code(&p12(&api.member(), &issued).await), (403, "not_permitted".to_owned()));
}

#[tokio::test]
async fn with_a_period_of_0_nothing_is_kept() {
    let api = api_with_issuer().await;
    keep_for(&api, 0, "days").await;

    let issued = made(&api.member()).await;

    assert!(issued["p12Data"].as_str().unwrap().len() > 1000);
    assert_eq!(record(&api, &issued).await["hasKeyData"], false);
    assert_eq!(code(&p12(&api.member(), &issued).await), gone());
}

#[tokio::test]
async fn a_key_is_kept_to_the_last_moment_of_its_period_and_no_byte_of_it_longer() {
    let api = api_with_issuer().await;
    for (value, unit, period) in [
        (1, "days", Duration::DAY),
        (180, "days", Duration::days(180)),
        (90, "minutes", Duration::minutes(90)),
    ] {
        keep_for(&api, value, unit).await;
        let issued = made(&api.member()).await;
        let id = issued["id"].as_str().unwrap().parse().unwrap();
        let kept = api.state.store.key_data(id).await.unwrap().unwrap();
        let is_on_disk = |bytes: &[u8]| {
            api.database.bytes_on_disk().windows(64).any(|window| bytes[100..164] == *window)
        };
        assert!(is_on_disk(&kept.p12), "{value} {unit}");

        api.clock.advance(period - Duration::MILLISECOND);
        assert_eq!(purge_once(&api.state).await.unwrap(), Some(0));
        assert_eq!(p12(&api.member(), &issued).await.status, 200);
        api.clock.advance(Duration::MILLISECOND);
        // From that moment on, whether or not the job has run.
        assert_eq!(code(&p12(&api.member(), &issued).await), gone());
        assert_eq!(purge_once(&api.state).await.unwrap(), Some(1));
        assert_eq!(purge_once(&api.state).await.unwrap(), Some(0));

        assert_eq!(code(&p12(&api.member(), &issued).await), gone());
        let record = record(&api, &issued).await;
        assert_eq!(record["hasKeyData"], false);
        assert_eq!(last(&record), removed());
        for form in [&kept.p12, &kept.jks, &kept.pem] {
            assert!(!is_on_disk(form), "{value} {unit}");
        }
    }
}

#[tokio::test]
async fn a_shorter_period_removes_what_is_older_and_a_longer_one_brings_nothing_back() {
    let api = api_with_issuer().await;
    keep_for(&api, 10, "days").await;
    let old = made(&api.member()).await;
    api.clock.advance(Duration::days(5));
    let young = made(&api.member()).await;

    keep_for(&api, 4, "days").await;
    assert_eq!(purge_once(&api.state).await.unwrap(), Some(1));
    keep_for(&api, 20, "days").await;
    api.clock.advance(Duration::days(6));
    assert_eq!(purge_once(&api.state).await.unwrap(), Some(0));

    assert_eq!(code(&p12(&api.member(), &old).await), gone());
    assert_eq!(p12(&api.member(), &young).await.status, 200);
}

#[tokio::test]
async fn what_is_over_stays_over_when_the_period_is_lengthened_before_the_job_has_run() {
    let api = api_with_issuer().await;
    keep_for(&api, 10, "days").await;
    let old = made(&api.member()).await;
    api.clock.advance(Duration::days(5));
    let young = made(&api.member()).await;

    keep_for(&api, 4, "days").await;
    keep_for(&api, 20, "days").await;

    assert_eq!(code(&p12(&api.member(), &old).await), gone());
    assert_eq!(p12(&api.member(), &young).await.status, 200);
    assert_eq!(record(&api, &old).await["hasKeyData"], false);
    assert_eq!(record(&api, &young).await["hasKeyData"], true);
    assert_eq!(purge_once(&api.state).await.unwrap(), Some(1));
    assert_eq!(last(&record(&api, &old).await), removed());
    assert_eq!(p12(&api.member(), &young).await.status, 200);
    api.clock.advance(Duration::days(20));
    assert_eq!(code(&p12(&api.member(), &young).await), (410, GONE.1.to_owned()));
}

#[tokio::test]
async fn the_record_and_the_search_say_what_a_download_would() {
    let api = api_with_issuer().await;
    keep_for(&api, 1, "days").await;
    let issued = made(&api.member()).await;
    for (wait, is_kept) in
        [(Duration::DAY - Duration::MILLISECOND, true), (Duration::MILLISECOND, false)]
    {
        api.clock.advance(wait);

        let found = api.member().post("/api/certs/search", &json!({})).await.json();
        let listed = api.member().get("/api/certs").await.json();
        let one = record(&api, &issued).await;
        let shown = |list: &Value| {
            let list = list.as_array().unwrap();
            list.iter().find(|row| row["id"] == issued["id"]).unwrap()["hasKeyData"].clone()
        };

        for flag in [shown(&found), shown(&listed), one["hasKeyData"].clone()] {
            assert_eq!(flag, json!(is_kept));
        }
        assert_eq!(p12(&api.member(), &issued).await.status == 200, is_kept);
    }
}

#[tokio::test]
async fn a_record_that_is_deleted_takes_its_key_along() {
    let api = api_with_issuer().await;
    let issued = made(&api.member()).await;
    api.clock.advance(Duration::days(398));

    let answer = api.administrator().delete(&path(&issued)).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
    let id = issued["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(api.state.store.key_data(id).await.unwrap(), None);
}
