//! Changing and deleting users, and ending what they are logged in with.

use chancery_shared::id::UserId;

use super::{Account, TABLE};
use crate::store::{StoreError, Write};

statements! {
    HOLD = "UPDATE account SET enabled = enabled WHERE user_id = $1";
    UPDATE = "
        UPDATE account
           SET email = $2, user_group = $3, enabled = $4, must_change_password = $5,
               password_hash = $6
         WHERE user_id = $1";
    END_SESSIONS = "UPDATE account SET token_version = token_version + 1 WHERE user_id = $1";
    END_API_TOKENS = "DELETE FROM api_token WHERE user_id = $1";
    LEAVE_TEAMS = "DELETE FROM membership WHERE user_id = $1";
    DELETE = "DELETE FROM account WHERE user_id = $1";
    UNLOCK = "
        UPDATE account SET failed_logins = 0, locked = 0, delayed_until = 0 WHERE user_id = $1";
    ENABLED_ADMINISTRATORS = "
        SELECT COUNT(*)
          FROM account
         WHERE enabled = 1
           AND locked = 0
           AND (user_group = 'ADMIN'
                OR EXISTS (SELECT 1
                             FROM membership
                             JOIN team ON team.team_id = membership.team_id
                            WHERE membership.user_id = account.user_id
                              AND team.internal_group = 'ADMIN'))";
}

impl Write {
    /// Lets nobody else change the user until this transaction ends.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn hold_account(&mut self, user: UserId) -> Result<(), StoreError> {
        self.of_user(HOLD, user).await
    }

    /// Writes what may change of a user. Its name stays: records and logs tell it.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn update_account(&mut self, account: &Account) -> Result<(), StoreError> {
        let done = sqlx::query(UPDATE)
            .bind(account.id.to_string())
            .bind(&account.email)
            .bind(account.group.as_str())
            .bind(i16::from(account.enabled))
            .bind(i16::from(account.must_change_password))
            .bind(&account.password_hash)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Ends every token of the user: those of logins and those of machines.
    ///
    /// # Errors
    ///
    /// Only if the database fails; then they live on.
    pub async fn end_tokens_of(&mut self, user: UserId) -> Result<(), StoreError> {
        self.of_user(END_SESSIONS, user).await?;
        self.of_user(END_API_TOKENS, user).await
    }

    /// Deletes a user with its memberships and tokens.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn delete_account(&mut self, user: UserId) -> Result<(), StoreError> {
        self.of_user(END_API_TOKENS, user).await?;
        self.of_user(LEAVE_TEAMS, user).await?;
        self.of_user(DELETE, user).await
    }

    /// Takes the user out of every team.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn leave_teams(&mut self, user: UserId) -> Result<(), StoreError> {
        self.of_user(LEAVE_TEAMS, user).await
    }

    /// Forgets the failed logins of a user, and the lock or delay that came of them.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn unlock(&mut self, user: UserId) -> Result<(), StoreError> {
        self.of_user(UNLOCK, user).await
    }

    /// How many administrators may log in as things stand in this transaction. From here on it is
    /// the only one that changes the inventory: two that each leave the other's last administrator
    /// come one after the other.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn enabled_administrators(&mut self) -> Result<i64, StoreError> {
        self.change_inventory_version().await?;
        let count = sqlx::query_scalar(ENABLED_ADMINISTRATORS).fetch_one(self.connection()).await;
        count.map_err(StoreError::of(TABLE))
    }

    async fn of_user(&mut self, sql: &'static str, user: UserId) -> Result<(), StoreError> {
        let done = sqlx::query(sql).bind(user.to_string()).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
