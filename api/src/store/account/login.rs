//! What logins and tokens ask of the account table.

use chancery_shared::id::{RowId, UserId};
use time::OffsetDateTime;

use super::{Group, TABLE};
use crate::store::row::{At, signed};
use crate::store::{Store, StoreError, Write};
use crate::timestamp::to_millis;

statements! {
    /// All that a request must know of its token's user, in one statement.
    TOKEN_HOLDER = "
        SELECT username, enabled, must_change_password, token_version, user_group,
               CASE WHEN EXISTS (
                    SELECT 1
                      FROM membership
                      JOIN team ON team.team_id = membership.team_id
                     WHERE membership.user_id = account.user_id
                       AND team.internal_group = 'ADMIN') THEN 1 ELSE 0 END AS in_administrators,
               CASE WHEN EXISTS (
                    SELECT 1 FROM ended_token WHERE token_id = $2) THEN 1 ELSE 0 END AS ended
          FROM account
         WHERE user_id = $1";
    PASSED = "
        UPDATE account
           SET failed_logins = 0, last_login_at = $2, last_login_address = $3
         WHERE user_id = $1 AND token_version = $4 AND enabled = 1 AND locked = 0
           AND (delayed_until <= $2 OR last_login_address = $3)";
    /// The `$3`th failure in a row delays an administrator until `$4`. What fails during a delay does
    /// not lengthen it.
    FAILED = "
        UPDATE account
           SET failed_logins = failed_logins + 1,
               delayed_until = CASE WHEN failed_logins + 1 >= $3 AND delayed_until <= $2
                    AND (user_group = 'ADMIN' OR EXISTS (
                    SELECT 1
                      FROM membership
                      JOIN team ON team.team_id = membership.team_id
                     WHERE membership.user_id = account.user_id
                       AND team.internal_group = 'ADMIN')) THEN $4 ELSE delayed_until END
         WHERE user_id = $1
        RETURNING failed_logins, locked";
    /// It locks an ordinary account: once, whoever fails at the same time.
    LOCK = "
        UPDATE account SET locked = 1
         WHERE user_id = $1 AND locked = 0 AND user_group <> 'ADMIN' AND NOT EXISTS (
                    SELECT 1
                      FROM membership
                      JOIN team ON team.team_id = membership.team_id
                     WHERE membership.user_id = account.user_id
                       AND team.internal_group = 'ADMIN')";
    /// Counts as text, as every fact is.
    FAILED_OF_NOBODY = "
        INSERT INTO installation (name, value) VALUES ('failed-logins-of-nobody', '1')
        ON CONFLICT (name) DO UPDATE
           SET value = CAST(CAST(installation.value AS BIGINT) + 1 AS TEXT)";
    /// A new password ends every token of the user.
    SET_PASSWORD = "
        UPDATE account
           SET password_hash = $3, must_change_password = 0, failed_logins = 0,
               token_version = token_version + 1
         WHERE user_id = $1 AND token_version = $2 AND enabled = 1 AND locked = 0
           AND (delayed_until <= $4 OR last_login_address = $5)";
    END_API_TOKENS = "DELETE FROM api_token WHERE user_id = $1";
}

/// A login whose password was right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedLogin {
    /// When.
    pub at: OffsetDateTime,
    /// From where.
    pub address: String,
    /// The token version that the user was found with.
    pub version: u64,
}

/// One whose password was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedLogin {
    /// When.
    pub at: OffsetDateTime,
    /// So many in a row lock or delay the account.
    pub most: u32,
    /// Until when an administrator's is delayed then.
    pub delayed_until: OffsetDateTime,
}

/// How a user stands after a login that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failures {
    /// How many in a row.
    pub count: u64,
    /// Whether this one locked the account, until an administrator unlocks it.
    pub locks: bool,
}

/// What a request must know of its token's user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub struct TokenHolder {
    /// The name.
    pub username: String,
    /// Whether the user may do anything at all.
    pub enabled: bool,
    /// Whether the user can do nothing but change the password.
    pub must_change_password: bool,
    /// Tokens of another version have ended.
    pub token_version: u64,
    /// Whether the user or one of its teams is of the administrators.
    pub is_administrator: bool,
    /// Whether this very token was ended by logout.
    pub token_ended: bool,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    username: String,
    enabled: i16,
    must_change_password: i16,
    token_version: i64,
    user_group: String,
    in_administrators: i64,
    ended: i64,
}

impl Store {
    /// The user `id`, and how the token `token` stands.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn token_holder(
        &self,
        id: UserId,
        token: RowId,
    ) -> Result<Option<TokenHolder>, StoreError> {
        let id = id.to_string();
        let row: Option<Row> = sqlx::query_as(TOKEN_HOLDER)
            .bind(&id)
            .bind(token.to_string())
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        let Some(row) = row else { return Ok(None) };
        let at = At { table: TABLE, row: &id };
        let group: Group = at.parse("user_group", &row.user_group)?;
        Ok(Some(TokenHolder {
            token_version: at.unsigned("token_version", row.token_version)?,
            is_administrator: group == Group::Administrators || row.in_administrators != 0,
            username: row.username,
            enabled: row.enabled != 0,
            must_change_password: row.must_change_password != 0,
            token_ended: row.ended != 0,
        }))
    }
}

impl Write {
    /// Remembers a login that passed; says whether it holds: it does not where the user may no longer
    /// log in.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn record_login(
        &mut self,
        user: UserId,
        login: &PassedLogin,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(PASSED)
            .bind(user.to_string())
            .bind(to_millis(login.at))
            .bind(&login.address)
            .bind(signed(login.version))
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Remembers one that failed; `None` where the user is gone.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn record_failed_login(
        &mut self,
        user: UserId,
        login: FailedLogin,
    ) -> Result<Option<Failures>, StoreError> {
        let id = user.to_string();
        let row: Option<(i64, i16)> = sqlx::query_as(FAILED)
            .bind(&id)
            .bind(to_millis(login.at))
            .bind(i64::from(login.most))
            .bind(to_millis(login.delayed_until))
            .fetch_optional(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        let Some((count, locked)) = row else { return Ok(None) };
        let count = At { table: TABLE, row: &id }.unsigned("failed_logins", count)?;
        if locked != 0 || count < u64::from(login.most) {
            return Ok(Some(Failures { count, locks: false }));
        }
        // The row is held since it was counted.
        let done = sqlx::query(LOCK).bind(&id).execute(self.connection()).await;
        let locks = done.map_err(StoreError::of(TABLE))?.rows_affected() == 1;
        Ok(Some(Failures { count, locks }))
    }

    /// Counts a failed login that counts against nobody, such as that of a user who does not exist:
    /// the answer takes as long as any other, the write to the disk included.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn record_login_of_nobody(&mut self) -> Result<(), StoreError> {
        let done = sqlx::query(FAILED_OF_NOBODY).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of("installation"))
    }

    /// Sets a new password and ends every token of the user, provided that they could still log in
    /// with the old one as `passed` says; says whether they could.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_password(
        &mut self,
        user: UserId,
        passed: &PassedLogin,
        password_hash: &str,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(SET_PASSWORD)
            .bind(user.to_string())
            .bind(signed(passed.version))
            .bind(password_hash)
            .bind(to_millis(passed.at))
            .bind(&passed.address)
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        let is_set = done.rows_affected() == 1;
        if is_set {
            let done =
                sqlx::query(END_API_TOKENS).bind(user.to_string()).execute(self.connection()).await;
            done.map_err(StoreError::of("api_token"))?;
        }
        Ok(is_set)
    }
}
