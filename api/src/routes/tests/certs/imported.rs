//! Certificates of every odd kind, imported: the record shows them as they are.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use der::Tag;
use der::asn1::ObjectIdentifier;
use serde_json::{Value, json};

use super::path;
use crate::asn1::{self, context, sequence};
use crate::routes::record::odd::odd_certificates;
use crate::testing::{Answer, Api, api};

async fn import(api: &Api, certificate: &str) -> Answer {
    api.administrator().post("/api/certs/import", &json!({"certData": certificate})).await
}

#[tokio::test]
async fn every_collected_certificate_is_imported_and_shown_as_it_is() {
    let api = api().await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/crt");
    let mut records: BTreeMap<&str, Value> = BTreeMap::new();
    for (case, field, shown) in odd_certificates() {
        if !records.contains_key(case) {
            let pem = std::fs::read_to_string(format!("{folder}/{case}.cert.pem")).unwrap();
            let answer = import(&api, &pem).await;
            assert_eq!(answer.status, 200, "{case}: {}", answer.text);
            records.insert(case, answer.json());
        }

        let record = &records[case];

        assert_eq!(record[field], shown, "{case}");
        assert_eq!(*record, api.member().get(&path(record)).await.json(), "{case}");
        println!("ok    {case} {field} {shown}");
    }
    for record in api.member().get("/api/certs").await.json().as_array().unwrap() {
        for form in ["cer", "pemcert", "chain", "p7b"] {
            let answer = api.member().get(&format!("{}/{form}", path(record))).await;
            assert_eq!(answer.status, 200, "{record}: {}", answer.text);
        }
    }
}

/// A certificate that nobody signed.
struct Odd {
    serial: Vec<u8>,
    subject: Vec<u8>,
    not_after: &'static str,
    algorithm: Vec<u8>,
    spki: Vec<u8>,
    extensions: usize,
}

impl Odd {
    fn new() -> Self {
        let ecdsa = algorithm("1.2.840.10045.4.3.2", &[]);
        let key = algorithm("1.2.840.10045.2.1", &oid("1.2.840.10045.3.1.7"));
        Self {
            serial: vec![1],
            subject: name(0x0c, b"odd"),
            not_after: "20350101000000Z",
            algorithm: ecdsa,
            spki: spki(&key),
            extensions: 0,
        }
    }

    fn der(&self) -> Vec<u8> {
        let time = |text: &str| asn1::encode(Tag::GeneralizedTime, text.as_bytes()).unwrap();
        let extension = |number: usize| {
            let value = asn1::encode(Tag::OctetString, &[5, 0]).unwrap();
            sequence(&[&oid(&format!("1.3.6.1.4.1.55555.7.{number}")), &value]).unwrap()
        };
        let extensions: Vec<u8> = (0..self.extensions).flat_map(extension).collect();
        let extensions = asn1::encode(Tag::Sequence, &extensions).unwrap();
        let tbs = sequence(&[
            &[0xa0, 3, 2, 1, 2],
            &asn1::encode(Tag::Integer, &self.serial).unwrap(),
            &self.algorithm,
            &name(0x0c, b"Another CA"),
            &sequence(&[&time("20200101000000Z"), &time(self.not_after)]).unwrap(),
            &self.subject,
            &self.spki,
            &asn1::encode(context(3, true), &extensions).unwrap(),
        ]);
        let signature = asn1::encode(Tag::BitString, &[0, 1, 2, 3]).unwrap();
        sequence(&[&tbs.unwrap(), &self.algorithm, &signature]).unwrap()
    }
}

fn oid(dotted: &str) -> Vec<u8> {
    let oid = ObjectIdentifier::new_unwrap(dotted);
    asn1::encode(Tag::ObjectIdentifier, oid.as_bytes()).unwrap()
}

fn algorithm(dotted: &str, parameters: &[u8]) -> Vec<u8> {
    sequence(&[&oid(dotted), parameters]).unwrap()
}

fn spki(algorithm: &[u8]) -> Vec<u8> {
    let key = asn1::encode(Tag::BitString, &[0, 4, 1, 2, 3]).unwrap();
    sequence(&[algorithm, &key]).unwrap()
}

