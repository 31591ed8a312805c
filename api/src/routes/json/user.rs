//! Users.

use chancery_shared::id::{TeamId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Group;
use crate::auth::password::Password;
use crate::json::{empty_clears, empty_clears_list, empty_is_absent, empty_is_no_list};
use crate::store::account::Account;
use crate::timestamp;

/// A user as administrators see it. A password is only ever written, never read.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub struct UserItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: UserId,
    /// When it was made.
    pub created: String,
    /// Who made it.
    pub created_by: String,
    /// Its name, unique whatever the case.
    pub username: String,
    /// May be empty.
    pub email: String,
    /// Whether it is an administrator by itself.
    pub group: Group,
    /// Whether it may log in.
    pub enabled: bool,
    /// The ids of its teams.
    #[schema(value_type = Vec<String>)]
    pub teams_ids: Vec<TeamId>,
    /// Whether it can do nothing but change its password.
    pub must_change_password: bool,
    /// When it last logged in.
    pub last_login_time: Option<String>,
    /// From where.
    pub last_login_ip_address: Option<String>,
    /// Failed logins since the last one that passed.
    pub num_failed_login_attempts: u64,
    /// Whether they locked it, until an administrator unlocks it.
    pub locked: bool,
}

impl UserItem {
    /// The user with its teams.
    pub fn new(account: Account, teams_ids: Vec<TeamId>) -> Self {
        Self {
            id: account.id,
            created: timestamp::with_offset(account.created_at),
            created_by: account.created_by,
            username: account.username,
            email: account.email,
            group: account.group.into(),
            enabled: account.enabled,
            teams_ids,
            must_change_password: account.must_change_password,
            last_login_time: account.last_login_at.map(timestamp::with_offset),
            last_login_ip_address: account.last_login_address,
            num_failed_login_attempts: account.failed_logins,
            locked: account.locked,
        }
    }
}

/// Body of `POST /admin/users`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewUser {
    /// 1 to 64 characters, unique whatever the case.
    pub username: String,
    /// One address.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub email: Option<String>,
    /// 12 to 1,024 characters, anything in them.
    #[schema(value_type = String)]
    pub password: Password,
    /// `USER` where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub group: Option<Group>,
    /// True where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub enabled: Option<bool>,
    /// Ids or names of teams.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub teams_ids: Vec<String>,
    /// False where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub must_change_password: Option<bool>,
}

/// Body of `PUT /admin/users/{id}`. What is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserChangeBody {
    /// Can't be changed: its own name, or nothing.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub username: Option<String>,
    /// One address; null or empty: none.
    #[serde(default, deserialize_with = "empty_clears")]
    #[schema(value_type = Option<String>)]
    pub email: Option<Option<String>>,
    /// A new one, 12 to 1,024 characters, anything in them; ends every token of the user.
    #[serde(default, deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<String>)]
    pub password: Option<Password>,
    /// Whether it is an administrator by itself.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub group: Option<Group>,
    /// Whether it may log in; false ends every token of the user.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub enabled: Option<bool>,
    /// Ids or names of all its teams; null or empty: none.
    #[serde(default, deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub teams_ids: Option<Option<Vec<String>>>,
    /// Whether it can do nothing but change its password.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub must_change_password: Option<bool>,
}
