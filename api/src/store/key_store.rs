//! Key Stores: the tokens of the signer, as administrators know them.

use chancery_shared::id::KeyStoreId;
use time::OffsetDateTime;

use super::row::At;
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "key_store";

statements! {
    LIVE = select!(key_store "WHERE deleted_at IS NULL ORDER BY name, key_store_id");
    BY_ID = select!(key_store "WHERE key_store_id = $1");
    LIVE_BY_NAME = select!(key_store "WHERE name = $1 AND deleted_at IS NULL");
    INSERT = "
        INSERT INTO key_store (key_store_id, name, token, created_at, created_by)
        VALUES ($1, $2, $3, $4, $5)";
    RENAME = "UPDATE key_store SET name = $2 WHERE key_store_id = $1 AND deleted_at IS NULL";
}

/// A Key Store, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyStore {
    /// Its id.
    pub id: KeyStoreId,
    /// Its name, unique among the live ones.
    pub name: String,
    /// Name of its token in the signer.
    pub token: String,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// Who made it.
    pub created_by: String,
    /// When it was deleted, if it was.
    pub deleted_at: Option<OffsetDateTime>,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    key_store_id: String,
    name: String,
    token: String,
    created_at: i64,
    created_by: String,
    deleted_at: Option<i64>,
}

impl TryFrom<Row> for KeyStore {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.key_store_id };
        Ok(Self {
            id: at.parse("key_store_id", &row.key_store_id)?,
            name: row.name,
            token: row.token,
            created_at: from_millis(row.created_at),
            created_by: row.created_by,
            deleted_at: row.deleted_at.map(from_millis),
        })
    }
}

impl Store {
    /// The live Key Stores, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn key_stores(&self) -> Result<Vec<KeyStore>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(LIVE).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(KeyStore::try_from).collect()
    }

    /// The Key Store of this id, live or deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn key_store(&self, id: KeyStoreId) -> Result<Option<KeyStore>, StoreError> {
        self.one_key_store(BY_ID, &id.to_string()).await
    }

    /// The live Key Store of this name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn live_key_store_named(&self, name: &str) -> Result<Option<KeyStore>, StoreError> {
        self.one_key_store(LIVE_BY_NAME, name).await
    }

    async fn one_key_store(
        &self,
        sql: &'static str,
        key: &str,
    ) -> Result<Option<KeyStore>, StoreError> {
        let row: Option<Row> = sqlx::query_as(sql)
            .bind(key)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(KeyStore::try_from).transpose()
    }
}

impl Write {
    /// Inserts a live Key Store.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn insert_key_store(&mut self, key_store: &KeyStore) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT)
            .bind(key_store.id.to_string())
            .bind(&key_store.name)
            .bind(&key_store.token)
            .bind(to_millis(key_store.created_at))
            .bind(&key_store.created_by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Gives a live Key Store another name; says whether there is one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn rename_key_store(
        &mut self,
        id: KeyStoreId,
        name: &str,
    ) -> Result<bool, StoreError> {
        let done =
            sqlx::query(RENAME).bind(id.to_string()).bind(name).execute(self.connection()).await;
        done.map(|done| done.rows_affected() == 1).map_err(StoreError::of(TABLE))
    }
}
