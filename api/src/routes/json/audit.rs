//! The audit in JSON.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::super::validate::Faults;
use crate::error::ApiError;
use crate::json::empty_is_absent;
use crate::store::audit::{AuditSearch, ChainReport, Flaw, StoredAuditEntry};
use crate::timestamp;

/// Which entries are wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// From this moment on; a date alone is its whole day.
    #[serde(deserialize_with = "empty_is_absent")]
    pub from: Option<String>,
    /// Up to this moment, included.
    #[serde(deserialize_with = "empty_is_absent")]
    pub to: Option<String>,
    /// The name of the user who did it; `system` for the service itself.
    #[serde(deserialize_with = "empty_is_absent")]
    pub username: Option<String>,
    /// The kind of thing, as in the path: `certs`, `teams`.
    #[serde(deserialize_with = "empty_is_absent")]
    pub object_kind: Option<String>,
    /// The id of the thing.
    #[serde(deserialize_with = "empty_is_absent")]
    pub object_id: Option<String>,
    /// What was done: `create`, `change`, `delete`, `issue`, `login`.
    #[serde(deserialize_with = "empty_is_absent")]
    pub action: Option<String>,
    /// `ok`, or the code of a refusal.
    #[serde(deserialize_with = "empty_is_absent")]
    pub result: Option<String>,
    /// The id of the request.
    #[serde(deserialize_with = "empty_is_absent")]
    pub request_id: Option<String>,
    /// 1 to 1000 entries a page.
    #[serde(deserialize_with = "empty_is_absent")]
    pub limit: Option<String>,
    /// What the link to the next page, or of an earlier download, has.
    #[serde(deserialize_with = "empty_is_absent")]
    pub after: Option<String>,
}

/// A question that makes sense.
#[derive(Debug)]
pub struct Wanted<Place> {
    /// Which entries.
    pub search: AuditSearch,
    /// Behind which.
    pub after: Option<Place>,
    /// How many.
    pub limit: Option<u32>,
}

impl AuditQuery {
    /// Checks all of it.
    ///
    /// # Errors
    ///
    /// 400 that names every field at fault.
    pub fn check<Place: FromStr<Err: Display>>(self) -> Result<Wanted<Place>, ApiError> {
        let mut faults = Faults::default();
        for (field, text) in [
            ("username", &self.username),
            ("objectKind", &self.object_kind),
            ("objectId", &self.object_id),
            ("action", &self.action),
            ("result", &self.result),
            ("requestId", &self.request_id),
        ] {
            faults.check_length(field, text.as_deref().unwrap_or_default(), MAX_LENGTH);
            if text.as_deref().is_some_and(|text| text.contains('\0')) {
                faults.add(field, "must not contain a NUL".to_owned());
            }
        }
        let mut moment = |field: &str, text: Option<&str>| {
            let text = text?;
            let span = timestamp::span(text);
            if span.is_none() {
                let message = "must be a moment such as 2026-11-27T22:37:28.000+00:00, or a date";
                faults.add(field, message.to_owned());
            }
            span
        };
        let from = moment("from", self.from.as_deref()).map(|(first, _)| first);
        let to = moment("to", self.to.as_deref()).map(|(_, last)| last);
        let after = self.after.as_deref().and_then(|text| match text.parse() {
            Ok(place) => Some(place),
            Err(error) => {
                faults.add("after", format!("{error}"));
                None
            }
        });
        let limit = self.limit.as_deref().and_then(|text| {
            let limit = text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
            if limit.is_none() {
                faults.add("limit", format!("must be a number from 1 to {MAX_LIMIT}"));
            }
            limit
        });
        faults.finish()?;
        let search = AuditSearch {
            from,
            to,
            username: self.username,
            object_kind: self.object_kind,
            object_id: self.object_id,
            action: self.action,
            result: self.result,
            request_id: self.request_id,
        };
        Ok(Wanted { search, after, limit })
    }
}

