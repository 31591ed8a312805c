//! Settings.

use serde::{Deserialize, Serialize};
use serde_json::{Value as JsonValue, json};
use utoipa::ToSchema;

use crate::json::{Whole, empty_clears, empty_is_absent};
use crate::settings::{self, Description, Kind, Period, TimeUnit, Value};

/// What kind of value a setting has.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SettingType {
    /// A length of time.
    Duration,
    /// A number.
    Number,
    /// One of `choices`.
    Choice,
    /// The address of a site.
    Url,
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
    /// What is in force: a number of `unit`, or a text.
    pub value: JsonValue,
    /// The unit of `value`, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The units that it may be set in, of a length of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub units: Vec<TimeUnit>,
    /// What it may be, of a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub choices: Vec<&'static str>,
    /// The least value, where there is one, as it would be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<JsonValue>,
    /// The greatest value, where there is one, as it would be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<JsonValue>,
    /// What holds where nobody has set it, as it would be set.
    pub default: JsonValue,
    /// What it does.
    pub help: &'static str,
}

impl SettingItem {
    /// The setting, and what is in force.
    pub fn new(description: &Description, value: Value) -> Self {
        let unit_of_value = match &value {
            Value::Period(period) => Some(period.unit.name()),
            Value::Number(_) | Value::Text(_) => None,
        };
        let (kind, unit, minimum, maximum) = match description.kind {
            Kind::Duration { least, most, .. } => {
                (SettingType::Duration, unit_of_value, Some(json!(least)), Some(json!(most)))
            }
            Kind::Number { least, most, unit, .. } => {
                (SettingType::Number, Some(unit), Some(json!(least)), Some(json!(most)))
            }
            Kind::Choice { .. } => (SettingType::Choice, None, None, None),
            Kind::Url { .. } => (SettingType::Url, None, None, None),
        };
        let (units, choices) = match description.kind {
            Kind::Duration { .. } => (TimeUnit::ALL.into(), Vec::new()),
            Kind::Choice { choices, .. } => (Vec::new(), choices.into()),
            Kind::Number { .. } | Kind::Url { .. } => (Vec::new(), Vec::new()),
        };
        Self {
            name: description.name,
            title: description.title,
            r#type: kind,
            value: match value {
                Value::Period(period) => json!(period.value),
                Value::Number(number) => json!(number),
                Value::Text(text) => json!(text),
            },
            unit,
            units,
            choices,
            minimum,
            maximum,
            default: json!(description.default()),
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
    /// `own`, `team` or `all`.
    #[serde(deserialize_with = "empty_is_absent")]
    pub visibility: Option<String>,
    /// How long a login lasts: `{"value": 8, "unit": "hours"}`.
    #[serde(deserialize_with = "empty_is_absent")]
    pub token_lifetime: Option<Period>,
    /// The most days of an API token.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    pub api_token_max_days:
        Option<Whole<{ settings::API_TOKEN_DAYS.least() }, { settings::API_TOKEN_DAYS.most() }>>,
    /// The fewest characters of a new password.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    pub password_min_length:
        Option<Whole<{ settings::PASSWORD_LENGTH.least() }, { settings::PASSWORD_LENGTH.most() }>>,
    /// After how many failed logins an account is locked or delayed.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    pub login_failures:
        Option<Whole<{ settings::LOGIN_FAILURES.least() }, { settings::LOGIN_FAILURES.most() }>>,
    /// For how many seconds an administrator's account is delayed.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    pub administrator_delay: Option<
        Whole<{ settings::ADMINISTRATOR_DELAY.least() }, { settings::ADMINISTRATOR_DELAY.most() }>,
    >,
    /// How many failed logins an address may have within a minute.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    pub address_failures: Option<
        Whole<{ settings::ADDRESS_FAILURES.least() }, { settings::ADDRESS_FAILURES.most() }>,
    >,
    /// Where people find the service; null or empty: nowhere said.
    #[serde(deserialize_with = "empty_clears")]
    #[schema(value_type = Option<String>)]
    pub system_url: Option<Option<String>>,
}

impl SettingsBody {
    /// What is to be set.
    pub fn into_values(self) -> Vec<(Description, Value)> {
        let values = [
            (settings::RETENTION, self.private_key_retention_period.map(Value::Period)),
            (settings::VISIBILITY, self.visibility.map(Value::Text)),
            (settings::TOKEN_LIFETIME, self.token_lifetime.map(Value::Period)),
            (settings::API_TOKEN_DAYS, number(self.api_token_max_days)),
            (settings::PASSWORD_LENGTH, number(self.password_min_length)),
            (settings::LOGIN_FAILURES, number(self.login_failures)),
            (settings::ADMINISTRATOR_DELAY, number(self.administrator_delay)),
            (settings::ADDRESS_FAILURES, number(self.address_failures)),
            (settings::SYSTEM_URL, self.system_url.map(|url| Value::Text(url.unwrap_or_default()))),
        ];
        values.into_iter().filter_map(|(of, value)| Some((of, value?))).collect()
    }
}

fn number<const LEAST: u32, const MOST: u32>(given: Option<Whole<LEAST, MOST>>) -> Option<Value> {
    given.map(|given| Value::Number(given.number()))
}
