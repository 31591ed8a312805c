//! `DELETE /certs/{id}`.

use serde_json::{Value, json};
use time::Duration;

use super::{issued, last, path, records};
use crate::reconcile;
use crate::testing::{Api, api_with_issuer};

/// Past the end of every end-entity certificate.
fn expire(api: &Api) {
    api.clock.advance(Duration::days(400));
}

async fn revoke(api: &Api, record: &Value) {
    let id = record["id"].as_str().unwrap();
    let sql = format!(
        "UPDATE certificate SET revoked = 1, revoked_at = 1795831200000, \
         revocation_reason = 'keyCompromise' WHERE certificate_id = '{id}'"
    );
    api.state.store.execute_for_test(&sql).await;
}

#[tokio::test]
async fn a_record_whose_certificate_is_over_goes_with_all_of_it_and_is_answered_as_it_was() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    expire(&api);
    let before = api.administrator().get(&path(&record)).await.json();

    let answer = api.administrator().delete(&path(&record)).await;

    assert_eq!((answer.status.as_u16(), answer.json()), (200, before));
    assert_eq!(api.administrator().get(&path(&record)).await.status, 404);
    let csr = record["csrId"].as_str().unwrap().parse().unwrap();
    assert_eq!(api.state.store.csr(csr).await.unwrap(), None);
    let again = api.administrator().delete(&path(&record)).await;
    assert_eq!(again.refusal(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_record_that_was_deleted_stays_deleted() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    revoke(&api, &record).await;
    api.administrator().delete(&path(&record)).await;
    let before = records(&api).await;
    // As if nothing of the journal had been compared yet.
    let zeros = "0".repeat(64);
    let sql = format!("UPDATE journal_head SET reconciled_seq = 0, reconciled_hash = '{zeros}'");
    api.state.store.execute_for_test(&sql).await;
    api.clock.advance(Duration::minutes(2));

    let report = reconcile::run_once(&api.state).await.unwrap();

    assert_eq!(report.recovered, 0);
    assert_eq!(records(&api).await, before);
}

#[tokio::test]
async fn only_an_administrator_deletes_records() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    expire(&api);

    let answer = api.member().delete(&path(&record)).await;

    assert_eq!(answer.refusal(), (403, "not_administrator".to_owned()));
    assert_eq!(api.member().get(&path(&record)).await.status, 200);
}

#[tokio::test]
async fn a_certificate_that_works_keeps_its_record_and_so_does_a_ca_while_there_is_one() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    let ca = format!("/api/certs/{}", record["issuerCertId"].as_str().unwrap());
    let ca = api.member().get(&ca).await.json();

    let valid = api.administrator().delete(&path(&record)).await;
    revoke(&api, &ca).await;
    let of_ca = api.administrator().delete(&path(&ca)).await;

    assert_eq!(valid.refusal(), (409, "wrong_state".to_owned()));
    assert_eq!(of_ca.refusal(), (409, "in_use".to_owned()));
    let dependant = &of_ca.json()["dependants"][0];
    assert_eq!((&dependant["kind"], &dependant["id"]), (&json!("localca"), &record["localCaId"]));
    assert_eq!(records(&api).await.len(), 3);
}

#[tokio::test]
async fn what_others_say_of_it_is_cleared() {
    let api = api_with_issuer().await;
    let (old, new) = (issued(&api.member()).await, issued(&api.member()).await);
    let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
    for (column, of, to) in
        [("renewed_by_certificate_id", &old, &new), ("renews_certificate_id", &new, &old)]
    {
        let (of, to) = (id(of), id(to));
        let sql = format!("UPDATE certificate SET {column} = '{to}' WHERE certificate_id = '{of}'");
        api.state.store.execute_for_test(&sql).await;
    }
    revoke(&api, &old).await;

    api.administrator().delete(&path(&old)).await;

    let left = api.member().get(&path(&new)).await.json();
    assert_eq!(left["renewsCertId"], Value::Null);
}

#[tokio::test]
async fn only_an_administrator_brings_a_deleted_record_back_and_it_is_still_revoked() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    revoke(&api, &record).await;
    api.administrator().delete(&path(&record)).await;
    let import = json!({"certData": record["pemCert"]});

    let member = api.member().post("/api/certs/import", &import).await;
    let admin = api.administrator().post("/api/certs/import", &import).await;

    assert_eq!(member.refusal(), (403, "not_permitted".to_owned()));
    let back = admin.json();
    assert_eq!(
        (&back["revoked"], &back["revocationReason"]),
        (&json!(true), &json!("keyCompromise"))
    );
    assert_eq!((&back["localCaId"], &back["imported"]), (&record["localCaId"], &json!(true)));
    assert_eq!(last(&back).0, "imported");
}
