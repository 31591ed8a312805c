//! Tokens of machines.

use chancery_shared::id::RowId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{Unranged, empty_is_absent};
use crate::store::api_token::ApiToken;
use crate::timestamp;

/// A token of a machine, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiToken)]
pub struct ApiTokenItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: RowId,
    /// When it was made.
    pub created: String,
    /// Who made it.
    pub created_by: String,
    /// What it is for.
    pub name: String,
    /// When it ends by itself.
    pub expires: String,
}

impl From<&ApiToken> for ApiTokenItem {
    fn from(token: &ApiToken) -> Self {
        Self {
            id: token.id,
            created: timestamp::with_offset(token.created_at),
            created_by: token.created_by.clone(),
            name: token.name.clone(),
            expires: timestamp::with_offset(token.expires_at),
        }
    }
}

/// A token that was just made: its secret is shown here and never again.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MadeApiToken {
    /// What stands in the list, too.
    #[serde(flatten)]
    pub item: ApiTokenItem,
    /// Goes into `Authorization: Bearer <token>`.
    pub token: String,
}

/// Body of `POST /currentuser/apitokens`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewApiToken {
    /// What it is for: 1 to 100 characters.
    pub name: String,
    /// How many days it lasts: 1 to the setting `apiTokenMaxDays`, which is also what holds where it
    /// is left out, but 90 at most then.
    #[serde(default, deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    pub valid_days: Option<Unranged>,
}
