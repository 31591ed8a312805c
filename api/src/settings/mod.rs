//! What administrators set while the service runs: each setting has one description, from which it
//! is checked, shown and explained.

mod description;
mod period;
mod retention;

use std::collections::HashMap;
use std::str::FromStr;

pub use description::{Description, Kind, Value};
pub use period::{Period, TimeUnit};
pub use retention::Retention;

use crate::store::{Store, StoreError};
use crate::timestamp::from_millis;

/// Private Key Retention Period.
pub const RETENTION: Description = Description {
    name: "privateKeyRetentionPeriod",
    title: "Private Key Retention Period",
    help: "How long the private key of a DN request is kept, so that its owner can download it \
           again as PKCS #12, JKS or PEM. 0 keeps none. A shorter period ends that at once \
           for what is older, which is removed within a minute; a longer one brings nothing back.",
    kind: Kind::Duration {
        default: Period { value: 30, unit: TimeUnit::Days },
        least: Period { value: 0, unit: TimeUnit::Minutes },
        most: Period { value: 36_500, unit: TimeUnit::Days },
    },
};

/// Stands beside [`RETENTION`] once that was changed: [`Retention::over_at_change`], in milliseconds
/// since 1970.
pub const OVER_AT_CHANGE: &str = "privateKeysOverAtChange";

/// Which certificates an ordinary user sees.
pub const VISIBILITY: Description = Description {
    name: "visibility",
    title: "Visibility of certificates",
    help: "Which certificates an ordinary user sees: own, those of the user's teams too, or all. \
           Administrators see all, and everyone sees those of CAs.",
    kind: Kind::Choice { default: "all", choices: &["own", "team", "all"] },
};

/// How long a login lasts.
pub const TOKEN_LIFETIME: Description = Description {
    name: "tokenLifetime",
    title: "Lifetime of a login",
    help: "How long the token of a login opens anything. Holds for logins from now on.",
    kind: Kind::Duration {
        default: Period { value: 8, unit: TimeUnit::Hours },
        least: Period { value: 1, unit: TimeUnit::Minutes },
        most: Period { value: 30, unit: TimeUnit::Days },
    },
};

/// How long an API token may last.
pub const API_TOKEN_DAYS: Description = Description {
    name: "apiTokenMaxDays",
    title: "Longest life of an API token",
    help: "The most days that an API token may be made for. Tokens that are there keep their end.",
    kind: Kind::Number { default: 365, least: 1, most: 3650, unit: "days" },
};

/// How short a password may be.
pub const PASSWORD_LENGTH: Description = Description {
    name: "passwordMinLength",
    title: "Shortest password",
    help: "The fewest characters of a new password. Passwords that are set already stay.",
    kind: Kind::Number { default: 12, least: 8, most: 128, unit: "characters" },
};

/// After how many failures an account is locked or delayed.
pub const LOGIN_FAILURES: Description = Description {
    name: "loginFailures",
    title: "Failed logins before an account is locked",
    help: "After so many failed logins in a row an ordinary account is locked until an \
           administrator unlocks it; an administrator's account is only delayed.",
    kind: Kind::Number { default: 10, least: 1, most: 1000, unit: "failures" },
};

/// For how long an administrator's account is delayed.
pub const ADMINISTRATOR_DELAY: Description = Description {
    name: "administratorDelay",
    title: "Delay of an administrator's account",
    help: "After as many failed logins as lock an ordinary account, an administrator's takes none \
           for so long, and after each further failure again.",
    kind: Kind::Number { default: 30, least: 1, most: 3600, unit: "seconds" },
};

/// How many failures an address may have.
pub const ADDRESS_FAILURES: Description = Description {
    name: "addressFailures",
    title: "Failed logins of an address",
    help: "After so many failed logins within a minute an address gets 429 until the minute is \
           over. Logins that pass do not count. Each process of the service counts by itself.",
    kind: Kind::Number { default: 60, least: 1, most: 1_000_000, unit: "failures per minute" },
};

/// Where people find the service.
pub const SYSTEM_URL: Description = Description {
    name: "systemUrl",
    title: "System URL",
    help: "The address at which people reach the service, such as https://ca.example.org; for \
           links. Any user may read it.",
    kind: Kind::Url { most: 1000 },
};

