//! `POST /certs/import`: who may, and what is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::import::{FOREIGN, OTHER, forged, import, lose};
use super::{CSR, fields, issued, path, records};
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

#[tokio::test]
async fn a_duplicate_of_what_one_does_not_see_tells_nothing_of_it() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let other = insert_team(&api.state, "Other", Group::Users).await;
    let stranger = api.user(insert_user(&api.state, "stranger", &[other]).await);
    let mate = api.user(insert_user(&api.state, "mate", &[api.default_team]).await);
    let own = issued(&api.member()).await;
    let foreign = import(&api.member(), &json!({"certData": FOREIGN})).await.json();
    let lost = issued(&api.member()).await;
    lose(&api, &lost).await;
    let set = json!({"visibility": "own"});
    assert_eq!(admin.put("/api/admin/settings", &set).await.status, 200);
    let of_lost = import(&stranger, &json!({"certData": lost["pemCert"]})).await;
    assert_eq!(of_lost.refusal(), (403, "not_permitted".to_owned()));

    for known in [&own, &foreign] {
        let body = json!({"certData": known["pemCert"], "revoked": true});
        for hidden_from in [&stranger, &mate] {
            let answer = import(hidden_from, &body).await;

            assert_eq!(answer.refusal(), (403, "not_permitted".to_owned()));
            assert_eq!(answer.json()["message"], of_lost.json()["message"]);
            for field in ["certId", "fields", "dependants"] {
                assert_eq!(answer.json().get(field), None, "{}", answer.text);
            }
        }
        api.state.audit.flush().await;
        let told =
            "/api/admin/audit?action=import&result=not_permitted&username=stranger&objectId=";
        let told = format!("{told}{}", known["id"].as_str().unwrap());
        assert_eq!(admin.get(&told).await.json().as_array().unwrap().len(), 1);
        assert_eq!(api.member().get(&path(known)).await.json(), *known);
        let for_admin = import(&admin, &json!({"certData": known["pemCert"]})).await;
        assert_eq!(for_admin.refusal(), (409, "duplicate_certificate".to_owned()));
        assert_eq!(for_admin.json()["certId"], known["id"]);
    }
}

#[tokio::test]
async fn an_import_that_names_the_serial_of_another_ca_does_nothing_to_that_one_s_certificate() {
    let api = api_with_issuer().await;
    let other = insert_team(&api.state, "Other", Group::Users).await;
    let stranger = api.user(insert_user(&api.state, "stranger", &[other]).await);
    let own = issued(&api.member()).await;
    let body = json!({"certData": forged(&own), "revoked": true, "revocationReason": "hold"});

    let answer = import(&stranger, &body).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
    let foreign = answer.json();
    for field in ["serialNumber", "issuerDn", "subjectDn"] {
        assert_eq!(foreign[field], own[field], "{field}");
    }
    assert_eq!((&foreign["localCaId"], &foreign["revoked"]), (&json!(null), &json!(true)));
    assert_ne!(foreign["id"], own["id"]);
    assert_eq!(api.member().get(&path(&own)).await.json(), own);
}
