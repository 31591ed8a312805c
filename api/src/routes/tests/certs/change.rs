//! `PATCH /certs/{id}`.

use serde_json::{Value, json};
use time::Duration;

use super::{fields, issued, last, path};
use crate::store::account::Group;
use crate::testing::{Api, api_with_issuer, insert_team, insert_user};

async fn disable(api: &Api, id: impl std::fmt::Display) {
    let sql = format!("UPDATE account SET enabled = 0 WHERE user_id = '{id}'");
    api.state.store.execute_for_test(&sql).await;
}

/// How many entries its history has.
fn entries(record: &Value) -> usize {
    record["history"].as_array().unwrap().len()
}

#[tokio::test]
async fn details_change_and_the_history_says_from_what_to_what() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    for (change, field, value, told) in [
        (
            json!({"extraDetails": "rack 12"}),
            "extraDetails",
            json!("rack 12"),
            "User member changed the extra information from none to \"rack 12\"",
        ),
        (
            json!({"extraEmails": ["a@example.test", ""]}),
            "extraEmails",
            json!(["a@example.test"]),
            "User member changed the extra addresses from none to a@example.test",
        ),
        (
            json!({"trackExpiry": false}),
            "trackExpiry",
            json!(false),
            "User member changed the tracking of its end from on to off",
        ),
        (
            json!({"extraDetails": null, "extraEmails": null}),
            "extraEmails",
            Value::Null,
            "User member changed the extra information from \"rack 12\" to none; the extra \
             addresses from a@example.test to none",
        ),
    ] {
        api.clock.advance(Duration::SECOND);

        let answer = api.member().patch(&path(&record), &change).await;

        assert_eq!(answer.status, 200, "{change}: {}", answer.text);
        let changed = answer.json();
        assert_eq!(changed[field], value, "{change}");
        assert_eq!(last(&changed), ("details updated".to_owned(), told.to_owned()));
        assert_eq!(changed, api.member().get(&path(&record)).await.json());
    }
}

#[tokio::test]
async fn what_is_the_same_already_or_left_out_changes_nothing_and_is_not_told() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    let team = record["teamId"].clone();
    for change in [
        json!({}),
        json!({"extraDetails": null, "extraEmails": [], "trackExpiry": true, "renewed": false}),
        json!({"extraDetails": "", "extraEmails": [""], "trackExpiry": null, "renewed": null}),
        json!({"teamId": team, "ownerUserId": api.member_id()}),
        json!({"teamId": "", "ownerUserId": null}),
    ] {
        let answer = api.member().patch(&path(&record), &change).await;

        assert_eq!((answer.status.as_u16(), answer.json()), (200, record.clone()), "{change}");
    }
}

#[tokio::test]
async fn renewed_team_and_owner_are_events_of_their_own() {
    let api = api_with_issuer().await;
    let operators = insert_team(&api.state, "Operators", Group::Users).await;
    let carol = insert_user(&api.state, "carol", &[operators]).await;
    let record = issued(&api.member()).await;
    let change = json!({"renewed": true, "teamId": operators, "ownerUserId": carol});
    api.clock.advance(Duration::SECOND);

    let changed = api.administrator().patch(&path(&record), &change).await.json();

    assert_eq!((&changed["renewed"], &changed["status"]), (&json!(true), &json!("Renewed")));
    assert_eq!(
        (&changed["teamId"], &changed["teamName"]),
        (&json!(operators), &json!("Operators"))
    );
    assert_eq!(changed["ownerUserId"], json!(carol));
    assert_eq!(changed["ownerUsername"], "carol");
    let told: Vec<_> = changed["history"].as_array().unwrap()[1..]
        .iter()
        .map(|entry| (entry["event"].as_str().unwrap(), entry["details"].as_str().unwrap()))
        .collect();
    let expected = [
        ("renewed", "User admin marked it as renewed"),
        ("team changed", "User admin gave it from the team Default to the team Operators"),
        ("owner changed", "User admin gave it from member to carol"),
    ];
    assert_eq!(told, expected);
    assert_eq!(changed, api.member().get(&path(&record)).await.json());
}

#[tokio::test]
async fn owner_members_of_the_team_and_administrators_may_change_it_and_nobody_else() {
    let api = api_with_issuer().await;
    let colleague = insert_user(&api.state, "colleague", &[api.default_team]).await;
    let other_team = insert_team(&api.state, "Other", Group::Users).await;
    let stranger = insert_user(&api.state, "stranger", &[other_team]).await;
    let record = issued(&api.member()).await;
    for (persona, status, details) in [
        (api.member(), 200, "1"),
        (api.user(colleague), 200, "2"),
        (api.administrator(), 200, "3"),
        (api.user(stranger), 403, "4"),
    ] {
        let answer = persona.patch(&path(&record), &json!({"extraDetails": details})).await;
        assert_eq!(answer.status, status, "{details}: {}", answer.text);
    }
    let refused = api.user(stranger).patch(&path(&record), &json!({})).await;
    assert_eq!(refused.refusal(), (403, "not_permitted".to_owned()));
    let now = api.member().get(&path(&record)).await.json();
    assert_eq!((&now["extraDetails"], entries(&now)), (&json!("3"), 4));
}

