//! Users: who may log in, and what is known of their logins.

mod change;
mod login;

use std::str::FromStr;

use chancery_shared::id::UserId;
use time::OffsetDateTime;

use super::row::{At, signed};
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

pub use login::{FailedLogin, Failures, PassedLogin, TokenHolder};

const TABLE: &str = "account";

statements! {
    ACCOUNTS = select!(account "ORDER BY username_key");
    BY_ID = select!(account "WHERE user_id = $1");
    BY_NAME = select!(account "WHERE username_key = $1");
    INSERT = "
        INSERT INTO account (user_id, username, username_key, email, user_group, enabled,
                             must_change_password, password_hash, token_version, failed_logins,
                             delayed_until, locked, last_login_at, last_login_address, created_at,
                             created_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
}

#[cfg(test)]
pub(super) use {change::STATEMENTS as CHANGE_STATEMENTS, login::STATEMENTS as LOGIN_STATEMENTS};

/// What a user or the members of a team are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// May do everything below `/admin`.
    Administrators,
    /// May do what their teams may.
    Users,
}

impl Group {
    /// The stored text, which is also the one that clients see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Administrators => "ADMIN",
            Self::Users => "USER",
        }
    }
}

/// The text is neither `ADMIN` nor `USER`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected ADMIN or USER")]
pub struct NotAGroup;

impl FromStr for Group {
    type Err = NotAGroup;

    fn from_str(text: &str) -> Result<Self, NotAGroup> {
        match text {
            "ADMIN" => Ok(Self::Administrators),
            "USER" => Ok(Self::Users),
            _ => Err(NotAGroup),
        }
    }
}

/// A user, as stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: UserId,
    /// Its name, unique whatever the case.
    pub username: String,
    /// Where mail goes; may be empty.
    pub email: String,
    /// Whether it is an administrator by itself.
    pub group: Group,
    /// Whether it may log in.
    pub enabled: bool,
    /// Whether it can do nothing but change its password.
    pub must_change_password: bool,
    /// Argon2id, in the PHC string form.
    pub password_hash: String,
    /// Tokens of another version have ended.
    pub token_version: u64,
    /// Failed logins since the last one that passed.
    pub failed_logins: u64,
    /// No login is tried before this moment.
    pub delayed_until: OffsetDateTime,
    /// Whether an administrator must unlock it.
    pub locked: bool,
    /// When it last logged in.
    pub last_login_at: Option<OffsetDateTime>,
    /// From where.
    pub last_login_address: Option<String>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// Who made it.
    pub created_by: String,
}

impl std::fmt::Debug for Account {
    /// Without the hash: a log may be read by more people than the database.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("id", &self.id)
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

#[derive(sqlx::FromRow)]
struct Row {
    user_id: String,
    username: String,
    email: String,
    user_group: String,
    enabled: i16,
    must_change_password: i16,
    password_hash: String,
    token_version: i64,
    failed_logins: i64,
    delayed_until: i64,
    locked: i16,
    last_login_at: Option<i64>,
    last_login_address: Option<String>,
    created_at: i64,
    created_by: String,
}

impl TryFrom<Row> for Account {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.user_id };
        Ok(Self {
            id: at.parse("user_id", &row.user_id)?,
            group: at.parse("user_group", &row.user_group)?,
            token_version: at.unsigned("token_version", row.token_version)?,
            failed_logins: at.unsigned("failed_logins", row.failed_logins)?,
            username: row.username,
            email: row.email,
            enabled: row.enabled != 0,
            must_change_password: row.must_change_password != 0,
            password_hash: row.password_hash,
            delayed_until: from_millis(row.delayed_until),
            locked: row.locked != 0,
            last_login_at: row.last_login_at.map(from_millis),
            last_login_address: row.last_login_address,
            created_at: from_millis(row.created_at),
            created_by: row.created_by,
        })
    }
}

/// The form of a username that must be unique: two that differ in case alone are one.
fn key(username: &str) -> String {
    username.to_lowercase()
}

impl Store {
    /// All users, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(ACCOUNTS).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(Account::try_from).collect()
    }

    /// The user of this id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn account(&self, id: UserId) -> Result<Option<Account>, StoreError> {
        self.one_account(BY_ID, &id.to_string()).await
    }

    /// The user of this name, whatever its case.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn account_named(&self, username: &str) -> Result<Option<Account>, StoreError> {
        self.one_account(BY_NAME, &key(username)).await
    }

    async fn one_account(
        &self,
        sql: &'static str,
        by: &str,
    ) -> Result<Option<Account>, StoreError> {
        let row: Option<Row> = sqlx::query_as(sql)
            .bind(by)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(Account::try_from).transpose()
    }
}

impl Write {
    /// The user of this id, as this transaction sees it.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn account(&mut self, id: UserId) -> Result<Option<Account>, StoreError> {
        let row: Option<Row> = sqlx::query_as(BY_ID)
            .bind(id.to_string())
            .fetch_optional(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(Account::try_from).transpose()
    }

    /// Inserts a user without teams.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn insert_account(&mut self, account: &Account) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT)
            .bind(account.id.to_string())
            .bind(&account.username)
            .bind(key(&account.username))
            .bind(&account.email)
            .bind(account.group.as_str())
            .bind(i16::from(account.enabled))
            .bind(i16::from(account.must_change_password))
            .bind(&account.password_hash)
            .bind(signed(account.token_version))
            .bind(signed(account.failed_logins))
            .bind(to_millis(account.delayed_until))
            .bind(i16::from(account.locked))
            .bind(account.last_login_at.map(to_millis))
            .bind(account.last_login_address.as_deref())
            .bind(to_millis(account.created_at))
            .bind(&account.created_by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
