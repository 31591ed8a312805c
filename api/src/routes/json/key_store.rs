//! Key Stores and the tokens that they can stand on.

use chancery_shared::id::KeyStoreId;
use chancery_shared::wire::v1::TokenSummary;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::inventory::local_ca::algorithm;
use crate::json::empty_is_absent;
use crate::signer_client::SignerState;
use crate::store::key_store::KeyStore;
use crate::timestamp;

/// What keeps the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub enum KeyStoreType {
    /// A token behind a PKCS#11 library.
    #[serde(rename = "PKCS11")]
    Pkcs11,
}

/// A Key Store.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyStore)]
pub struct KeyStoreItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: KeyStoreId,
    /// When it was made.
    pub created: String,
    /// Who made it.
    pub created_by: String,
    /// Its name, unique.
    pub name: String,
    /// What keeps its keys.
    pub key_store_type: KeyStoreType,
    /// Name of its token in the signer.
    pub token: String,
    /// `ok`, or one sentence that says what is wrong.
    pub status: String,
    /// How many keys of CAs its token holds, as last seen.
    pub key_count: usize,
}

impl KeyStoreItem {
    /// The Key Store as the signer has it now.
    pub fn new(key_store: KeyStore, signer: &SignerState) -> Self {
        let keys = signer.keys().iter().filter(|key| key.token == key_store.token);
        Self {
            id: key_store.id,
            created: timestamp::with_offset(key_store.created_at),
            created_by: key_store.created_by,
            name: key_store.name,
            key_store_type: KeyStoreType::Pkcs11,
            status: status(signer, &key_store.token),
            key_count: keys.count(),
            token: key_store.token,
        }
    }
}

/// Body of `POST /admin/keystores`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKeyStoreBody {
    /// 1 to 100 characters, unique.
    pub name: String,
    /// `PKCS11`, also where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub key_store_type: Option<KeyStoreType>,
    /// Name of a token that the signer offers: see `GET /admin/keystores/tokens`.
    pub token: String,
}

/// Body of `PUT /admin/keystores/{id}`. The token stays: the keys are there.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyStoreChangeBody {
    /// 1 to 100 characters, unique.
    pub name: String,
}

/// A token that the signer offers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Token)]
pub struct TokenItem {
    /// Its name in the signer's configuration.
    pub name: String,
    /// Model, as the token says; empty until it was seen.
    pub model: String,
    /// Serial number, as the token says; empty until it was seen.
    pub serial: String,
    /// `ok`, or one sentence that says what is wrong.
    pub status: String,
    /// Kinds of keys that it can make.
    #[schema(value_type = Vec<String>)]
    pub key_algorithms: Vec<&'static str>,
    /// Keys of CAs that it holds.
    pub used_keys: u32,
    /// How many more it may hold.
    pub free_keys: u32,
    /// Private keys on it that the signer did not know at its start; `chancery-hsm status` names them.
    pub unknown_keys: u32,
}

impl TokenItem {
    /// The token as the signer has it now.
    pub fn new(token: &TokenSummary, signer: &SignerState) -> Self {
        Self {
            name: token.name.clone(),
            model: token.model.clone(),
            serial: token.serial.clone(),
            status: status(signer, &token.name),
            key_algorithms: token.key_algorithms.iter().copied().map(algorithm::key_name).collect(),
            used_keys: token.used_keys,
            free_keys: token.max_keys.saturating_sub(token.used_keys),
            unknown_keys: token.unknown_keys,
        }
    }
}

fn status(signer: &SignerState, token: &str) -> String {
    match signer.check_token(token) {
        Ok(()) => "ok".to_owned(),
        // The signer's own words may name its files; they stand in its log and in chancery-hsm.
        Err(error) => ApiError::from(error).message(),
    }
}