/// An entry.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry)]
pub struct AuditItem {
    /// When.
    pub timestamp: String,
    /// Its chain: each process has one.
    pub chain: i64,
    /// Its number in the chain.
    pub number: i64,
    /// Who; null where nobody was logged in.
    pub user_id: Option<String>,
    /// That user's name; `system` without an id is the service itself.
    pub username: Option<String>,
    /// The API token that acted for the user.
    pub api_token_id: Option<String>,
    /// From which address.
    pub address: Option<String>,
    /// The request.
    pub request_id: Option<String>,
    /// What.
    pub action: String,
    /// On what kind of thing.
    pub object_kind: String,
    /// On which.
    pub object_id: Option<String>,
    /// What people called it then.
    pub object_name: Option<String>,
    /// What it was.
    #[schema(value_type = Option<Object>)]
    pub before: Option<Box<RawValue>>,
    /// What it was from then on.
    #[schema(value_type = Option<Object>)]
    pub after: Option<Box<RawValue>>,
    /// `ok`, or the code of the refusal.
    pub result: String,
    /// How often, where refusals are told together.
    pub times: u32,
    /// SHA-256 over it and the hash before.
    pub hash: String,
}

impl From<StoredAuditEntry> for AuditItem {
    fn from(stored: StoredAuditEntry) -> Self {
        let StoredAuditEntry { chain_no, entry_no, entry, hash } = stored;
        let json = |text: Option<String>| text.and_then(|text| RawValue::from_string(text).ok());
        Self {
            timestamp: timestamp::with_offset(entry.happened_at),
            chain: chain_no,
            number: entry_no,
            user_id: entry.user_id.map(|id| id.to_string()),
            username: entry.username,
            api_token_id: entry.api_token_id.map(|id| id.to_string()),
            address: entry.address,
            request_id: entry.request_id,
            action: entry.action.into_owned(),
            object_kind: entry.object_kind.into_owned(),
            object_id: entry.object_id,
            object_name: entry.object_name,
            before: json(entry.before),
            after: json(entry.after),
            result: entry.result.into_owned(),
            times: entry.times,
            hash: hash.to_string(),
        }
    }
}

/// What was found of one chain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditChain)]
pub struct AuditChainItem {
    /// Which.
    pub chain: i64,
    /// Whether it is as it was written.
    pub ok: bool,
    /// Entries that were read, up to the fault.
    pub entries: u64,
    /// The number of the first.
    pub first: Option<i64>,
    /// The number of the last.
    pub last: Option<i64>,
    /// The hash of the last: noted elsewhere, it shows later whether all of this was written anew.
    pub last_hash: Option<String>,
    /// The entry of the first fault.
    pub fault_at: Option<i64>,
    /// What is wrong with it.
    #[schema(value_type = Option<String>)]
    pub fault: Option<&'static str>,
}

impl From<ChainReport> for AuditChainItem {
    fn from(report: ChainReport) -> Self {
        Self {
            chain: report.chain_no,
            ok: report.fault.is_none(),
            entries: report.entries,
            first: report.first,
            last: report.last,
            last_hash: report.last_hash.map(|hash| hash.to_string()),
            fault_at: report.fault.map(|fault| fault.entry_no),
            fault: report.fault.map(|fault| words(fault.flaw)),
        }
    }
}

fn words(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::ChainMissing => "this chain is missing, and perhaps chains before it",
        Flaw::ChainRowMissing => "nothing says how this chain begins and ends",
        Flaw::EntryMissing => "the entry is missing",
        Flaw::EntryChanged => {
            "the entry, the one before it, or the beginning of the chain is not what was written"
        }
        Flaw::EntryUnreadable => "the entry can't be read",
        Flaw::EntryAdded => "the entry was added by someone else",
    }
}

const MAX_LENGTH: usize = 256;
const MAX_LIMIT: u32 = 1000;