/// A Name with one CN, its value under any tag.
fn name(tag: u8, content: &[u8]) -> Vec<u8> {
    let value = [&[tag, u8::try_from(content.len()).unwrap()], content].concat();
    let pair = sequence(&[&oid("2.5.4.3"), &value]).unwrap();
    sequence(&[&asn1::encode(Tag::Set, &pair).unwrap()]).unwrap()
}

#[tokio::test]
async fn what_no_one_expects_in_a_certificate_is_shown_without_loss() {
    // RFC 4055: SHA-384 in the place of the hash.
    let hash = asn1::encode(context(0, true), &algorithm("2.16.840.1.101.3.4.2.2", &[])).unwrap();
    let pss = algorithm("1.2.840.113549.1.1.10", &sequence(&[&hash]).unwrap());
    // SEC 1: the field and the curve themselves, where a name should stand.
    let explicit = algorithm("1.2.840.10045.2.1", &sequence(&[&[2, 1, 1]]).unwrap());
    let api = api().await;
    for (what, odd, field, shown) in [
        (
            "the year 9999",
            Odd { not_after: "99991231235959Z", ..Odd::new() },
            "validTo",
            json!("9999-12-31T23:59:59.000+00:00"),
        ),
        (
            "a negative serial",
            Odd { serial: vec![0x80, 0, 1], ..Odd::new() },
            "serialNumber",
            json!("800001"),
        ),
        (
            "the largest serial",
            Odd { serial: vec![0x7f; 512], ..Odd::new() },
            "serialNumber",
            json!("7f".repeat(512)),
        ),
        (
            "PSS",
            Odd { algorithm: pss.clone(), ..Odd::new() },
            "signatureAlgorithm",
            json!("RSASSA-PSS"),
        ),
        (
            "PSS with 384",
            Odd { algorithm: pss, serial: vec![2], ..Odd::new() },
            "hashAlgorithm",
            json!("SHA-384"),
        ),
        (
            "Ed448",
            Odd { algorithm: algorithm("1.3.101.113", &[]), ..Odd::new() },
            "signatureAlgorithm",
            json!("Ed448"),
        ),
        (
            "an Ed448 key",
            Odd { spki: spki(&algorithm("1.3.101.113", &[])), ..Odd::new() },
            "eccCurve",
            json!("Ed448"),
        ),
        ("an explicit curve", Odd { spki: spki(&explicit), ..Odd::new() }, "eccCurve", Value::Null),
        (
            "a text that is no UTF-8",
            Odd { subject: name(0x0c, b"a\xffb"), ..Odd::new() },
            "subjectDn",
            json!("CN=#0c0361ff62"),
        ),
        (
            "a name with NUL",
            Odd { subject: name(0x0c, b"a\0b"), ..Odd::new() },
            "commonName",
            json!("a\u{0}b"),
        ),
        (
            "its DN",
            Odd { subject: name(0x0c, b"b\0a"), ..Odd::new() },
            "subjectDn",
            json!("CN=b\\00a"),
        ),
        ("many extensions", Odd { extensions: 5000, ..Odd::new() }, "commonName", json!("odd")),
    ] {
        let answer = import(&api, &STANDARD.encode(odd.der())).await;

        assert_eq!(answer.status, 200, "{what}: {}", answer.text);
        let record = answer.json();
        assert_eq!(record[field], shown, "{what}");
        assert_eq!(record, api.member().get(&path(&record)).await.json(), "{what}");
        let der = api.member().get(&format!("{}/cer", path(&record))).await.bytes;
        assert_eq!(der, odd.der(), "{what}");
    }
}

#[tokio::test]
async fn what_is_beyond_the_limits_is_refused_in_words() {
    let api = api().await;
    for (odd, words) in [
        (Odd { serial: vec![0x7f; 513], ..Odd::new() }, "a serial number of 513 bytes"),
        (Odd { extensions: 20_000, ..Odd::new() }, "a certificate of at most 262144 is taken"),
    ] {
        let answer = import(&api, &STANDARD.encode(odd.der())).await;

        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()));
        assert!(answer.json()["message"].as_str().unwrap().contains(words), "{}", answer.text);
    }
}
