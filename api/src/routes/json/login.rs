//! Login and the current user.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Group;
use crate::auth::password::Password;

/// Body of `POST /login`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoginRequest {
    /// Whatever its case.
    pub username: String,
    /// As it was set, blanks included.
    #[schema(value_type = String)]
    pub password: Password,
}

/// Answer of `POST /login`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginAnswer {
    /// As it is spelt in the system.
    pub username: String,
    /// Goes into `Authorization: Bearer <token>` of every later call.
    pub token: String,
    /// Only where it is true: the token opens nothing but the change of the password.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub must_change_password: bool,
}

/// Body of `POST /currentuser/password`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PasswordChange {
    /// The one in use.
    #[schema(value_type = String)]
    pub old_password: Password,
    /// 12 to 1,024 characters, anything in them.
    #[schema(value_type = String)]
    pub new_password: Password,
}

/// Answer of `GET /currentuser`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CurrentUser {
    /// The user's id.
    #[schema(value_type = String)]
    pub id: chancery_shared::id::UserId,
    /// The user's name.
    pub username: String,
    /// May be empty.
    pub email: String,
    /// `ADMIN` where the user or one of their teams is of the administrators.
    pub group: Group,
    /// The ids of the user's teams.
    #[schema(value_type = Vec<String>)]
    pub teams_ids: Vec<chancery_shared::id::TeamId>,
}
