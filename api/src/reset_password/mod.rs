//! A way back in for someone who is locked out: a new password from the host, for a user whose
//! owner can't log in any more. Whoever may write the database may do this.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chancery_shared::id::{TeamId, UserId};

use crate::audit::{AuditDraft, Item as _, with_new_password};
use crate::auth::password::{BadPassword, Password, PasswordError, Passwords};
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use crate::random::Random;
use crate::settings::Settings;
use crate::store::account::{Account, Group};
use crate::store::team::Team;
use crate::store::{Store, StoreError, Write};

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
    /// The database is not there, or not one of the service.
    #[error(
        "the database of the service can't be used: set CHANCERY_DATABASE_URL here as it is set for \
         the service, if it is; without it, and without database.url in the home's configuration, \
         the database is the SQLite file data/chancery.db of the home"
    )]
    Database(#[source] StoreError),
    /// The database failed.
    #[error("the password was not set")]
    Store(#[from] StoreError),
    /// There is no such user.
    #[error(
        "there is no user {username} in this database of {engine}; if the service uses another, set \
         CHANCERY_DATABASE_URL here as it is set for the service"
    )]
    NoUser {
        /// As the caller spelt it.
        username: String,
        /// What was looked into.
        engine: &'static str,
    },
    /// No such password may be set.
    #[error("the new password does not pass")]
    Bad(#[from] BadPassword),
    /// It could not be hashed.
    #[error("the password could not be hashed")]
    Password(#[from] PasswordError),
}

/// Where the user may come from afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Where all its teams allow.
    OfTeams,
    /// Anywhere: it leaves the teams that limit it. Who was an administrator by one of them is one by
    /// itself then.
    Any,
}

/// What was done.
#[derive(Debug, PartialEq, Eq)]
pub struct Reset {
    /// The user, as it is spelt.
    pub username: String,
    /// The teams that limit where their members come from and that the user was in: it has left them
    /// where it was to come from anywhere.
    pub limiting: Vec<String>,
}

/// Sets a password that must be changed at the next login. The user is enabled and unlocked, and every
/// token that it had ends, in every process of the service.
///
/// # Errors
///
/// See [`ResetError`].
pub async fn reset_password(
    config: &Config,
    random: Arc<dyn Random>,
    username: &str,
    password: Password,
    from: Addresses,
) -> Result<Reset, ResetError> {
    check_user(&config.home.join("data"))?;
    let store = Store::open_as_it_is(&config.database_url).await.map_err(ResetError::Database)?;
    let done = async {
        NewPassword::make(&store, random, username, password).await?.set(&store, from).await
    };
    let done = done.await;
    store.close().await;
    done
}

/// A new password that may be set. Making one is slow: what it is for is looked at anew when it is set.
struct NewPassword {
    user: UserId,
    /// As the caller spelt it.
    username: String,
    hash: String,
}

impl NewPassword {
    async fn make(
        store: &Store,
        random: Arc<dyn Random>,
        username: &str,
        password: Password,
    ) -> Result<Self, ResetError> {
        let account = store.account_named(username).await?;
        let account = account.ok_or_else(|| no_user(store, username))?;
        password.check_new(Settings::read(store).await?.password_length)?;
        let hash = Passwords::new(random)?.hash(password).await?;
        Ok(Self { user: account.id, username: username.to_owned(), hash })
    }

    /// On the user as it is now, held until this is done.
    async fn set(self, store: &Store, from: Addresses) -> Result<Reset, ResetError> {
        let Self { user, username, hash } = self;
        let mut write = store.begin_in_turn().await?;
        write.hold_retained().await?;
        write.hold_account(user).await?;
        let Some(before) = write.account(user).await? else {
            write.let_go().await?;
            return Err(no_user(store, &username));
        };
        let mut teams = write.teams_of(user).await?;
        let fields_before = (&before, &teams[..]).fields();
        let limiting = limiting(&mut write, &teams).await?;
        let mut group = before.group;
        if from == Addresses::Any {
            teams.retain(|id| limiting.iter().all(|team| team.id != *id));
            write.leave_teams(user).await?;
            for team in &teams {
                write.add_member(*team, user).await?;
            }
            if limiting.iter().any(|team| team.internal_group == Group::Administrators) {
                group = Group::Administrators;
            }
        }
        let after = Account {
            group,
            password_hash: hash,
            enabled: true,
            must_change_password: true,
            locked: false,
            ..before
        };
        write.update_account(&after).await?;
        write.unlock(user).await?;
        write.end_tokens_of(user).await?;
        let fields = with_new_password((&after, &teams[..]).fields());
        let entry = AuditDraft::new(SystemClock.now(), "password", "users");
        let entry = entry.on(&user, &after.username).before(fields_before).after(fields);
        write.commit(entry).await?;
        let limiting = limiting.into_iter().map(|team| team.name).collect();
        Ok(Reset { username: after.username, limiting })
    }
}

fn no_user(store: &Store, username: &str) -> ResetError {
    ResetError::NoUser { username: username.to_owned(), engine: store.engine_name() }
}

/// Those of `teams` that have a list of addresses.
async fn limiting(write: &mut Write, teams: &[TeamId]) -> Result<Vec<Team>, StoreError> {
    let mut limiting = Vec::new();
    for id in teams {
        let team = write.team(*id).await?;
        limiting.extend(team.filter(|team| !team.ip_white_list.trim().is_empty()));
    }
    Ok(limiting)
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
mod tests;
