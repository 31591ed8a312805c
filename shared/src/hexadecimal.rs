//! Bytes as lower-case hexadecimal text, as ids, hashes and serial numbers are written.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::Deserializer;
use serde::de::{self, Visitor};

/// Two characters a byte. `hex::encode` makes its text a character at a time, which shows in what a
/// certificate costs.
#[must_use]
pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    let mut text = vec![0; 2 * bytes.len()];
    // Neither can fail: there is room for exactly that, and the digits are ASCII.
    let _ = hex::encode_to_slice(bytes, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Reads what is written so from where it lies: no copy of the text is made.
pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_str(Parsed(PhantomData))
}

struct Parsed<T>(PhantomData<T>);

impl<T: FromStr<Err: Display>> Visitor<'_> for Parsed<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lower-case hexadecimal text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_text_is_that_of_any_other_encoder() {
        for length in [0, 1, 2, 20, 300] {
            let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(length).collect();

            assert_eq!(super::encode(&bytes), hex::encode(&bytes));
        }
    }
}
