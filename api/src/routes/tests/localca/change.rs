//! `PUT /admin/localca/{id}`, and out of use for a while.

use serde_json::{Value, json};

use crate::routes::tests::certs::CSR;
use crate::testing::{Api, api_with_issuer};

async fn issuing_ca(api: &Api) -> String {
    let cas = api.administrator().get("/api/admin/localca").await.json();
    let ca = cas.as_array().unwrap().iter().find(|ca| ca["name"] == "Chancery Issuing CA").cloned();
    format!("/api/admin/localca/{}", ca.unwrap()["id"].as_str().unwrap())
}

async fn ask(api: &Api) -> (u16, Value) {
    let body = json!({"caName": "Chancery Issuer", "csr": CSR});
    let answer = api.member().post("/api/certs/requestp10", &body).await;
    (answer.status.as_u16(), answer.json())
}

#[tokio::test]
async fn a_changed_ca_points_elsewhere_in_certificates_from_then_on() {
    let api = api_with_issuer().await;
    let (admin, ca) = (api.administrator(), issuing_ca(&api).await);
    let before = admin.get(&ca).await.json();
    let change = json!({"name": "Renamed CA", "cdps": ["http://crl.example.test/1.crl"]});

    let changed = admin.put(&ca, &change).await;

    assert_eq!(changed.status, 200, "{}", changed.text);
    let changed = changed.json();
    for (field, value) in change.as_object().unwrap() {
        assert_eq!(&changed[field], value, "{field}");
    }
    for field in ["caCertificate", "subjectDn", "aiaOcspUrls", "status", "keyAlgorithm"] {
        assert_eq!(changed[field], before[field], "{field}");
    }
    let (_, issued) = ask(&api).await;
    let record = admin.get(&format!("/api/certs/{}", issued["certId"].as_str().unwrap())).await;
    assert_eq!(record.json()["cdps"], json!(["http://crl.example.test/1.crl"]));
}

#[tokio::test]
async fn an_offline_ca_signs_nothing_until_it_is_online_again() {
    let api = api_with_issuer().await;
    let (admin, ca) = (api.administrator(), issuing_ca(&api).await);

    let offline = admin.post_text(&format!("{ca}/offline"), "").await;
    let (refused, said) = ask(&api).await;
    let online = admin.post_text(&format!("{ca}/online"), "").await;
    let (issued, _) = ask(&api).await;

    assert_eq!((offline.json()["status"].clone(), refused), (json!("offline"), 409), "{said}");
    assert_eq!(said["code"], "ca_not_live");
    assert!(said["message"].as_str().unwrap().contains("offline"), "{said}");
    assert_eq!((online.json()["status"].clone(), issued), (json!("live"), 200));
}

#[tokio::test]
async fn what_can_t_be_changed_is_refused() {
    let api = api_with_issuer().await;
    let (admin, ca) = (api.administrator(), issuing_ca(&api).await);
    for (body, status, code) in [
        (json!({"name": ""}), 200, ""),
        (json!({"name": " x"}), 400, "invalid_request"),
        (json!({"name": "Chancery Root CA"}), 409, "name_taken"),
        (json!({"cdps": ["ftp://x"]}), 400, "invalid_request"),
        (json!({"subjectDn": "CN=Other"}), 400, "invalid_request"),
        (json!({"status": "offline"}), 400, "invalid_request"),
    ] {
        let answer = admin.put(&ca, &body).await;

        let said = answer.json()["code"].as_str().unwrap_or_default().to_owned();
        assert_eq!((answer.status.as_u16(), &*said), (status, code), "{body}: {}", answer.text);
    }
    let issuers = admin.get("/api/admin/ca").await.json();
    admin.delete(&format!("/api/admin/ca/{}", issuers[0]["id"].as_str().unwrap())).await;
    assert_eq!(admin.delete(&ca).await.status, 200);
    assert_eq!(admin.put(&ca, &json!({"name": "X"})).await.status, 404);
    assert_eq!(admin.post_text(&format!("{ca}/offline"), "").await.status, 404);
}
