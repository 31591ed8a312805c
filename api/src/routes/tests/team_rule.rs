//! The team rule of the specification.

use axum::extract::FromRequestParts as _;
use axum::http::Method;

use crate::auth::Actor;
use crate::error::{ApiError, Code};
use crate::store::account::Group;
use crate::team::{Member, TeamChoice, resolve};
use crate::testing::{Api, Persona, api, insert_team, insert_user};

async fn choose(
    api: &Api,
    persona: &Persona,
    name: Option<&str>,
    id: Option<&str>,
) -> Result<Member, ApiError> {
    let (mut parts, ()) = persona.request(Method::GET, "/").body(()).unwrap().into_parts();
    let actor = Actor::from_request_parts(&mut parts, &api.state).await.unwrap();
    let choice = TeamChoice { name: name.map(str::to_owned), id: id.map(str::to_owned) };
    let inventory = api.state.inventory.now(&api.state.store).await.unwrap();
    resolve(&inventory, actor, &choice).await
}

#[tokio::test]
async fn the_only_team_is_used_where_none_is_named() {
    let api = api().await;
    let id = api.default_team.to_string();
    for (name, id) in
        [(None, None), (Some("Default"), None), (None, Some(&*id)), (Some("Default"), Some(&*id))]
    {
        let member = choose(&api, &api.member(), name, id).await.unwrap();

        assert_eq!(member.team().id, api.default_team, "{name:?} {id:?}");
        assert_eq!(member.actor().username(), "member");
    }
}

#[tokio::test]
async fn what_names_no_team_of_the_user_is_refused_with_the_field() {
    let api = api().await;
    let (own, foreign) = (api.default_team.to_string(), api.administrators.to_string());
    for (name, id, code, field) in [
        (Some("default"), None, Code::UnknownTeam, "teamName"),
        (Some(" Default"), None, Code::UnknownTeam, "teamName"),
        (None, Some("0"), Code::UnknownTeam, "teamId"),
        (Some("Administrators"), None, Code::NotAMember, "teamName"),
        (None, Some(&*foreign), Code::NotAMember, "teamId"),
        (Some("Administrators"), Some(&*own), Code::InvalidRequest, "teamId"),
    ] {
        let Err(ApiError::Refused(refused)) = choose(&api, &api.member(), name, id).await else {
            panic!("{name:?} {id:?} must be refused");
        };
        assert_eq!((refused.code, &*refused.fields[0].field), (code, field), "{name:?} {id:?}");
    }
}

#[tokio::test]
async fn with_several_teams_one_must_be_named_and_the_refusal_says_which() {
    let api = api().await;
    let other = insert_team(&api.state, "Another", Group::Users).await;
    let two = insert_user(&api.state, "two", &[api.default_team, other]).await;
    let two = api.user(two);

    let refused = choose(&api, &two, None, None).await.unwrap_err();
    let chosen = choose(&api, &two, Some("Another"), None).await.unwrap();

    assert_eq!(refused.code(), Code::TeamRequired);
    assert_eq!(
        refused.to_string(),
        "you belong to several teams; name one of them: Another, Default"
    );
    assert_eq!(chosen.team().id, other);
}

#[tokio::test]
async fn a_user_without_a_team_can_have_no_certificate() {
    let api = api().await;
    let loner = insert_user(&api.state, "loner", &[]).await;

    let refused = choose(&api, &api.user(loner), None, None).await.unwrap_err();

    assert_eq!(refused.code(), Code::NoTeam);
}
