//! Teams.

use chancery_shared::id::{CertIssuerId, TeamId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Group;
use crate::json::{empty_clears, empty_clears_list, empty_is_absent, empty_is_no_list};
use crate::store::team::Team;
use crate::timestamp;

/// An element of `GET /currentuser/myteams`: exactly what deployed clients know.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyTeam {
    /// Its id.
    #[schema(value_type = String)]
    pub id: TeamId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether its members are administrators.
    pub internal_group: Group,
    /// Empty.
    pub ad_groups: Vec<String>,
    /// The ids of the Certificate Issuers that are its own.
    #[schema(value_type = Vec<String>)]
    pub authorised_cas: Vec<CertIssuerId>,
    /// Empty.
    pub admin_usernames: Vec<String>,
    /// No mail to its addresses when a certificate is issued.
    pub dont_send_emails_on_issue: bool,
    /// No mail to its addresses before a certificate expires.
    pub dont_send_reminder_emails: bool,
    /// Addresses its members may come from; empty: any.
    pub ip_white_list: String,
}

impl MyTeam {
    /// The team with the issuers that are its own.
    pub fn new(team: Team, authorised_cas: Vec<CertIssuerId>) -> Self {
        Self {
            id: team.id,
            name: team.name,
            description: team.description,
            internal_group: team.internal_group.into(),
            ad_groups: Vec::new(),
            authorised_cas,
            admin_usernames: Vec::new(),
            dont_send_emails_on_issue: team.dont_send_emails_on_issue,
            dont_send_reminder_emails: team.dont_send_reminder_emails,
            ip_white_list: team.ip_white_list,
        }
    }
}

/// A team as administrators see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Team)]
pub struct TeamItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: TeamId,
    /// When it was made.
    pub created: String,
    /// Who made it.
    pub created_by: String,
    /// Its name, unique.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether its members are administrators.
    pub internal_group: Group,
    /// The ids of the Certificate Issuers that are its own; those without any team are open to it
    /// too.
    #[schema(value_type = Vec<String>)]
    pub authorised_cas: Vec<CertIssuerId>,
    /// No mail to its addresses when a certificate is issued.
    pub dont_send_emails_on_issue: bool,
    /// No mail to its addresses before a certificate expires.
    pub dont_send_reminder_emails: bool,
    /// Addresses its members may come from; empty: any.
    pub ip_white_list: String,
    /// The ids of its members.
    #[schema(value_type = Vec<String>)]
    pub members: Vec<UserId>,
}

impl TeamItem {
    /// The team with its issuers and members.
    pub fn new(team: Team, authorised_cas: Vec<CertIssuerId>, members: Vec<UserId>) -> Self {
        Self {
            id: team.id,
            created: timestamp::with_offset(team.created_at),
            created_by: team.created_by,
            name: team.name,
            description: team.description,
            internal_group: team.internal_group.into(),
            authorised_cas,
            dont_send_emails_on_issue: team.dont_send_emails_on_issue,
            dont_send_reminder_emails: team.dont_send_reminder_emails,
            ip_white_list: team.ip_white_list,
            members,
        }
    }
}

/// Body of `POST /admin/teams`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTeam {
    /// 1 to 100 characters, unique.
    pub name: String,
    /// At most 1,000 characters.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub description: Option<String>,
    /// `USER` where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub internal_group: Option<Group>,
    /// Ids or names of Certificate Issuers.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub authorised_cas: Vec<String>,
    /// False where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub dont_send_emails_on_issue: Option<bool>,
    /// False where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub dont_send_reminder_emails: Option<bool>,
    /// Addresses, ranges such as `192.0.2.1-192.0.2.9` and networks such as `192.0.2.0/24`, with
    /// commas between them; at most 1,000 characters.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub ip_white_list: Option<String>,
    /// Ids or names of users.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub members: Vec<String>,
}

/// Body of `PUT /admin/teams/{id}`. What is left out stays as it is.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamChangeBody {
    /// 1 to 100 characters, unique.
    #[serde(deserialize_with = "empty_is_absent")]
    pub name: Option<String>,
    /// At most 1,000 characters; null or empty: none.
    #[serde(deserialize_with = "empty_clears")]
    #[schema(value_type = Option<String>)]
    pub description: Option<Option<String>>,
    /// Whether its members are administrators.
    #[serde(deserialize_with = "empty_is_absent")]
    pub internal_group: Option<Group>,
    /// Ids or names of all Certificate Issuers that are its own; null or empty: none.
    #[serde(deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub authorised_cas: Option<Option<Vec<String>>>,
    /// No mail to its addresses when a certificate is issued.
    #[serde(deserialize_with = "empty_is_absent")]
    pub dont_send_emails_on_issue: Option<bool>,
    /// No mail to its addresses before a certificate expires.
    #[serde(deserialize_with = "empty_is_absent")]
    pub dont_send_reminder_emails: Option<bool>,
    /// Addresses, ranges and networks, with commas between them; null or empty: any address.
    #[serde(deserialize_with = "empty_clears")]
    #[schema(value_type = Option<String>)]
    pub ip_white_list: Option<Option<String>>,
    /// Ids or names of all its members; null or empty: none.
    #[serde(deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub members: Option<Option<Vec<String>>>,
}
