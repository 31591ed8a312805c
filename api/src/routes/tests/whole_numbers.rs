//! The first sentence that refuses a number tells the range that passes.

use serde_json::{Value, json};

use crate::testing::{Api, api_with_issuer};

const TOKENS: &str = "/api/currentuser/apitokens";
const SETTINGS: &str = "/api/admin/settings";
const PROFILES: &str = "/api/admin/profiles";
const LOCAL_CAS: &str = "/api/admin/localca";

fn sound(path: &str) -> Value {
    match path {
        TOKENS => json!({"name": "ci"}),
        PROFILES => json!({
            "name": "Web", "lifetimeInMinutes": 1440, "keyUsages": ["Digital Signature"],
            "enhancedKeyUsages": ["Server Authentication"],
        }),
        LOCAL_CAS => json!({
            "name": "Root", "keyStoreName": "Vault", "rootCa": true, "subjectDn": "CN=Root",
            "lifetimeInDays": 700, "keyAlgorithm": "ECDSA P-256",
        }),
        _ => json!({}),
    }
}

async fn said(api: &Api, path: &str, field: &str, value: &Value) -> String {
    let mut body = sound(path);
    body[field] = value.clone();
    let admin = api.administrator();
    let answer =
        if path == SETTINGS { admin.put(path, &body).await } else { admin.post(path, &body).await };
    let what = format!("{field} {value}: {}", answer.text);
    assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{what}");
    assert_eq!(answer.json()["fields"][0]["field"], field, "{what}");
    answer.json()["fields"][0]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn whatever_is_no_such_number_is_told_the_range_at_once() {
    let api = api_with_issuer().await;
    for (path, field, least, most, more) in [
        (TOKENS, "validDays", 1, 365, ", as the setting apiTokenMaxDays has it"),
        (SETTINGS, "apiTokenMaxDays", 1, 3650, ""),
        (SETTINGS, "passwordMinLength", 8, 128, ""),
        (SETTINGS, "loginFailures", 1, 1000, ""),
        (SETTINGS, "administratorDelay", 1, 3600, ""),
        (SETTINGS, "addressFailures", 1, 1_000_000, ""),
        (PROFILES, "lifetimeInMinutes", 1, 52_596_000, ""),
        (PROFILES, "backdateMinutes", 0, 52_596_000, ""),
        (LOCAL_CAS, "lifetimeInDays", 1, 9200, ""),
    ] {
        let expected = format!("must be a whole number from {least} to {most}{more}");
        let values =
            [json!(-1), json!(least - 1), json!(most + 1), json!("10"), json!(1.5), json!(1e300)];
        for value in values {
            assert_eq!(said(&api, path, field, &value).await, expected, "{field} {value}");
        }
    }
}

#[tokio::test]
async fn the_days_of_a_token_are_told_as_the_setting_has_them() {
    let api = api_with_issuer().await;
    let days = json!({"apiTokenMaxDays": 30});
    assert_eq!(api.administrator().put(SETTINGS, &days).await.status, 200);

    let said = said(&api, TOKENS, "validDays", &json!(-1)).await;

    assert!(said.starts_with("must be a whole number from 1 to 30, "), "{said}");
}
