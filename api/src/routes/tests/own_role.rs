//! Administrators, and API tokens of theirs, who would change who is an administrator.

use serde_json::{Value, json};

use crate::testing::{Api, Persona, api, api_with_issuer, insert_user};

const TEAMS: &str = "/api/admin/teams";
const USERS: &str = "/api/admin/users";

/// A second administrator, so that the first is not the last.
async fn other_administrator(api: &Api) -> Persona {
    api.user(insert_user(&api.state, "root", &[api.administrators]).await)
}

/// What runs unattended, with a token of `admin`.
async fn machine(api: &Api) -> Persona {
    let body = json!({"name": "automation"});
    let made = api.administrator().post("/api/currentuser/apitokens", &body).await.json();
    api.with_token(made["token"].as_str().map(str::to_owned))
}

#[tokio::test]
async fn administrators_do_not_change_their_own_role_at_a_team() {
    let api = api().await;
    let root = other_administrator(&api).await;
    let admin = api.administrator();
    let (own, ordinary) =
        (format!("{TEAMS}/{}", api.administrators), format!("{TEAMS}/{}", api.default_team));
    let before = admin.get(TEAMS).await.json();
    for (path, body) in [
        (&own, json!({"members": ["root"]})),
        (&own, json!({"members": []})),
        (&own, json!({"internalGroup": "USER"})),
        (&ordinary, json!({"members": ["admin"], "internalGroup": "ADMIN"})),
    ] {
        let answer = admin.put(path, &body).await;
        assert_eq!(answer.refusal(), (403, "not_permitted".to_owned()), "{body}");
    }
    let new = json!({"name": "Operators", "internalGroup": "ADMIN", "members": ["admin"]});
    assert_eq!(admin.post(TEAMS, &new).await.refusal(), (403, "not_permitted".to_owned()));
    assert_eq!(admin.get(TEAMS).await.json(), before);

    let by_another = root.put(&own, &json!({"members": ["root"]})).await;

    assert_eq!(by_another.status, 200, "{}", by_another.text);
    assert_eq!(admin.get(USERS).await.status, 403);
}

#[tokio::test]
async fn an_administrator_who_is_alone_joins_an_ordinary_team_and_works_for_it() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let team = format!("{TEAMS}/{}", api.default_team);
    let user = format!("{USERS}/{}", api.admin_id());
    let request = json!({
        "caName": "Chancery Issuer", "dn": "CN=www.example.test", "teamName": "Default",
        "csrGeneratorName": "ECDSA P-256", "p12Password": "secret of mine",
    });
    for (path, joins, leaves) in [
        (&team, json!({"members": ["admin", "member"]}), json!({"members": ["member"]})),
        (
            &user,
            json!({"teamsIds": ["Administrators", "Default"]}),
            json!({"teamsIds": ["Administrators"]}),
        ),
    ] {
        assert_eq!(admin.post("/api/certs/request", &request).await.status, 403);
        assert_eq!(admin.put(path, &joins).await.status, 200);
        let issued = admin.post("/api/certs/request", &request).await;
        assert_eq!(issued.status, 200, "{}", issued.text);
        assert_eq!(admin.put(path, &leaves).await.status, 200);
    }
}

#[tokio::test]
async fn an_api_token_makes_nobody_an_administrator_and_changes_no_password() {
    let api = api().await;
    other_administrator(&api).await;
    let (machine, admin) = (machine(&api).await, api.administrator());
    let user = |more: Value| {
        let mut user = json!({"username": "new", "password": "a password for new"});
        user.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        user
    };
    let team = |more: Value| {
        let mut team = json!({"name": "Operators", "internalGroup": "ADMIN"});
        team.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        team
    };
    let member = format!("{USERS}/{}", api.member_id());
    let tokens = format!("{member}/apitokens");
    let [own, ordinary] = [api.administrators, api.default_team].map(|id| format!("{TEAMS}/{id}"));
    let shut_out = insert_user(&api.state, "shut.out", &[api.administrators]).await;
    let shut_out = format!("{USERS}/{shut_out}");
    assert_eq!(admin.put(&shut_out, &json!({"enabled": false})).await.status, 200);
    let before = [admin.get(USERS).await.json(), admin.get(TEAMS).await.json()];

    for (is_new, path, body) in [
        (true, USERS, user(json!({"group": "ADMIN"}))),
        (true, USERS, user(json!({"teamsIds": ["Default", "Administrators"]}))),
        (false, &member, json!({"group": "ADMIN"})),
        (false, &member, json!({"teamsIds": ["Administrators"]})),
        (false, &member, json!({"password": "another horse, battery"})),
        (false, &shut_out, json!({"enabled": true})),
        (false, &own, json!({"members": ["admin", "root", "shut.out", "member"]})),
        (false, &ordinary, json!({"internalGroup": "ADMIN"})),
        (true, TEAMS, team(json!({"members": ["member"]}))),
        (true, &tokens, json!({"name": "another"})),
        (true, "/api/currentuser/apitokens", json!({"name": "another"})),
    ] {
        let answer =
            if is_new { machine.post(path, &body).await } else { machine.put(path, &body).await };
        assert_eq!(answer.refusal(), (403, "not_permitted".to_owned()), "{path} {body}");
    }

    assert_eq!([admin.get(USERS).await.json(), admin.get(TEAMS).await.json()], before);
}

#[tokio::test]
async fn an_api_token_of_an_administrator_does_the_rest_of_the_work() {
    let api = api().await;
    let machine = machine(&api).await;
    let user = json!({"username": "new", "password": "a password for new"});
    let team = json!({"name": "Web", "members": ["member"]});

    let user = machine.post(USERS, &user).await;
    let team = machine.post(TEAMS, &team).await;
    let path = format!("{USERS}/{}", user.json()["id"].as_str().unwrap());
    let into_team = machine.put(&path, &json!({"teamsIds": ["Web"], "enabled": false})).await;
    let empty = json!({"name": "Operators", "internalGroup": "ADMIN"});
    let empty = machine.post(TEAMS, &empty).await;

    for answer in [&user, &team, &into_team, &empty, &machine.delete(&path).await] {
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
}
