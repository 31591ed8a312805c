//! What there is to know of a setting.

use axum::http::Uri;
use serde::{Deserialize, Serialize};

use super::Period;

/// A setting, described once.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// By which programs know it.
    pub name: &'static str,
    /// By which people know it.
    pub title: &'static str,
    /// What it does.
    pub help: &'static str,
    /// What values it takes.
    pub kind: Kind,
}

/// What values a setting takes, and which one it has where nobody has set it.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A length of time.
    Duration {
        /// Where nobody has set it.
        default: Period,
        /// The shortest.
        least: Period,
        /// The longest.
        most: Period,
    },
    /// A number.
    Number {
        /// Where nobody has set it.
        default: u32,
        /// The least.
        least: u32,
        /// The greatest.
        most: u32,
        /// Of what.
        unit: &'static str,
    },
    /// One of a few words.
    Choice {
        /// Where nobody has set it.
        default: &'static str,
        /// All of them.
        choices: &'static [&'static str],
    },
    /// The address of a site; empty where nobody has set it.
    Url {
        /// So many bytes at most.
        most: usize,
    },
}

/// A value of a setting. Stored as JSON: a change is a migration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A length of time.
    Period(Period),
    /// A number.
    Number(u32),
    /// A word or an address.
    Text(String),
}

impl Description {
    /// The least number that may be set; 0 where it takes none.
    pub const fn least(&self) -> u32 {
        if let Kind::Number { least, .. } = self.kind { least } else { 0 }
    }

    /// The greatest.
    pub const fn most(&self) -> u32 {
        if let Kind::Number { most, .. } = self.kind { most } else { 0 }
    }

    /// What holds where nobody has set it.
    pub fn default(&self) -> Value {
        match self.kind {
            Kind::Duration { default, .. } => Value::Period(default),
            Kind::Number { default, .. } => Value::Number(default),
            Kind::Choice { default, .. } => Value::Text(default.to_owned()),
            Kind::Url { .. } => Value::Text(String::new()),
        }
    }

    /// Whether `value` may be set.
    ///
    /// # Errors
    ///
    /// The sentence that says what may.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        match (self.kind, value) {
            (Kind::Duration { least, most, .. }, Value::Period(period)) => {
                if (least.length()..=most.length()).contains(&period.length()) {
                    return Ok(());
                }
                Err(format!("is {period}; {least} to {most} may be set"))
            }
            (Kind::Number { least, most, unit, .. }, Value::Number(number)) => {
                if (least..=most).contains(number) {
                    return Ok(());
                }
                Err(format!("is {number}; {least} to {most} {unit} may be set"))
            }
            (Kind::Choice { choices, .. }, Value::Text(text)) => {
                if choices.contains(&text.as_str()) {
                    return Ok(());
                }
                Err(format!("must be one of {}", choices.join(", ")))
            }
            (Kind::Url { most }, Value::Text(text)) => {
                if text.is_empty() || (text.len() <= most && is_site(text)) {
                    return Ok(());
                }
                Err(format!(
                    "must be an address such as https://ca.example.org of at most {most} bytes, \
                     without ? and #"
                ))
            }
            (_, Value::Period(_) | Value::Number(_) | Value::Text(_)) => {
                Err("is a value of another kind".to_owned())
            }
        }
    }
}

/// A place that links can begin with.
fn is_site(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let is_web = matches!(uri.scheme_str(), Some("https" | "http"));
    let host = uri.host().is_some_and(|host| !host.is_empty());
    let user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    is_web && host && !user && uri.query().is_none() && !text.contains('#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ALL, SYSTEM_URL};

    #[test]
    fn every_default_may_be_set() {
        for description in ALL {
            assert_eq!(description.check(&description.default()), Ok(()), "{}", description.name);
        }
    }

    #[test]
    fn a_system_url_is_the_address_of_a_site_and_nothing_else() {
        for (text, passes) in [
            ("https://ca.example.org", true),
            ("http://ca.example.org:8443/chancery", true),
            ("", true),
            ("ca.example.org", false),
            ("ftp://ca.example.org", false),
            ("javascript:alert(1)", false),
            ("https://user:password@ca.example.org", false),
            ("https://ca.example.org?x=1", false),
            ("https://ca.example.org#x", false),
            ("https://", false),
        ] {
            let found = SYSTEM_URL.check(&Value::Text(text.to_owned()));
            assert_eq!(found.is_ok(), passes, "{text}: {found:?}");
        }
    }
}
