//! Empty means absent: deployed clients send `""`, `[]`, `[""]`, `[null]` and `null` for "not
//! given".

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;

/// For an optional field of any type: `#[serde(default, deserialize_with = "empty_is_absent")]`.
///
/// # Errors
///
/// Where the value is neither empty nor a `T`.
pub fn empty_is_absent<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = Value::deserialize(deserializer)?;
    if is_empty(&value) {
        return Ok(None);
    }
    T::deserialize(value).map(Some).map_err(|error| D::Error::custom(error.to_string()))
}

/// For a field that a change may clear: absent it stays, empty or null it goes.
///
/// # Errors
///
/// Where the value is neither empty nor a `T`.
pub fn empty_clears<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    empty_is_absent(deserializer).map(Some)
}

/// The same for a list.
///
/// # Errors
///
/// Where the value is neither empty nor a list of `T`.
pub fn empty_clears_list<'de, D, T>(deserializer: D) -> Result<Option<Option<Vec<T>>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let list = empty_is_no_list(deserializer)?;
    Ok(Some((!list.is_empty()).then_some(list)))
}

/// For a field whose default is that of its type.
///
/// # Errors
///
/// Where the value is neither empty nor a `T`.
pub fn empty_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    empty_is_absent(deserializer).map(Option::unwrap_or_default)
}

/// For a list that may be left out: the empty elements go, and what is left may be no list.
///
/// # Errors
///
/// Where the value is neither empty nor a list of `T`.
pub fn empty_is_no_list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let mut value = Value::deserialize(deserializer)?;
    if is_empty(&value) {
        return Ok(Vec::new());
    }
    if let Value::Array(elements) = &mut value {
        if elements.len() > MOST {
            return Err(D::Error::custom(format!("has more than {MOST} elements")));
        }
        elements.retain(|element| !is_empty_element(element));
    }
    Vec::deserialize(value).map_err(|error| D::Error::custom(error.to_string()))
}

/// No list of a request has more elements; what is done with each may take a while.
const MOST: usize = 1_000;

/// For a field of another call that clients send with this one: what is empty or false is let
/// pass.
///
/// # Errors
///
/// Where it says anything. The value, which may be a secret, is not repeated.
pub fn must_be_absent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    let value = Value::deserialize(deserializer)?;
    if is_empty(&value) || value == Value::Bool(false) {
        return Ok(());
    }
    Err(D::Error::custom("does not apply to this call; leave it out or empty"))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().all(is_empty_element),
        other => is_empty_element(other),
    }
}

fn is_empty_element(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}
