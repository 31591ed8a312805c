//! Tokens of machines, as stored: who has one, and the hash of its secret.

use chancery_shared::id::{RowId, UserId};
use time::OffsetDateTime;

use super::row::At;
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "api_token";

statements! {
    BY_ID = select!(api_token "WHERE token_id = $1");
    OF_USER = select!(api_token "WHERE user_id = $1 ORDER BY created_at, token_id");
    INSERT = "
        INSERT INTO api_token (token_id, user_id, name, secret_hash, created_at, created_by,
                               expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    DELETE = "DELETE FROM api_token WHERE token_id = $1 AND user_id = $2";
    FORGET_EXPIRED = "DELETE FROM api_token WHERE user_id = $1 AND expires_at <= $2";
    COUNT = "SELECT COUNT(*) FROM api_token WHERE user_id = $1";
}

/// A token of a machine.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Its id, which stands in the token too.
    pub id: RowId,
    /// As whom it acts.
    pub user_id: UserId,
    /// What it is for.
    pub name: String,
    /// SHA-256 of its secret, hexadecimal.
    pub secret_hash: String,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// Who made it.
    pub created_by: String,
    /// When it ends by itself.
    pub expires_at: OffsetDateTime,
}

impl std::fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiToken").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(sqlx::FromRow)]
struct Row {
    token_id: String,
    user_id: String,
    name: String,
    secret_hash: String,
    created_at: i64,
    created_by: String,
    expires_at: i64,
}

impl TryFrom<Row> for ApiToken {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.token_id };
        Ok(Self {
            id: at.parse("token_id", &row.token_id)?,
            user_id: at.parse("user_id", &row.user_id)?,
            name: row.name,
            secret_hash: row.secret_hash,
            created_at: from_millis(row.created_at),
            created_by: row.created_by,
            expires_at: from_millis(row.expires_at),
        })
    }
}

impl Store {
    /// The token of this id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn api_token(&self, id: RowId) -> Result<Option<ApiToken>, StoreError> {
        let row: Option<Row> = sqlx::query_as(BY_ID)
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(ApiToken::try_from).transpose()
    }

    /// The tokens of a user, oldest first.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn api_tokens_of(&self, user: UserId) -> Result<Vec<ApiToken>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(OF_USER)
            .bind(user.to_string())
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(ApiToken::try_from).collect()
    }
}

impl Write {
    /// Inserts a token; forgets those of the same user that are past their time.
    ///
    /// # Errors
    ///
    /// Only if the database fails, or has no such user.
    pub async fn insert_api_token(&mut self, token: &ApiToken) -> Result<(), StoreError> {
        let done = sqlx::query(FORGET_EXPIRED)
            .bind(token.user_id.to_string())
            .bind(to_millis(token.created_at))
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))?;
        let done = sqlx::query(INSERT)
            .bind(token.id.to_string())
            .bind(token.user_id.to_string())
            .bind(&token.name)
            .bind(&token.secret_hash)
            .bind(to_millis(token.created_at))
            .bind(&token.created_by)
            .bind(to_millis(token.expires_at))
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// How many tokens a user has in this transaction.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn count_api_tokens(&mut self, user: UserId) -> Result<i64, StoreError> {
        let count =
            sqlx::query_scalar(COUNT).bind(user.to_string()).fetch_one(self.connection()).await;
        count.map_err(StoreError::of(TABLE))
    }

    /// Deletes a token of this user; says whether there was one.
    ///
    /// # Errors
    ///
    /// Only if the database fails; then the token lives on.
    pub async fn delete_api_token(&mut self, id: RowId, user: UserId) -> Result<bool, StoreError> {
        let done = sqlx::query(DELETE)
            .bind(id.to_string())
            .bind(user.to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }
}
