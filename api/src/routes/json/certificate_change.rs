//! What is sent to change a record.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::json::{empty_clears, empty_clears_list, empty_is_absent};

/// Body of `PATCH /certs/{id}`. What is left out stays as it is.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct CertificateChange {
    /// Free text, at most 4 KiB; null or empty clears it.
    #[serde(deserialize_with = "empty_clears")]
    #[schema(value_type = Option<String>)]
    pub extra_details: Option<Option<String>>,
    /// Who gets mail too, at most 20 addresses; null or empty clears the list.
    #[serde(deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub extra_emails: Option<Option<Vec<String>>>,
    /// Whether reminders are sent.
    #[serde(deserialize_with = "empty_is_absent")]
    pub track_expiry: Option<bool>,
    /// Whether another certificate took its place.
    #[serde(deserialize_with = "empty_is_absent")]
    pub renewed: Option<bool>,
    /// Whose it becomes, by id.
    #[serde(deserialize_with = "empty_is_absent")]
    pub owner_user_id: Option<String>,
    /// Which team's it becomes, by id.
    #[serde(deserialize_with = "empty_is_absent")]
    pub team_id: Option<String>,
}
