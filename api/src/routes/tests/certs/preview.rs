//! `POST /certs/requestp10?preview=true`.

use serde_json::{Value, json};

use super::{body, collected, path, records, request, with};
use crate::testing::{Answer, Persona, api_with_issuer};

/// What is not known before a certificate is signed.
const UNKNOWN: [&str; 5] = ["id", "csrId", "pemCert", "serialNumber", "thumbprint"];

async fn preview(persona: &Persona, body: &Value) -> Answer {
    persona.post("/api/certs/requestp10?preview=true", body).await
}

#[tokio::test]
async fn a_preview_is_the_record_that_the_request_gets_field_by_field_and_refusals_are_the_same() {
    let api = api_with_issuer().await;
    let member = api.member();
    let names = json!(["DNS:more.example.test", "ip:2001:DB8::1", "EMAIL:a@example.test"]);
    let (mut issued, mut refused) = (0, 0);
    for (number, case) in collected().into_iter().enumerate() {
        let more = match number % 3 {
            0 => json!({"subjectAltNames": names, "extraInfo": "x", "extraEmails": ["a@b.test"]}),
            1 => json!({"reverseCsrDn": true}),
            _ => json!({}),
        };
        let mut body = with(more);
        body["csr"] = json!(case.csr);

        let preview = preview(&member, &body).await;
        let answer = request(&member, &body).await;

        assert_eq!(preview.status, answer.status, "{}: {}", case.id, preview.text);
        if answer.status != 200 {
            for field in ["code", "message", "fields"] {
                assert_eq!(preview.json()[field], answer.json()[field], "{}", case.id);
            }
            refused += 1;
            continue;
        }
        let mut record = member.get(&path(&answer.json())).await.json();
        for field in UNKNOWN {
            record[field] = Value::Null;
        }
        assert_eq!(preview.json()["certificate"], record, "{}", case.id);
        assert_complete(&preview.json()["account"], &record);
        issued += 1;
    }
    assert!(issued > 60 && refused > 60, "{issued} {refused}");
}

/// What was kept, changed or added is in the certificate, and nothing else is.
fn assert_complete(account: &Value, record: &Value) {
    let entries = account.as_array().unwrap();
    let ending_as = |part: &str| {
        let of_part = entries.iter().filter(|it| it["part"] == part && it["outcome"] != "dropped");
        let each = of_part.map(|it| match &it["becomes"] {
            Value::Null => it["requested"].as_str().unwrap().to_owned(),
            becomes => becomes.as_str().unwrap().to_owned(),
        });
        each.collect::<Vec<_>>()
    };
    let names = record["subjectAlternativeNames"].as_array().unwrap();
    let names: Vec<_> = names.iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(ending_as("subjectAlternativeName"), names);
    let subject = record["subjectDn"].as_str().unwrap();
    for attribute in ending_as("subject") {
        let attribute = attribute.split(" (").next().unwrap().to_owned();
        assert!(subject.contains(&attribute), "{attribute} in {subject}");
    }
    for entry in entries {
        for field in ["rule", "message"] {
            assert!(entry[field].as_str().is_some_and(|text| !text.is_empty()), "{entry}");
        }
    }
}

#[tokio::test]
async fn nothing_is_issued_and_neither_signer_nor_journal_hears_of_it() {
    let api = api_with_issuer().await;
    let before = (records(&api).await, api.fake.signer().journal.entries.len());
    api.fake.script(|request| panic!("the signer was asked: {request:?}"));

    let answer = preview(&api.member(), &body()).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!((records(&api).await, api.fake.signer().journal.entries.len()), before);
    for field in UNKNOWN {
        assert_eq!(answer.json()["certificate"][field], Value::Null, "{field}");
    }
}

#[tokio::test]
async fn whoever_may_not_ask_for_a_certificate_gets_no_preview() {
    let api = api_with_issuer().await;

    let unknown = preview(&api.member(), &with(json!({"caName": "None"}))).await;
    let team = preview(&api.member(), &with(json!({"teamName": "Administrators"}))).await;
    let nobody = preview(&api.anonymous(), &body()).await;

    assert_eq!(unknown.refusal(), (422, "unknown_issuer".to_owned()));
    assert_eq!(team.refusal(), (403, "not_a_member".to_owned()));
    assert_eq!(nobody.refusal(), (401, "token_missing".to_owned()));
}
