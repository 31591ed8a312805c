//! The specification's field names: they stand here and nowhere else.

pub mod api_token;
pub mod audit;
mod audited;
pub mod cert_issuer;
pub mod certificate;
pub mod certificate_change;
pub mod certificate_import;
pub mod certificate_request;
pub mod certificate_search;
pub mod csr_generator;
pub mod key_store;
pub mod local_ca;
pub mod login;
pub mod preview;
pub mod profile;
pub mod retained;
pub mod setting;
pub mod status;
pub mod team;
pub mod user;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An empty object: it is done, and there is nothing more to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Done {}

/// What a user or the members of a team are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub enum Group {
    /// Administrators.
    #[serde(rename = "ADMIN")]
    Admin,
    /// Everyone else.
    #[serde(rename = "USER")]
    User,
}

impl From<Group> for crate::store::account::Group {
    fn from(group: Group) -> Self {
        match group {
            Group::Admin => Self::Administrators,
            Group::User => Self::Users,
        }
    }
}

impl From<crate::store::account::Group> for Group {
    fn from(group: crate::store::account::Group) -> Self {
        use crate::store::account::Group as Stored;
        match group {
            Stored::Administrators => Self::Admin,
            Stored::Users => Self::User,
        }
    }
}
