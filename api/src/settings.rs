//! What administrators set while the service runs: each setting has one description, from which it
//! is checked, shown and explained.

use std::fmt;

use serde::{Deserialize, Serialize};
use time::Duration;
use utoipa::ToSchema;

use crate::store::{Store, StoreError};

/// A unit of a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// 60 seconds.
    Minutes,
    /// 60 minutes.
    Hours,
    /// 24 hours.
    Days,
}

impl TimeUnit {
    /// All of them, shortest first.
    pub const ALL: [Self; 3] = [Self::Minutes, Self::Hours, Self::Days];

    fn name(self) -> &'static str {
        match self {
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Days => "days",
        }
    }
}

/// A length of time as an administrator writes it. Stored as JSON: a change is a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Period {
    /// How many.
    pub value: u32,
    /// Of what.
    pub unit: TimeUnit,
}

impl Period {
    /// Whether it is no time at all.
    pub fn is_nothing(self) -> bool {
        self.value == 0
    }

    /// As a length of time.
    pub fn length(self) -> Duration {
        let one = match self.unit {
            TimeUnit::Minutes => Duration::MINUTE,
            TimeUnit::Hours => Duration::HOUR,
            TimeUnit::Days => Duration::DAY,
        };
        one.saturating_mul(i32::try_from(self.value).unwrap_or(i32::MAX))
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value, self.unit.name())
    }
}

/// What there is to know of a setting that is a length of time.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// By which programs know it.
    pub name: &'static str,
    /// By which people know it.
    pub title: &'static str,
    /// What it does.
    pub help: &'static str,
    /// Where nobody has set it.
    pub default: Period,
    /// The longest.
    pub most: Period,
}

/// Private Key Retention Period.
pub const RETENTION: Description = Description {
    name: "privateKeyRetentionPeriod",
    title: "Private Key Retention Period",
    help: "How long the private key of a DN request is kept, so that its owner can download it \
           again as PKCS #12, JKS or PEM. 0 keeps none. A shorter period removes what is older \
           within a minute; a longer one brings nothing back.",
    default: Period { value: 30, unit: TimeUnit::Days },
    most: Period { value: 36_500, unit: TimeUnit::Days },
};

/// Every setting.
pub const ALL: [Description; 1] = [RETENTION];

impl Description {
    /// Whether `period` may be set.
    ///
    /// # Errors
    ///
    /// The sentence that says what may.
    pub fn check(&self, period: Period) -> Result<(), String> {
        if period.length() <= self.most.length() {
            return Ok(());
        }
        Err(format!("is {period}; at most {} may be set", self.most))
    }

    /// What is in force.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn value(&self, store: &Store) -> Result<Period, StoreError> {
        let stored = store.setting(self.name).await?;
        let Some(text) = stored else { return Ok(self.default) };
        serde_json::from_str(&text).map_err(|_| StoreError::Unreadable {
            table: "setting",
            row: self.name.to_owned(),
            column: "value",
        })
    }
}

/// How long private keys are kept.
///
/// # Errors
///
/// Only if the database fails.
pub async fn retention(store: &Store) -> Result<Period, StoreError> {
    RETENTION.value(store).await
}
