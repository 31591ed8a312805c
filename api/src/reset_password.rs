//! A way back in for someone who is locked out: a new password from the host, for a user whose
//! owner can't log in any more. Whoever may write the database may do this.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::audit::AuditDraft;
use crate::auth::password::{BadLength, Password, PasswordError, Passwords};
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use crate::random::Random;
use crate::settings::Settings;
use crate::store::account::Account;
use crate::store::{Store, StoreError};

/// Why no password was set. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    /// The database's files would come to belong to someone else.
    #[error(
        "{} belongs to another user; run this as the user of the service, for example with \
         sudo -u", folder.display()
    )]
    OtherUser {
        /// Whose.
        folder: PathBuf,
    },
    /// There is no database yet.
    #[error("there is no {}: the service has never been started here", folder.display())]
    NoData {
        /// What is missing.
        folder: PathBuf,
        /// Why it can't be looked at.
        #[source]
        source: io::Error,
    },
    /// The database failed.
    #[error("the password was not set")]
    Store(#[from] StoreError),
    /// There is no such user.
    #[error("there is no user {0}")]
    NoUser(String),
    /// The password is too short or too long.
    #[error("the password {0}")]
    Length(#[from] BadLength),
    /// It could not be hashed.
    #[error("the password could not be hashed")]
    Password(#[from] PasswordError),
}

/// Sets a password that must be changed at the next login. The user is enabled and unlocked, and every
/// token that it had ends, in every process of the service. Answers the name as it is spelt.
///
/// # Errors
///
/// See [`ResetError`].
pub async fn reset_password(
    config: &Config,
    random: Arc<dyn Random>,
    username: &str,
    password: Password,
) -> Result<String, ResetError> {
    check_user(&config.home.join("data"))?;
    let store = Store::open(&config.database_url).await?;
    let done = set(&store, random, username, password).await;
    store.close().await;
    done
}

async fn set(
    store: &Store,
    random: Arc<dyn Random>,
    username: &str,
    password: Password,
) -> Result<String, ResetError> {
    let account = store.account_named(username).await?;
    let account = account.ok_or_else(|| ResetError::NoUser(username.to_owned()))?;
    password.check_length(Settings::read(store).await?.password_length)?;
    let password_hash = Passwords::new(random)?.hash(password).await?;
    let after = Account { password_hash, enabled: true, must_change_password: true, ..account };
    let mut write = store.begin().await?;
    write.update_account(&after).await?;
    write.unlock(after.id).await?;
    write.end_tokens_of(after.id).await?;
    let entry = AuditDraft::new(SystemClock.now(), "password", "users");
    write.commit(entry.on(&after.id, &after.username)).await?;
    Ok(after.username)
}

fn check_user(folder: &Path) -> Result<(), ResetError> {
    let found = folder.metadata();
    let found = found.map_err(|source| ResetError::NoData { folder: folder.to_owned(), source })?;
    if found.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(ResetError::OtherUser { folder: folder.to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::random::SystemRandom;
    use crate::store::testing::both;
    use crate::testing::api_on;

    #[tokio::test]
    async fn a_locked_out_administrator_gets_in_and_must_change_the_password() {
        for (engine, store) in both().await {
            let api = api_on(store, |_| ()).await;
            let shut = "UPDATE account SET enabled = 0, locked = 1, failed_logins = 99";
            api.state.store.execute_for_test(shut).await;
            let old = api.administrator();
            let password = Password::from("a way back in".to_owned());

            let other = Store::open(&api.database.url).await.unwrap();
            let name = set(&other, Arc::new(SystemRandom), "ADMIN", password).await.unwrap();

            assert_eq!(name, "admin", "{engine}");
            assert_eq!(old.get("/api/currentuser").await.status, 401, "{engine}");
            let login = json!({"username": "admin", "password": "a way back in"});
            let answer = api.anonymous().post("/api/login", &login).await.json();
            assert_eq!(answer["mustChangePassword"], true, "{engine}: {answer}");
            let shut_still = json!({"username": "member", "password": crate::testing::PASSWORD});
            assert_eq!(api.anonymous().post("/api/login", &shut_still).await.status, 401);
        }
    }

    #[tokio::test]
    async fn nothing_changes_for_nobody_and_for_a_short_password() {
        let api = crate::testing::api().await;
        for (username, password, said) in [
            ("nobody", "a way back in", "there is no user nobody"),
            ("admin", "short", "the password must have 12 to 1024 characters"),
        ] {
            let password = Password::from(password.to_owned());
            let store = &api.state.store;

            let error = set(store, Arc::new(SystemRandom), username, password).await.unwrap_err();

            assert_eq!(error.to_string(), said);
        }
        assert_eq!(api.administrator().get("/api/currentuser").await.status, 200);
    }
}
