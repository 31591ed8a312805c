//! The teams and the first administrator: there before the first login can be tried.

use std::fs;
use std::io;
use std::path::PathBuf;

use zeroize::Zeroizing;

use super::owner::{ADMINISTRATOR, TEAM};
use super::remember;
use crate::app::AppState;
use crate::auth::password::{BadPassword, Password, PasswordError};
use crate::settings::Settings;
use crate::store::StoreError;
use crate::store::account::{Account, Group};
use crate::store::team::Team;

/// Names the first administrator's password where no file does.
const VARIABLE: &str = "CHANCERY_ADMIN_PASSWORD";

/// Why there is no first administrator, and so no service.
#[derive(Debug, thiserror::Error)]
pub enum FirstAdministratorError {
    /// No one said the password.
    #[error(
        "the first start needs the password of the administrator admin: write it into {}, \
         readable by this service alone, or set {VARIABLE}", file.display()
    )]
    NoPassword {
        /// Where it may stand.
        file: PathBuf,
    },
    /// The file can't be read.
    #[error("the first administrator's password in {} can't be read", file.display())]
    Unreadable {
        /// Which file.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// No such password may be set.
    #[error("the first administrator's password does not pass")]
    Bad(#[from] BadPassword),
    /// It could not be hashed.
    #[error("the first administrator's password could not be hashed")]
    Password(#[from] PasswordError),
    /// The database failed.
    #[error("the first teams and users could not be stored")]
    Store(#[from] StoreError),
}

/// Makes the teams `Administrators` and `Default` and the user `admin`, once.
///
/// # Errors
///
/// Says what is missing; nothing was made.
pub async fn make_accounts(state: &AppState) -> Result<(), FirstAdministratorError> {
    if state.store.fact(ADMINISTRATOR).await?.is_some() {
        return Ok(());
    }
    let password = password(state)?;
    let least = Settings::read(&state.store).await?.password_length;
    password.check_new(least)?;
    let password_hash = state.passwords.hash(password).await?;
    let made = async {
        let now = state.clock.now();
        let team = |name: &str, description: &str, internal_group| Team {
            id: state.new_id(),
            name: name.to_owned(),
            description: description.to_owned(),
            internal_group,
            dont_send_emails_on_issue: false,
            dont_send_reminder_emails: false,
            ip_white_list: String::new(),
            created_at: now,
            created_by: "first start".to_owned(),
        };
        let administrators = team("Administrators", "Run the service", Group::Administrators);
        let default = team("Default", "For certificates of no team of their own", Group::Users);
        let admin = Account {
            id: state.new_id(),
            username: "admin".to_owned(),
            email: String::new(),
            group: Group::Administrators,
            enabled: true,
            must_change_password: false,
            password_hash,
            token_version: 1,
            failed_logins: 0,
            delayed_until: time::OffsetDateTime::UNIX_EPOCH,
            locked: false,
            last_login_at: None,
            last_login_address: None,
            created_at: now,
            created_by: "first start".to_owned(),
        };
        let mut write = state.store.begin().await?;
        write.insert_team(&administrators).await?;
        write.insert_team(&default).await?;
        write.insert_account(&admin).await?;
        write.add_member(administrators.id, admin.id).await?;
        write.set_fact(ADMINISTRATOR, &admin.id.to_string()).await?;
        write.set_fact(TEAM, &administrators.id.to_string()).await?;
        let entry = state.audited("create", "users").made(&(&admin, &[administrators.id][..]));
        write.commit(entry).await
    };
    match made.await {
        Ok(()) => {
            tracing::info!("made the teams Administrators and Default and the user admin");
            Ok(())
        }
        // Another process on the same database was faster, and has said who it is.
        Err(StoreError::Taken { .. }) if state.store.fact(ADMINISTRATOR).await?.is_some() => Ok(()),
        Err(StoreError::Taken { .. }) => {
            Ok(remember(state, ADMINISTRATOR, "made by other means").await?)
        }
        Err(error) => Err(error.into()),
    }
}

fn password(state: &AppState) -> Result<Password, FirstAdministratorError> {
    if let Ok(password) = std::env::var(VARIABLE)
        && !password.is_empty()
    {
        return Ok(Password::from(password));
    }
    let file = state.config.home.join("config/secrets/admin-password");
    match fs::read_to_string(&file).map(Zeroizing::new) {
        Ok(text) => Ok(Password::of_file(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(FirstAdministratorError::NoPassword { file })
        }
        Err(source) => Err(FirstAdministratorError::Unreadable { file, source }),
    }
}
