//! Whole numbers whose range is told by the first sentence that refuses one.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde_json::Value;

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Whole<const LEAST: u32, const MOST: u32>(u32);

impl<const LEAST: u32, const MOST: u32> Whole<LEAST, MOST> {
    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl<'de, const LEAST: u32, const MOST: u32> Deserialize<'de> for Whole<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(Between::<LEAST, MOST>).map(Self)
    }
}

struct Between<const LEAST: u32, const MOST: u32>;

impl<const LEAST: u32, const MOST: u32> Visitor<'_> for Between<LEAST, MOST> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {LEAST} to {MOST}")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        let found = u32::try_from(number).ok().filter(|found| (LEAST..=MOST).contains(found));
        found.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
}

/// What was sent for a number whose range is not known before the body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unranged(Option<u32>);

impl Unranged {
    /// The number, where it is a whole one from `least` to `most`.
    pub fn between(self, least: u32, most: u32) -> Option<u32> {
        self.0.filter(|number| (least..=most).contains(number))
    }
}

impl<'de> Deserialize<'de> for Unranged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self(value.as_u64().and_then(|number| number.try_into().ok())))
    }
}
