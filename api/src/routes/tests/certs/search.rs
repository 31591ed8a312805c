//! Searching.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{body, fields, records, request, with};
use crate::testing::{Answer, Api, api, api_with_issuer};

const PATH: &str = "/api/certs/search";

async fn search(api: &Api, filters: &Value) -> Answer {
    api.member().post(PATH, filters).await
}

/// A service with a certificate of the member, and its record.
async fn with_one() -> (Api, Value) {
    let api = api_with_issuer().await;
    let issued = request(&api.member(), &with(json!({"extraInfo": "Rack 7, left"}))).await;
    let path = format!("/api/certs/{}", issued.json()["certId"].as_str().unwrap());
    let record = api.member().get(&path).await.json();
    (api, record)
}

#[tokio::test]
async fn each_filter_finds_the_record_in_the_forms_that_people_write() {
    let (api, record) = with_one().await;
    let serial = record["serialNumber"].as_str().unwrap();
    let thumbprint = record["thumbprint"].as_str().unwrap();
    let colons = |text: &str| {
        let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        pairs.collect::<Vec<_>>().join(":")
    };
    let issuer = api.member().get("/api/admin/ca").await.json()[0]["id"].clone();
    for filters in [
        json!({"subjectDn": "PEM-001"}),
        json!({"subjectDn": "(?i)^CN=pem-001\\.example\\.test$"}),
        json!({"issuerDn": "issuing", "commonName": "pem-001.example.test"}),
        json!({"san": "dns:pem-001.example.test"}),
        json!({"serialNumber": serial, "status": "Active"}),
        json!({"serialNumber": format!("00{}", serial.to_uppercase()), "commonName": "pem"}),
        json!({"serialNumber": colons(serial)}),
        json!({"thumbprint": colons(thumbprint).to_uppercase()}),
        json!({"thumbprint": format!("\u{200e}{}", thumbprint.replace('a', "A "))}),
        json!({"caName": "Chancery Issuer", "status": "active"}),
        json!({"caName": issuer, "teamName": "Default"}),
        json!({"teamName": record["teamId"], "extraInfo": ""}),
        json!({"ownerUsername": "MEMBER"}),
        json!({"extraInfo": "rack 7"}),
        json!({"subjectDn": "pem", "validFromFrom": record["validFrom"], "validFromTo": record["validFromStr"]}),
        json!({"subjectDn": "pem", "validToFrom": record["validTo"], "validToTo": record["validToStr"]}),
        json!({"subjectDn": "pem", "expiringInDays": 397, "certsPerPage": "1"}),
    ] {
        let answer = search(&api, &filters).await;

        assert_eq!(answer.status, 200, "{filters}: {}", answer.text);
        assert_eq!(answer.json(), json!([record]), "{filters}");
        assert!(!answer.headers.contains_key("link"), "{filters}");
    }
}

#[tokio::test]
async fn what_no_record_is_finds_nothing() {
    let (api, record) = with_one().await;
    for filters in [
        json!({"subjectDn": "pem-002"}),
        json!({"commonName": "pem", "status": "Expired"}),
        json!({"commonName": "pem", "status": "Revoked"}),
        json!({"commonName": "pem", "status": "Renewed"}),
        json!({"caName": "No such"}),
        json!({"teamName": "No such"}),
        json!({"ownerUsername": "nobody"}),
        json!({"serialNumber": "0"}),
        json!({"thumbprint": "0".repeat(40)}),
        json!({"commonName": "pem", "expiringInDays": 396}),
        json!({"commonName": "pem", "validToTo": "2026-01-01"}),
        json!({"validFromFrom": record["validTo"], "validFromTo": record["validFrom"]}),
    ] {
        let answer = search(&api, &filters).await;

        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "[]"), "{filters}");
    }
}

#[tokio::test]
async fn the_status_that_the_record_shows_is_the_one_that_finds_it() {
    let (api, record) = with_one().await;
    let id = record["id"].as_str().unwrap();
    for (change, days) in [
        ("renewed = 1", 0),
        ("renewed = 1", 500),
        ("revoked = 1", 500),
        ("renewed = 0, revoked = 0", 0),
    ] {
        let change = format!("UPDATE certificate SET {change} WHERE certificate_id = '{id}'");
        api.state.store.execute_for_test(&change).await;
        api.clock.advance(time::Duration::days(days));
        let member = api.member();
        let shown = member.get(&format!("/api/certs/{id}")).await.json()["status"].clone();

        for status in ["Active", "Expired", "Revoked", "Renewed"] {
            let answer = member.post(PATH, &json!({"subjectDn": "pem", "status": status})).await;
            let found = answer.json().as_array().unwrap().len();
            assert_eq!(found == 1, shown == status, "{change}, {days}: {status}, not {shown}");
        }
    }
}

