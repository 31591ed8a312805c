//! From a CSR to its record.

use axum::body::Body;
use axum::http::{Method, header};
use chancery_shared::wire::journal::{Entry, Event};
use serde_json::json;

use super::{CSR, body, request, with};
use crate::certificate::CertificateFacts;
use crate::issuance::csr_text;
use crate::testing::api_with_issuer;

#[tokio::test]
async fn a_csr_becomes_a_certificate_whose_record_has_all_of_it() {
    let api = api_with_issuer().await;
    let body = with(json!({
        "teamName": "Default", "extraInfo": "rack 12\r\n\u{1f512}",
        "extraEmails": ["ops@example.test", ""],
        "subjectAltNames": ["dns:WWW.example.test", "IP:2001:DB8::1"],
    }));

    let answer = request(&api.member(), &body).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
    let issued = answer.json();
    let (id, pem) = (&issued["certId"], issued["pemCert"].as_str().unwrap());
    assert_eq!(issued, json!({"certId": id, "id": id, "pemCert": pem}));
    assert_eq!(pem.matches('\n').count(), pem.matches("\r\n").count());

    let path = format!("/api/certs/{}", id.as_str().unwrap());
    let record = api.member().get(&path).await.json();
    let der = pem::parse(pem).unwrap().into_contents();
    let facts = CertificateFacts::read(&der).unwrap();
    let cert_issuer =
        api.state.store.live_cert_issuer_named("Chancery Issuer").await.unwrap().unwrap();
    let ca = api.state.store.local_ca(cert_issuer.local_ca_id).await.unwrap().unwrap();
    let from_certificate = json!({
        "id": id, "caId": cert_issuer.id, "localCaId": ca.id, "csrId": record["csrId"], "pemCert": pem,
        "commonName": "pem-001.example.test", "subjectDn": "CN=pem-001.example.test",
        "issuerDn": "CN=Chancery Issuing CA", "issuerCertId": ca.certificate_id,
        "serialNumber": facts.recorded.serial_number, "signatureAlgorithm": "ECDSA",
        "hashAlgorithm": "SHA-256", "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication", "Client Authentication"],
        "subjectAlternativeNames":
            ["DNS:pem-001.example.test", "DNS:WWW.example.test", "IP:2001:db8::1"],
        "validFrom": "2026-11-28T01:55:00.000+00:00", "validTo": "2027-12-30T01:54:59.000+00:00",
        "validFromStr": "2026-11-28 01:55:00", "validToStr": "2027-12-30 01:54:59",
        "aias": [], "cdps": [], "thumbprint": facts.recorded.thumbprint, "policies": [], "keySize": "256",
        "eccCurve": "P-256", "msTemplateName": null, "isCa": false, "daysToExpiry": 396.99652,
    });
    let from_request = json!({
        "ownerUserId": api.member_id(), "ownerUsername": "member", "teamId": api.default_team,
        "active": true, "renewed": false, "renewedByCertId": null, "renewsCertId": null,
        "revoked": false,
        "history": [{
            "timestamp": "2026-11-28T02:00:00.000+00:00",
            "timestampStr": "2026-11-28 02:00:00.000", "event": "created",
            "details": "User member created the certificate; a CSR was provided",
        }],
        "extraDetails": "rack 12\r\n\u{1f512}", "extraEmails": ["ops@example.test"],
        "trackExpiry": true, "hasKeyData": false, "imported": false, "importTime": null,
        "status": "Active", "revocationTime": null, "revocationReason": null,
        "issuerName": "Chancery Issuer", "teamName": "Default",
    });
    let mut expected = from_certificate;
    expected.as_object_mut().unwrap().extend(from_request.as_object().unwrap().clone());
    assert_eq!(record, expected);
    let csr = api.state.store.csr(record["csrId"].as_str().unwrap().parse().unwrap()).await;
    assert_eq!(csr.unwrap().unwrap(), csr_text::to_der(CSR.as_bytes()).unwrap());
}

#[tokio::test]
async fn what_is_not_given_is_absent_however_it_is_not_given() {
    let api = api_with_issuer().await;
    let body = with(json!({
        "issuerName": "", "issuerId": null, "teamName": [], "teamId": "", "id": "", "dn": null,
        "csrGeneratorName": "", "csrGeneratorId": [""], "p12Password": "", "p12Profile": null,
        "subjectAltNames": [""], "extraInfo": "", "extraEmails": [null], "reverseCsrDn": null,
        "addCnAsDnsSan": false,
    }));

    let answer = request(&api.member(), &body).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
    let path = format!("/api/certs/{}", answer.json()["id"].as_str().unwrap());
    let record = api.member().get(&path).await.json();
    assert_eq!((&record["extraDetails"], &record["extraEmails"]), (&json!(null), &json!(null)));
}

#[tokio::test]
async fn the_request_id_goes_from_the_call_to_the_journal() {
    let api = api_with_issuer().await;
    let call = api.member().request(Method::POST, "/api/certs/requestp10");
    let call = call.header(header::CONTENT_TYPE, "application/json").header("x-request-id", "r-1");

    let answer = api.member().send(call.body(Body::from(body().to_string())).unwrap()).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
    let signer = api.fake.signer();
    let entries = signer.journal.entries.iter();
    let traced = entries.filter(|entry| {
        let entry: Entry = serde_json::from_str(entry).unwrap();
        matches!(entry.event, Event::Intent(intent) if intent.context.request_id() == Some("r-1"))
    });
    assert_eq!(traced.count(), 1);
}

#[tokio::test]
async fn a_path_that_names_no_certificate_is_a_404_in_the_shape_of_errors() {
    let api = api_with_issuer().await;
    for id in [
        "0".repeat(24),
        "0".repeat(23),
        "0".repeat(25),
        "g".repeat(24),
        "ABCDEF0123456789ABCDEF01".to_owned(),
        "..%2f..%2fetc%2fpasswd".to_owned(),
        "%00".to_owned(),
        "%ff".to_owned(),
        "1'%20OR%20'1'='1".to_owned(),
        "a".repeat(5000),
    ] {
        let answer = api.member().get(&format!("/api/certs/{id}")).await;
        assert_eq!(answer.refusal(), (404, "not_found".to_owned()), "{id}");
    }
}