/// Every setting.
pub const ALL: [Description; 9] = [
    RETENTION,
    VISIBILITY,
    TOKEN_LIFETIME,
    API_TOKEN_DAYS,
    PASSWORD_LENGTH,
    LOGIN_FAILURES,
    ADMINISTRATOR_DELAY,
    ADDRESS_FAILURES,
    SYSTEM_URL,
];

/// Which certificates an ordinary user sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The user's own.
    Own,
    /// Those of the user's teams, too.
    Team,
    /// All.
    All,
}

/// The text is none of the three.
#[derive(Debug, thiserror::Error)]
#[error("expected own, team or all")]
pub struct NotAVisibility;

impl FromStr for Visibility {
    type Err = NotAVisibility;

    fn from_str(text: &str) -> Result<Self, NotAVisibility> {
        match text {
            "own" => Ok(Self::Own),
            "team" => Ok(Self::Team),
            "all" => Ok(Self::All),
            _ => Err(NotAVisibility),
        }
    }
}

/// All that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long private keys are kept.
    pub retention: Retention,
    /// Which certificates an ordinary user sees.
    pub visibility: Visibility,
    /// How long a login lasts.
    pub token_lifetime: Period,
    /// The most days of an API token.
    pub api_token_days: u32,
    /// The fewest characters of a new password.
    pub password_length: usize,
    /// After how many failures an account is locked or delayed.
    pub login_failures: u32,
    /// For how many seconds an administrator's account is delayed.
    pub administrator_delay: u32,
    /// How many failures an address may have within a minute.
    pub address_failures: u32,
}

impl Settings {
    /// What is in force now.
    ///
    /// # Errors
    ///
    /// Only if the database fails, or has what this service does not write.
    pub async fn read(store: &Store) -> Result<Self, StoreError> {
        let stored = Stored::read(store).await?;
        let visibility = stored.text(&VISIBILITY)?;
        let password_length = stored.number(&PASSWORD_LENGTH)?;
        Ok(Self {
            retention: stored.retention()?,
            visibility: visibility.parse().map_err(|_| unreadable(&VISIBILITY))?,
            token_lifetime: stored.period(&TOKEN_LIFETIME)?,
            api_token_days: stored.number(&API_TOKEN_DAYS)?,
            password_length: usize::try_from(password_length)
                .map_err(|_| unreadable(&PASSWORD_LENGTH))?,
            login_failures: stored.number(&LOGIN_FAILURES)?,
            administrator_delay: stored.number(&ADMINISTRATOR_DELAY)?,
            address_failures: stored.number(&ADDRESS_FAILURES)?,
        })
    }
}

/// What is set, as JSON by name.
pub struct Stored(HashMap<String, String>);

impl Stored {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn read(store: &Store) -> Result<Self, StoreError> {
        store.settings().await.map(Self)
    }

    /// What is in force of one setting.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreadable`] where this service does not write such a value.
    pub fn value(&self, of: &Description) -> Result<Value, StoreError> {
        let Some(text) = self.0.get(of.name) else { return Ok(of.default()) };
        let value: Value = serde_json::from_str(text).map_err(|_| unreadable(of))?;
        of.check(&value).map(|()| value).map_err(|_| unreadable(of))
    }

    /// What is in force for private keys.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreadable`] where this service does not write such a value.
    pub fn retention(&self) -> Result<Retention, StoreError> {
        let at_change = self.0.get(OVER_AT_CHANGE).map(|text| text.parse().map(from_millis));
        let over_at_change = at_change.transpose().map_err(|_| unreadable_row(OVER_AT_CHANGE))?;
        Ok(Retention { period: self.period(&RETENTION)?, over_at_change })
    }

    fn period(&self, of: &Description) -> Result<Period, StoreError> {
        match self.value(of)? {
            Value::Period(period) => Ok(period),
            Value::Number(_) | Value::Text(_) => Err(unreadable(of)),
        }
    }

    fn number(&self, of: &Description) -> Result<u32, StoreError> {
        match self.value(of)? {
            Value::Number(number) => Ok(number),
            Value::Period(_) | Value::Text(_) => Err(unreadable(of)),
        }
    }

    fn text(&self, of: &Description) -> Result<String, StoreError> {
        match self.value(of)? {
            Value::Text(text) => Ok(text),
            Value::Period(_) | Value::Number(_) => Err(unreadable(of)),
        }
    }
}

fn unreadable(of: &Description) -> StoreError {
    unreadable_row(of.name)
}

fn unreadable_row(name: &str) -> StoreError {
    StoreError::Unreadable { table: "setting", row: name.to_owned(), column: "value" }
}