#[tokio::test]
async fn a_filter_that_makes_no_sense_is_named() {
    let api = api().await;
    let long = "x".repeat(1025);
    for (filters, field) in [
        (json!({"subjectDN": "x"}), "subjectDN"),
        (json!({"subjectDn": long}), "subjectDn"),
        (json!({"subjectDn": "^(x"}), "subjectDn"),
        (json!({"subjectDn": ["x", "y"]}), "subjectDn"),
        (json!({"issuerDn": "^((a{100}){100}){100}"}), "issuerDn"),
        (json!({"san": long}), "san"),
        (json!({"serialNumber": "12x"}), "serialNumber"),
        (json!({"serialNumber": ":"}), "serialNumber"),
        (json!({"thumbprint": "12"}), "thumbprint"),
        (json!({"status": "Alive"}), "status"),
        (json!({"validToTo": "tomorrow"}), "validToTo"),
        (json!({"expiringInDays": -1}), "expiringInDays"),
        (json!({"expiringInDays": 36_501}), "expiringInDays"),
        (json!({"certsPerPage": 0}), "certsPerPage"),
        (json!({"certsPerPage": 1001}), "certsPerPage"),
        (json!({"certsPerPage": 1, "limit": 2}), "limit"),
        (json!({"after": "x"}), "after"),
        (json!({"after": "f".repeat(24)}), "after"),
    ] {
        let answer = search(&api, &filters).await;

        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{}", answer.text);
        assert_eq!(fields(&answer), [field], "{}", answer.text);
    }
    let answer = search(&api, &json!({"status": "x", "validToTo": "x"})).await;
    assert_eq!(fields(&answer), ["validToTo", "status"]);
    let answer = api.member().get("/api/certs?extraInfo=%00").await;
    assert_eq!(fields(&answer), ["extraInfo"]);
}

#[tokio::test]
async fn the_place_of_a_fault_in_an_expression_is_told() {
    let answer = search(&api().await, &json!({"subjectDn": "^CN=(x"})).await;

    let text = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(text.contains("unclosed group at character 5"), "{text}");
}

#[tokio::test]
async fn the_links_lead_through_all_that_is_found() {
    let api = api_with_issuer().await;
    for _ in 0..5 {
        assert_eq!(request(&api.member(), &body()).await.status, 200);
    }
    let all = records(&api).await;
    let ids = |answer: &Answer| {
        let found = answer.json().as_array().cloned().unwrap();
        found.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let next = |answer: &Answer| {
        let link = answer.headers.get("link")?.to_str().unwrap();
        let address = link.strip_prefix('<').unwrap().strip_suffix(">; rel=\"next\"").unwrap();
        Some(address.to_owned())
    };

    let filters = json!({"commonName": "pem", "certsPerPage": 2, "after": all[0]});
    let (mut posted, mut path) = (Vec::new(), Some(PATH.to_owned()));
    while let Some(address) = path {
        let answer = api.member().post(&address, &filters).await;
        posted.extend(ids(&answer));
        path = next(&answer);
    }
    let mut gotten = Vec::new();
    let mut path = Some("/api/certs?subjectDn=CN%3Dpem&limit=2&status=Active".to_owned());
    while let Some(address) = path {
        let answer = api.member().get(&address).await;
        gotten.extend(ids(&answer));
        path = next(&answer);
    }
    let streamed = api.member().get("/api/certs?san=dns:pem&ownerUsername=member").await;

    assert_eq!(posted, all[2..]);
    assert_eq!(gotten, all[2..]);
    assert_eq!(ids(&streamed), all[2..]);
    assert!(!streamed.headers.contains_key("link"));
}

/// Values of all kinds, sound ones and others.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(Value::from),
        "[\\^(]?(\\?i\\))?[a-zA-Z=.*,\\\\ (){}|+$\\[\\]0-9]{0,40}\\$?".prop_map(Value::from),
        "[0-9a-fA-F: ]{0,50}".prop_map(Value::from),
        "20[0-9]{2}-[01][0-9]-[0-3][0-9][T ]?[0-9:.+Z-]{0,15}".prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!(["x"])),
        Just(json!({"x": 1})),
        Just(json!("Active")),
    ]
}

#[tokio::test]
async fn whatever_is_sent_is_answered_or_refused_and_never_a_fault_of_ours() {
    const NAMES: [&str; 19] = [
        "subjectDn",
        "issuerDn",
        "commonName",
        "san",
        "serialNumber",
        "thumbprint",
        "status",
        "caName",
        "teamName",
        "ownerUsername",
        "extraInfo",
        "validFromFrom",
        "validFromTo",
        "validToFrom",
        "validToTo",
        "expiringInDays",
        "certsPerPage",
        "after",
        "other",
    ];
    let (api, _) = with_one().await;
    let filters = prop::collection::btree_map(prop::sample::select(&NAMES[..]), value(), 0..4);
    let mut runner = TestRunner::default();
    for _ in 0..300 {
        let filters = json!(filters.new_tree(&mut runner).unwrap().current());

        let answer = search(&api, &filters).await;

        let status = answer.status.as_u16();
        assert!([200, 400].contains(&status), "{status}: {filters}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_expression_that_means_a_nul_finds_nothing_and_is_no_fault() {
    let (api, _) = with_one().await;
    api.state.store.index_texts(0, 100).await.unwrap();

    for value in [r"^CN=\x00ab", r"CN=a\x{0}bc.*", r"^\x00\x00\x00\x00"] {
        let answer = search(&api, &json!({"subjectDn": value, "extraInfo": "rack"})).await;

        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "[]"), "{value}");
    }
}