#[tokio::test]
async fn it_is_given_only_to_whom_the_caller_may_give_it() {
    let api = api_with_issuer().await;
    let colleague = insert_user(&api.state, "colleague", &[api.default_team]).await;
    let gone = insert_user(&api.state, "gone", &[api.default_team]).await;
    disable(&api, gone).await;
    let other = insert_team(&api.state, "Other", Group::Users).await;
    let own = insert_team(&api.state, "Own", Group::Users).await;
    let both = insert_user(&api.state, "both", &[api.default_team, own]).await;
    let stranger = insert_user(&api.state, "stranger", &[other]).await;
    let nobody = "0".repeat(24);
    let (member, admin, of_both) = (api.member(), api.administrator(), api.user(both));
    for (name, persona, change, expected) in [
        ("foreign team", &member, json!({"teamId": other}), (403, "not_a_member", "teamId")),
        (
            "no member",
            &member,
            json!({"ownerUserId": stranger}),
            (403, "not_permitted", "ownerUserId"),
        ),
        ("disabled", &member, json!({"ownerUserId": gone}), (403, "not_permitted", "ownerUserId")),
        ("disabled", &admin, json!({"ownerUserId": gone}), (403, "not_permitted", "ownerUserId")),
        (
            "not in the new team",
            &of_both,
            json!({"teamId": own, "ownerUserId": colleague}),
            (403, "not_permitted", "ownerUserId"),
        ),
        (
            "nobody",
            &admin,
            json!({"ownerUserId": nobody}),
            (422, "unknown_reference", "ownerUserId"),
        ),
        (
            "a name",
            &admin,
            json!({"ownerUserId": "member"}),
            (422, "unknown_reference", "ownerUserId"),
        ),
        ("no team", &admin, json!({"teamId": nobody}), (422, "unknown_team", "teamId")),
        ("deep", &admin, json!({"teamId": {"a": 1}}), (400, "invalid_request", "teamId")),
        ("colleague", &member, json!({"ownerUserId": colleague}), (200, "", "")),
        ("own team", &of_both, json!({"teamId": own, "ownerUserId": both}), (200, "", "")),
        ("anyone", &admin, json!({"ownerUserId": stranger}), (200, "", "")),
    ] {
        let record = issued(&api.member()).await;

        let answer = persona.patch(&path(&record), &change).await;

        let (status, code, field) = expected;
        assert_eq!(answer.status, status, "{name}: {}", answer.text);
        if status != 200 {
            assert_eq!(answer.refusal().1, code, "{name}");
            assert_eq!(fields(&answer), [field], "{name}");
            assert_eq!(api.member().get(&path(&record)).await.json(), record, "{name}");
        }
    }
}

#[tokio::test]
async fn a_field_that_is_wrong_is_named_and_nothing_changes() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    for (change, field) in [
        (json!({"extraDetails": "x".repeat(4097)}), "extraDetails"),
        (json!({"extraDetails": "\u{7}"}), "extraDetails"),
        (json!({"extraEmails": ["Anna <anna@example.test>"]}), "extraEmails"),
        (json!({"extraEmails": vec!["a@example.test"; 21]}), "extraEmails"),
        (json!({"extraEmails": "a@example.test"}), "extraEmails"),
        (json!({"trackExpiry": "yes"}), "trackExpiry"),
        (json!({"revoked": true}), "revoked"),
        (json!({"extraInfo": "x"}), "extraInfo"),
    ] {
        let answer = api.member().patch(&path(&record), &change).await;

        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{change}");
        assert_eq!(fields(&answer), [field], "{change}");
    }
    let missing = format!("/api/certs/{}", "0".repeat(24));
    let answer = api.member().patch(&missing, &json!({})).await;
    assert_eq!(answer.refusal(), (404, "not_found".to_owned()));
    assert_eq!(api.member().get(&path(&record)).await.json(), record);
}

#[tokio::test]
async fn concurrent_changes_lose_nothing() {
    let api = api_with_issuer().await;
    let record = issued(&api.member()).await;
    let member = api.member();
    let path = path(&record);
    let changes = [
        json!({"extraDetails": "rack 12"}),
        json!({"extraEmails": ["a@example.test"]}),
        json!({"trackExpiry": false}),
        json!({"renewed": true}),
    ];

    let answers = futures::future::join_all(changes.iter().map(|it| member.patch(&path, it))).await;

    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    let now = member.get(&path).await.json();
    for change in &changes {
        let (field, value) = change.as_object().unwrap().iter().next().unwrap();
        assert_eq!(now[field], *value, "{field}");
    }
    assert_eq!(entries(&now), 5);
}

#[tokio::test]
async fn while_a_private_key_is_kept_only_its_owner_or_an_administrator_gives_it_away() {
    let api = api_with_issuer().await;
    let colleague = insert_user(&api.state, "colleague", &[api.default_team]).await;
    let record = issued(&api.member()).await;
    let id = record["id"].as_str().unwrap();
    let sql = format!("UPDATE certificate SET has_key_data = 1 WHERE certificate_id = '{id}'");
    api.state.store.execute_for_test(&sql).await;
    let change = json!({"ownerUserId": colleague.to_string()});

    let refused = api.user(colleague).patch(&path(&record), &change).await;
    let given = api.member().patch(&path(&record), &change).await;

    assert_eq!(refused.refusal(), (403, "not_permitted".to_owned()));
    assert_eq!(fields(&refused), ["ownerUserId"]);
    assert_eq!(given.json()["ownerUsername"], "colleague", "{}", given.text);
}
