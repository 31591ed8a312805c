//! How the service is.

use serde::Serialize;
use utoipa::ToSchema;

use super::key_store::TokenItem;

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Status)]
pub struct StatusItem {
    /// The signer.
    pub signer: SignerStatus,
    /// The tokens that it offers.
    pub tokens: Vec<TokenItem>,
    /// The database.
    pub database: DatabaseStatus,
    /// What goes on by itself.
    pub jobs: Vec<JobStatus>,
    /// What becomes of deleted items.
    pub purge: PurgeStatus,
    /// Keys and Local CAs that don't agree.
    pub keys: KeysStatus,
}

/// The signer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignerStatus {
    /// `ok`, or one sentence that says what is wrong.
    pub status: String,
    /// Which signer it is, once it was reached.
    pub signer_id: Option<String>,
    /// The newest entry of its journal, as last seen.
    pub journal_seq: Option<u64>,
}

/// The database.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseStatus {
    /// `SQLite` or `PostgreSQL`.
    #[schema(value_type = String)]
    pub engine: &'static str,
    /// `ok`, or one sentence that says what is wrong.
    pub status: String,
}

/// A job.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    /// `purge`, `key-data` or `reconcile`.
    #[schema(value_type = String)]
    pub name: &'static str,
    /// When its last run ended.
    pub last_run: Option<String>,
    /// When its next run begins.
    pub next_run: Option<String>,
    /// Whether the last run did what it was to do.
    pub ok: Option<bool>,
    /// What it came to, one sentence.
    pub result: Option<String>,
}

/// What becomes of deleted items.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PurgeStatus {
    /// `deleteditems.purge.afterdays`, as this process has read it.
    pub after_days: u32,
    /// Why nothing is purged, where that is so.
    pub paused: Option<String>,
    /// How many items are deleted and not purged.
    pub deleted_items: usize,
    /// When the next of them is purged.
    pub next_purge_at: Option<String>,
    /// Deleted items that the last start of this process has brought nearer, where it has.
    pub hastened: Option<HastenedItem>,
}

/// What a start with fewer days brings nearer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HastenedItem {
    /// How many items.
    pub items: usize,
    /// Days before.
    pub from_days: u32,
    /// Days now.
    pub to_days: u32,
}

/// Keys and Local CAs that don't agree.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeysStatus {
    /// Keys that belong to no Local CA.
    pub without_local_ca: Vec<KeyItem>,
    /// Local CAs whose key the signer does not have, or its token does not.
    pub without_key: Vec<KeyItem>,
    /// Keys that are disabled while their Local CA is live, or the other way round.
    pub disagreeing: Vec<KeyItem>,
}

/// A key and its Local CA.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyItem {
    /// The key.
    pub key_id: String,
    /// Its token, where the signer has it.
    pub token: Option<String>,
    /// `live` or `disabled`, where the signer has it.
    #[schema(value_type = Option<String>)]
    pub state: Option<&'static str>,
    /// Its Local CA, where there is one.
    pub local_ca_id: Option<String>,
    /// That CA's name.
    pub local_ca_name: Option<String>,
}

/// What became of a key that was to be made fit.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyRepair)]
pub struct RepairItem {
    /// `live`, `disabled` or `destroyed`, as it is now.
    #[schema(value_type = String)]
    pub key: &'static str,
    /// What is still to be done, one sentence each.
    pub warnings: Vec<String>,
}
