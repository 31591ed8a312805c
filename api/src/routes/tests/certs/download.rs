//! Downloads of a certificate, its chain and its CSR.

use axum::body::Body;
use axum::http::Method;
use serde_json::Value;

use super::{CSR, fields, issued, path};
use crate::asn1::Tlv;
use crate::issuance::csr_text;
use crate::testing::{Api, api_with_issuer};

fn der(pem: &Value) -> Vec<u8> {
    pem::parse(pem.as_str().unwrap()).unwrap().into_contents()
}

/// The certificates above that of `record`, up to the root.
async fn above(api: &Api, record: &Value) -> Vec<Vec<u8>> {
    let get = async |id: &Value| {
        api.member().get(&format!("/api/certs/{}", id.as_str().unwrap())).await.json()
    };
    let issuing = get(&record["issuerCertId"]).await;
    let root = get(&issuing["issuerCertId"]).await;
    assert_eq!(root["issuerCertId"], root["id"]);
    vec![der(&issuing["pemCert"]), der(&root["pemCert"])]
}

#[tokio::test]
async fn each_form_has_its_bytes_its_type_and_a_name() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    let leaf = der(&record["pemCert"]);
    let mut chain = vec![leaf.clone()];
    chain.extend(above(&api, &record).await);
    for (form, kind, name) in [
        ("cer", "application/pkix-cert", "cer"),
        ("pemcert", "application/x-pem-file", "pem"),
        ("chain", "application/pem-certificate-chain", "chain.pem"),
        ("p7b", "application/x-pkcs7-certificates", "p7b"),
        ("p7b?form=pem", "application/x-pkcs7-certificates", "p7b"),
        ("p7b?form=der", "application/x-pkcs7-certificates", "p7b"),
        ("csr", "application/x-pem-file", "csr"),
    ] {
        let path = format!("{}/{form}", path(&record));

        let answer = api.member().get(&path).await;

        assert_eq!(answer.status, 200, "{form}: {}", answer.text);
        assert_eq!(answer.headers["content-type"], kind, "{form}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{form}");
        let file = format!("attachment; filename=\"pem-001.example.test.{name}\"");
        assert_eq!(answer.headers["content-disposition"], file, "{form}");
        match form {
            "cer" => assert_eq!(answer.bytes, leaf),
            "pemcert" => assert_eq!(answer.text, record["pemCert"].as_str().unwrap()),
            "chain" => {
                let found: Vec<_> = pem::parse_many(&answer.text).unwrap();
                let found: Vec<_> = found.into_iter().map(pem::Pem::into_contents).collect();
                assert_eq!(found, chain);
            }
            "csr" => {
                let sent = csr_text::to_der(CSR.as_bytes()).unwrap();
                assert_eq!(csr_text::to_der(answer.text.as_bytes()).unwrap(), sent);
            }
            "p7b?form=der" => assert_eq!(in_pkcs7(&answer.bytes), sorted(chain.clone())),
            _ => {
                let bag = pem::parse(&answer.text).unwrap();
                assert_eq!(bag.tag(), "PKCS7");
                assert_eq!(in_pkcs7(bag.contents()), sorted(chain.clone()));
            }
        }
        let head = api.member().request(Method::HEAD, &path).body(Body::empty()).unwrap();
        let head = api.member().send(head).await;
        assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0), "{form}");
        assert_eq!(head.headers["content-disposition"], file, "{form}");
    }
}

/// A SET OF is in the order of its encodings.
fn sorted(mut certificates: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    certificates.sort();
    certificates
}

/// ContentInfo, `[0]`, SignedData, `[0]`.
fn in_pkcs7(der: &[u8]) -> Vec<Vec<u8>> {
    let info = Tlv::read(der).unwrap().children().unwrap();
    let signed = info[1].children().unwrap()[0].children().unwrap();
    signed[3].children().unwrap().iter().map(|tlv| tlv.der.to_vec()).collect()
}

#[tokio::test]
async fn what_there_is_not_is_a_404_in_its_own_words() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    let ca = format!("/api/certs/{}", record["issuerCertId"].as_str().unwrap());
    let missing = format!("/api/certs/{}", "0".repeat(24));

    let csr = api.member().get(&format!("{ca}/csr")).await;

    assert_eq!(csr.refusal(), (404, "not_found".to_owned()));
    assert!(csr.json()["message"].as_str().unwrap().starts_with("no CSR is known"), "{}", csr.text);
    for form in ["cer", "pemcert", "chain", "p7b", "csr", "exe"] {
        let answer = api.member().get(&format!("{missing}/{form}")).await;
        assert_eq!(answer.refusal(), (404, "not_found".to_owned()), "{form}");
        assert_eq!(answer.headers["content-type"], "application/json", "{form}");
    }
    let form = api.member().get(&format!("{}/p7b?form=xml", path(&record))).await;
    assert_eq!(form.refusal(), (400, "invalid_request".to_owned()));
}

#[tokio::test]
async fn a_parameter_that_a_download_does_not_have_is_named() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    for what in ["", "/cer", "/pemcert", "/chain", "/csr", "/p7b"] {
        let answer = api.member().get(&format!("{}{what}?fomr=der", path(&record))).await;

        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{what}");
        assert_eq!(fields(&answer), ["fomr"], "{what}");
    }
}
