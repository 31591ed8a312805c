//! Tokens of machines: random secrets that the service knows by their hash alone.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use chancery_shared::hexadecimal;
use chancery_shared::id::RowId;
use zeroize::Zeroizing;

use super::bearer::BearerError;
use crate::inventory::view::InventoryView;
use crate::random::Random;
use crate::store::StoreError;
use crate::store::api_token::ApiToken;

/// A token as its holder sends it.
#[derive(Debug)]
pub struct Sent<'a> {
    id: RowId,
    secret: &'a str,
}

/// A new secret.
pub struct Secret(Zeroizing<String>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// A random one.
    pub fn new(random: &dyn Random) -> Self {
        let mut bytes = Zeroizing::new([0; SECRET]);
        random.fill(&mut *bytes);
        Self(Zeroizing::new(hexadecimal::encode(*bytes)))
    }

    /// What is stored of it.
    pub fn hash(&self) -> String {
        hash(&self.0)
    }

    /// The whole token, to be shown once.
    pub fn token(&self, id: RowId) -> Zeroizing<String> {
        Zeroizing::new(format!("{PREFIX}{id}_{}", *self.0))
    }
}

impl<'a> Sent<'a> {
    /// Reads `token`, if it is one of a machine: a JWT never begins as these do.
    pub fn of(token: &'a str) -> Option<Result<Self, BearerError>> {
        let rest = token.strip_prefix(PREFIX)?;
        let read = || {
            let (id, secret) = rest.split_once('_')?;
            let id = id.parse().ok()?;
            (secret.len() == 2 * SECRET).then_some(Self { id, secret })
        };
        Some(read().ok_or(BearerError::Invalid))
    }

    /// The stored token that this is.
    ///
    /// # Errors
    ///
    /// Only if the database fails; `None` where there is none, or the secret is another.
    pub async fn find(&self, inventory: &InventoryView) -> Result<Option<ApiToken>, StoreError> {
        let found = inventory.api_token(self.id).await?;
        let hash = hash(self.secret);
        let is_it = |found: &ApiToken| {
            verify_slices_are_equal(found.secret_hash.as_bytes(), hash.as_bytes()).is_ok()
        };
        Ok(found.filter(is_it))
    }
}

fn hash(secret: &str) -> String {
    hexadecimal::encode(digest(&SHA256, secret.as_bytes()))
}

/// Scanners for secrets that leaked know a token by how it begins.
const PREFIX: &str = "chancery_";
/// Bytes of a secret.
const SECRET: usize = 32;
