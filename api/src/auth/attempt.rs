//! One try to show that one is a user: counted where it fails, against the account and against the
//! address.

use std::sync::Arc;

use serde_json::json;
use time::{Duration, OffsetDateTime};

use super::client_address::ClientAddress;
use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::inventory::view::InventoryView;
use crate::settings::Settings;
use crate::store::Unaudited;
use crate::store::account::{Account, FailedLogin};

/// A try that may be made.
pub struct Attempt<'a> {
    state: &'a AppState,
    settings: Arc<Settings>,
    address: ClientAddress,
}

impl<'a> Attempt<'a> {
    /// Begins one from `address`.
    ///
    /// # Errors
    ///
    /// [`ApiError::Throttled`] where too many failed from there.
    pub async fn begin(
        state: &'a AppState,
        inventory: &InventoryView,
        address: ClientAddress,
    ) -> Result<Self, ApiError> {
        let settings = inventory.settings().await?;
        if let Some(address) = address.0 {
            let most = settings.address_failures;
            if let Some(wait) = state.throttle.wait(address, most, state.clock.now()) {
                return Err(ApiError::Throttled(wait.unsigned_abs()));
            }
        }
        Ok(Self { state, settings, address })
    }

    /// What administrators have set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The password was wrong. The answer is one for all failures, and takes as long whether or not
    /// there is an `account`, but for the one failure that locks it, which is told in the audit.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn wrong(&self, account: Option<&Account>) -> Result<ApiError, ApiError> {
        let at = self.state.clock.now();
        let mut write = self.state.store.begin().await?;
        let Some(account) = account else {
            write.record_login_of_nobody().await?;
            write.commit_unaudited(Unaudited::LoginCount).await?;
            return Ok(self.count(at));
        };
        let delay = Duration::seconds(self.settings.administrator_delay.into());
        let most = self.settings.login_failures;
        let failed = FailedLogin { at, most, delayed_until: at + delay };
        let failures = write.record_failed_login(account.id, failed).await?;
        match failures.filter(|failures| failures.locks) {
            Some(failures) => {
                let fields = json!({"locked": true, "failedLogins": failures.count});
                let entry = self.state.audited("lock", "users");
                let entry = entry.on(&account.id, &account.username).after(fields);
                write.commit_beside_inventory(entry).await?;
                tracing::warn!(username = account.username, "failed logins locked an account");
            }
            None => write.commit_unaudited(Unaudited::LoginCount).await?,
        }
        Ok(self.count(at))
    }

    /// The password was right, and still the user may not log in: that counts against no account.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn in_vain(&self, account: &Account, why: &str) -> Result<ApiError, ApiError> {
        tracing::warn!(username = account.username, why, "a login with the right password failed");
        self.wrong(None).await
    }

    fn count(&self, at: OffsetDateTime) -> ApiError {
        if let Some(address) = self.address.0 {
            self.state.throttle.failed(address, at);
        }
        bad_credentials()
    }
}

/// Why `account` may not log in now, whatever the password.
///
/// A delay is for those who guess: it does not hold where the user last logged in from, or anyone
/// could keep an administrator out by guessing on and on.
pub fn obstacle(
    account: &Account,
    from: ClientAddress,
    now: OffsetDateTime,
) -> Option<&'static str> {
    let is_known = from.0.is_some() && account.last_login_address == Some(from.text());
    if !account.enabled {
        Some("the user is disabled")
    } else if account.locked {
        Some("the account is locked")
    } else if account.delayed_until > now && !is_known {
        Some("the account is delayed")
    } else {
        None
    }
}

/// One answer for a wrong password, an unknown user and one who may not log in.
fn bad_credentials() -> ApiError {
    ApiError::refused(Code::BadCredentials, "username or password is wrong")
}
