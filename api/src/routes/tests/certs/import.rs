//! `POST /certs/import`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use time::Duration;

use super::{CSR, fields, issued, last, path, records};
use crate::reconcile;
use crate::store::account::Group;
use crate::testing::{Answer, Api, Persona, api_with_issuer, insert_team, insert_user};

pub(in crate::routes::tests) const FOREIGN: &str =
    include_str!("../../../../../tests/cases/crt/crt-014.cert.pem");
pub(super) const OTHER: &str = include_str!("../../../../../tests/cases/crt/crt-016.cert.pem");

pub(super) async fn import(persona: &Persona, body: &Value) -> Answer {
    persona.post("/api/certs/import", body).await
}

/// Base64 of the DER of a record's certificate, its last byte another one: signed by nobody.
pub(super) fn forged(record: &Value) -> String {
    let mut der = pem::parse(record["pemCert"].as_str().unwrap()).unwrap().into_contents();
    *der.last_mut().unwrap() ^= 1;
    STANDARD.encode(der)
}

/// Takes the record out of the database, as if it had never been made.
pub(super) async fn lose(api: &Api, record: &Value) {
    let id = record["id"].as_str().unwrap();
    for table in ["history", "certificate"] {
        let sql = format!("DELETE FROM {table} WHERE certificate_id = '{id}'");
        api.state.store.execute_for_test(&sql).await;
    }
    api.state.store.execute_for_test("DELETE FROM csr").await;
}

#[tokio::test]
async fn a_foreign_certificate_is_on_record_with_what_was_said_of_it() {
    let api = api_with_issuer().await;
    let body = json!({
        "certData": FOREIGN, "extraInfo": "from the old CA", "msTemplateName": "WebServer",
        "revoked": false, "csrData": "", "ownerUserId": null, "teamId": "",
    });

    let answer = import(&api.member(), &body).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
    let record = answer.json();
    assert_eq!(record, api.member().get(&path(&record)).await.json());
    for (field, value) in [
        ("imported", json!(true)),
        ("importTime", json!("2026-11-28T02:00:00.000+00:00")),
        ("extraDetails", json!("from the old CA")),
        ("msTemplateName", json!("WebServer")),
        ("ownerUsername", json!("member")),
        ("teamName", json!("Default")),
        ("commonName", json!("crt-014.example.test")),
        ("revoked", json!(false)),
        ("trackExpiry", json!(true)),
        ("hasKeyData", json!(false)),
        ("caId", Value::Null),
        ("localCaId", Value::Null),
        ("csrId", Value::Null),
        ("issuerCertId", Value::Null),
    ] {
        assert_eq!(record[field], value, "{field}");
    }
    let told = "User member imported the certificate; no CA of this service signed it";
    assert_eq!(last(&record), ("imported".to_owned(), told.to_owned()));
    let chain = api.member().get(&format!("{}/chain", path(&record))).await;
    assert_eq!(chain.text.matches("BEGIN").count(), 1);
}

#[tokio::test]
async fn it_belongs_to_a_local_ca_whose_key_signed_it_and_reconciliation_finds_it_there() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    lose(&api, &record).await;
    let body = json!({
        "certData": record["pemCert"], "csrData": CSR, "certIssuerId": record["caId"],
        "ownerUserId": record["ownerUserId"], "teamId": record["teamId"],
    });

    let refused = import(&api.member(), &body).await;
    let imported = import(&api.administrator(), &body).await.json();

    // Whoever brings it first would own what someone else asked for.
    assert_eq!(refused.refusal(), (403, "not_permitted".to_owned()));

    for field in ["localCaId", "issuerCertId", "caId", "serialNumber", "pemCert", "ownerUserId"] {
        assert_eq!(imported[field], record[field], "{field}");
    }
    let told = "User admin imported the certificate; a Local CA of this service signed it";
    assert_eq!(last(&imported).1, told);
    let csr = api.member().get(&format!("{}/csr", path(&imported))).await;
    assert_eq!(csr.status, 200, "{}", csr.text);
    let before = records(&api).await;
    let zeros = "0".repeat(64);
    let sql = format!("UPDATE journal_head SET reconciled_seq = 0, reconciled_hash = '{zeros}'");
    api.state.store.execute_for_test(&sql).await;
    api.clock.advance(Duration::minutes(2));
    let report = reconcile::run_once(&api.state).await.unwrap();
    assert_eq!((report.recovered, report.alarms), (0, 0));
    assert_eq!(records(&api).await, before);
}

