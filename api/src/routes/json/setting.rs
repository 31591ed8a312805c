//! Settings.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::empty_is_absent;
use crate::settings::{Description, Period, TimeUnit};

/// What kind of value a setting has.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SettingType {
    /// A length of time.
    Duration,
}

/// A setting with all that is needed to show it and to ask for it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Setting)]
pub struct SettingItem {
    /// By which programs know it.
    pub name: &'static str,
    /// By which people know it.
    pub title: &'static str,
    /// What kind of value it has.
    pub r#type: SettingType,
    /// What is in force, in `unit`.
    pub value: u32,
    /// The unit of `value`.
    pub unit: TimeUnit,
    /// The units that it may be set in.
    pub units: [TimeUnit; 3],
    /// The least value.
    pub minimum: Period,
    /// The greatest value.
    pub maximum: Period,
    /// What holds where nobody has set it.
    pub default: Period,
    /// What it does.
    pub help: &'static str,
}

impl SettingItem {
    /// The setting, and what is in force.
    pub fn new(description: &Description, period: Period) -> Self {
        Self {
            name: description.name,
            title: description.title,
            r#type: SettingType::Duration,
            value: period.value,
            unit: period.unit,
            units: TimeUnit::ALL,
            minimum: Period { value: 0, unit: TimeUnit::Minutes },
            maximum: description.most,
            default: description.default,
            help: description.help,
        }
    }
}

/// Body of `PUT /admin/settings`: the settings that are to change.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SettingsBody {
    /// How long private keys are kept: `{"value": 180, "unit": "days"}`.
    #[serde(deserialize_with = "empty_is_absent")]
    pub private_key_retention_period: Option<Period>,
}
