//! Lengths of time as administrators write them.

use std::fmt;

use serde::{Deserialize, Serialize};
use time::Duration;
use utoipa::ToSchema;

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

    /// As people and programs write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Days => "days",
        }
    }
}

/// A length of time as an administrator writes it. Stored as JSON: a change is a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a number and a unit, such as {\"value\": 180, \"unit\": \"days\"}"
)]
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
