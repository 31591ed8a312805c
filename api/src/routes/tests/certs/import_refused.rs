//! `POST /certs/import`: who may, and what is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::import::{FOREIGN, OTHER, import, lose};
use super::{CSR, fields, records};
use crate::store::account::Group;
use crate::testing::{api_with_issuer, insert_team, insert_user};

#[tokio::test]
async fn it_is_given_by_the_rule_of_every_gift() {
    let api = api_with_issuer().await;
    let other = insert_team(&api.state, "Other", Group::Users).await;
    let stranger = insert_user(&api.state, "stranger", &[other]).await;
    let colleague = insert_user(&api.state, "colleague", &[api.default_team]).await;
    let several = insert_user(&api.state, "several", &[api.default_team, other]).await;
    let teamless = insert_user(&api.state, "teamless", &[]).await;
    for (name, persona, more, expected) in [
        ("foreign team", api.member(), json!({"teamId": other}), (403, "not_a_member", "teamId")),
        (
            "stranger",
            api.member(),
            json!({"ownerUserId": stranger}),
            (403, "not_a_member", "teamId"),
        ),
        (
            "stranger in own team",
            api.member(),
            json!({"ownerUserId": stranger, "teamId": api.default_team}),
            (403, "not_permitted", "ownerUserId"),
        ),
        ("several", api.user(several), json!({}), (400, "team_required", "teamId")),
        ("none", api.user(teamless), json!({}), (422, "no_team", "teamId")),
        ("no team", api.administrator(), json!({"teamId": "x"}), (422, "unknown_team", "teamId")),
        (
            "colleague",
            api.member(),
            json!({"ownerUserId": colleague}),
            (200, "colleague", "Default"),
        ),
        ("one of several", api.user(several), json!({"teamId": other}), (200, "several", "Other")),
        (
            "by admin",
            api.administrator(),
            json!({"ownerUserId": stranger}),
            (200, "stranger", "Other"),
        ),
        (
            "by admin to any",
            api.administrator(),
            json!({"ownerUserId": teamless, "teamId": other}),
            (200, "teamless", "Other"),
        ),
    ] {
        let mut body = json!({"certData": FOREIGN});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());

        let answer = import(&persona, &body).await;

        let (status, first, second) = expected;
        assert_eq!(answer.status, status, "{name}: {}", answer.text);
        let json = answer.json();
        if status == 200 {
            assert_eq!(
                (&json["ownerUsername"], &json["teamName"]),
                (&first.into(), &second.into())
            );
            lose(&api, &json).await;
        } else {
            assert_eq!(
                (json["code"].as_str().unwrap(), fields(&answer)),
                (first, vec![second.into()])
            );
        }
    }
}

#[tokio::test]
async fn each_bad_field_is_named_and_nothing_is_recorded() {
    let api = api_with_issuer().await;
    let der = pem::parse(FOREIGN).unwrap().into_contents();
    let trailing = STANDARD.encode([der.as_slice(), &[0x30, 0x00]].concat());
    let cut = STANDARD.encode(&der[..der.len() - 1]);
    let invalid = (400, "invalid_request");
    for (changes, (status, code), field) in [
        (json!({"certData": null}), invalid, "certData"),
        (json!({"certData": "MIIB"}), invalid, "certData"),
        (json!({"certData": CSR}), invalid, "certData"),
        (json!({"certData": format!("{FOREIGN}{OTHER}")}), invalid, "certData"),
        (json!({"certData": trailing}), invalid, "certData"),
        (json!({"certData": cut}), invalid, "certData"),
        (json!({"certData": ["x"]}), invalid, "certData"),
        (json!({"csrData": CSR}), invalid, "csrData"),
        (json!({"csrData": "MIIB"}), (400, "bad_csr"), "csrData"),
        (json!({"extraInfo": "x".repeat(4097)}), invalid, "extraInfo"),
        (json!({"msTemplateName": "x".repeat(257)}), invalid, "msTemplateName"),
        (json!({"msTemplateName": "a\nb"}), invalid, "msTemplateName"),
        (json!({"revoked": "maybe"}), invalid, "revoked"),
        (json!({"revoked": true, "revocationReason": "stolen"}), invalid, "revocationReason"),
        (
            json!({"revoked": true, "revocationTime": "2027-01-01T00:00:00Z"}),
            invalid,
            "revocationTime",
        ),
        (json!({"revocationReason": "superseded"}), invalid, "revocationReason"),
        (json!({"certIssuerId": "0".repeat(24)}), (422, "unknown_issuer"), "certIssuerId"),
        (json!({"ownerUserId": "0".repeat(24)}), (422, "unknown_reference"), "ownerUserId"),
        (json!({"validTo": "2027-01-01"}), invalid, "validTo"),
    ] {
        let mut body = json!({"certData": FOREIGN});
        body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());

        let answer = import(&api.administrator(), &body).await;

        assert_eq!(answer.refusal(), (status, code.to_owned()), "{changes}: {}", answer.text);
        assert_eq!(fields(&answer), [field], "{changes}");
    }
    assert_eq!(records(&api).await.len(), 2);
}

#[tokio::test]
async fn its_body_may_be_large_and_has_an_end_too() {
    let api = api_with_issuer().await;
    let padded = |bytes: usize| json!({"certData": FOREIGN.to_owned() + &" ".repeat(bytes)});

    let large = import(&api.member(), &padded(10_400_000)).await;
    let too_large = import(&api.member(), &padded(10_500_000)).await;

    assert_eq!(large.status, 200, "{}", large.text);
    assert_eq!(too_large.refusal(), (413, "body_too_large".to_owned()));
}