#[tokio::test]
async fn a_forged_one_is_foreign_and_never_in_the_way_of_the_ca_s_own() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    lose(&api, &record).await;

    // Before the CA's own record is there, and beside it.
    let early = import(&api.member(), &json!({"certData": forged(&record)})).await.json();
    api.clock.advance(Duration::minutes(2));
    let zeros = "0".repeat(64);
    let sql = format!("UPDATE journal_head SET reconciled_seq = 0, reconciled_hash = '{zeros}'");
    api.state.store.execute_for_test(&sql).await;
    let report = reconcile::run_once(&api.state).await.unwrap();

    assert_eq!((&early["localCaId"], &early["issuerCertId"]), (&Value::Null, &Value::Null));
    assert_eq!(early["serialNumber"], record["serialNumber"]);
    assert_eq!(early["issuerDn"], record["issuerDn"]);
    assert_eq!(report.recovered, 1);
    let own = api.member().get(&path(&record)).await.json();
    assert_eq!((&own["pemCert"], &own["localCaId"]), (&record["pemCert"], &record["localCaId"]));
    let body = json!({"certData": OTHER, "certIssuerId": record["caId"]});
    let named = import(&api.member(), &body).await;
    assert_eq!(named.refusal(), (400, "invalid_request".to_owned()));
    assert_eq!(fields(&named), ["certIssuerId"]);
}

#[tokio::test]
async fn a_duplicate_is_named_by_its_id_and_in_the_sentence_that_scripts_read() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    let foreign = import(&api.member(), &json!({"certData": FOREIGN})).await.json();
    for known in [&record, &foreign] {
        let answer = import(&api.administrator(), &json!({"certData": known["pemCert"]})).await;

        assert_eq!(answer.refusal(), (409, "duplicate_certificate".to_owned()));
        assert_eq!(answer.json()["certId"], known["id"]);
        let sentence = format!(
            "The certificate is already present in the system. Details: id: {}, owner: member, \
             team id: {}",
            known["id"].as_str().unwrap(),
            api.default_team
        );
        assert_eq!(answer.json()["message"], sentence);
    }
}

#[tokio::test]
async fn concurrent_imports_of_one_certificate_make_one_record() {
    let api = api_with_issuer().await;
    let (member, body) = (api.member(), json!({"certData": FOREIGN}));

    let answers = futures::future::join_all((0..8).map(|_| import(&member, &body))).await;

    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(records(&api).await.len(), 3);
}

#[tokio::test]
async fn a_revocation_comes_with_it_or_with_its_duplicate_from_someone_who_may_revoke() {
    let api = api_with_issuer().await;
    let other = insert_team(&api.state, "Other", Group::Users).await;
    let stranger = insert_user(&api.state, "stranger", &[other]).await;
    let record = issued(&api.member()).await;
    let body = |reason: &str| {
        json!({
            "certData": record["pemCert"], "revoked": true,
            "revocationTime": "2026-11-28 01:00:00", "revocationReason": reason,
        })
    };

    let refused = import(&api.user(stranger), &body("hold")).await;
    api.clock.advance(Duration::SECOND);
    let held = import(&api.member(), &body("hold")).await;
    api.clock.advance(Duration::SECOND);
    let held_again = import(&api.member(), &body("certificateHold")).await;
    let revoked = import(&api.member(), &body("Key Compromise")).await;
    let too_late = import(&api.administrator(), &body("superseded")).await;

    assert_eq!(refused.refusal(), (409, "duplicate_certificate".to_owned()));
    assert_eq!(
        (held.status.as_u16(), &held.json()["revocationReason"]),
        (200, &json!("certificateHold"))
    );
    assert_eq!(held_again.status, 409);
    let revoked = revoked.json();
    assert_eq!((&revoked["status"], &revoked["active"]), (&json!("Revoked"), &json!(false)));
    assert_eq!(revoked["revocationTime"], "2026-11-28T01:00:00.000+00:00");
    assert_eq!(revoked["revocationReason"], "keyCompromise");
    let told = "User member imported it again, revoked since 2026-11-28 01:00:00 (keyCompromise)";
    assert_eq!(last(&revoked), ("revoked".to_owned(), told.to_owned()));
    assert_eq!(too_late.status, 409);
    let mut new = body("superceded");
    new["certData"] = json!(FOREIGN);
    let new = import(&api.member(), &new).await.json();
    assert_eq!((&new["revoked"], &new["revocationReason"]), (&json!(true), &json!("superseded")));
    let told = "User member imported the certificate; no CA of this service signed it; revoked \
                since 2026-11-28 01:00:00 (superseded)";
    assert_eq!(last(&new), ("imported".to_owned(), told.to_owned()));
}

#[tokio::test]
async fn a_local_ca_is_not_revoked_by_importing_its_certificate() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    let ca = format!("/api/certs/{}", record["issuerCertId"].as_str().unwrap());
    let before = api.administrator().get(&ca).await.json();
    let body = json!({"certData": before["pemCert"], "revoked": true});

    let answer = import(&api.administrator(), &body).await;

    assert_eq!(answer.refusal(), (409, "duplicate_certificate".to_owned()));
    assert_eq!(api.administrator().get(&ca).await.json(), before);
}
