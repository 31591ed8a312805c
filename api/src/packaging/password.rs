//! The password of a package: printable ASCII, which every reader of PKCS#12 understands alike.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use zeroize::Zeroizing;

/// A password that packages can have: never printed, wiped when it goes.
#[derive(Clone, PartialEq, Eq)]
pub struct P12Password(Zeroizing<String>);

/// Why a text is none. The text is never repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPassword {
    /// A character that readers encode in different ways.
    #[error(
        "must be printable ASCII (letters, digits, blank and the signs of an English keyboard); \
         other characters are read differently by different programs"
    )]
    NotPrintableAscii,
    /// Nothing, or too much.
    #[error("must have 1 to {MAX_LENGTH} characters")]
    Length,
}

/// In UTF-16.
const NUL: [u8; 2] = [0; 2];

/// Most characters.
pub const MAX_LENGTH: usize = 1024;

impl P12Password {
    /// The text itself.
    pub(in crate::packaging) fn text(&self) -> &str {
        &self.0
    }

    /// UTF-16 in big endian order, as JKS hashes it.
    pub(in crate::packaging) fn to_utf16(&self) -> Zeroizing<Vec<u8>> {
        // With room for an end: growing would leave a copy behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.0.len() * 2 + NUL.len()));
        bytes.extend(self.0.encode_utf16().flat_map(u16::to_be_bytes));
        bytes
    }

    /// The same with a NUL behind it, as PKCS#12 hashes it (RFC 7292, appendix B.1).
    pub(in crate::packaging) fn to_bmp(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = self.to_utf16();
        bytes.extend(NUL);
        bytes
    }
}

impl TryFrom<Zeroizing<String>> for P12Password {
    type Error = BadPassword;

    fn try_from(text: Zeroizing<String>) -> Result<Self, BadPassword> {
        if !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(BadPassword::NotPrintableAscii);
        }
        if text.is_empty() || text.len() > MAX_LENGTH {
            return Err(BadPassword::Length);
        }
        Ok(Self(text))
    }
}

impl fmt::Debug for P12Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("P12Password(..)")
    }
}

/// For a field that holds one; what is empty is absent. Unlike other fields it is read without a
/// copy of ours that nobody wipes (where JSON escapes a character, serde_json keeps one until the
/// body is read), and without a word of its value in any error.
///
/// # Errors
///
/// The value is no text, or [`BadPassword`].
pub fn p12_password<'de, D>(deserializer: D) -> Result<Option<P12Password>, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(Read)
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Option<P12Password>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.is_empty() {
            return Ok(None);
        }
        P12Password::try_from(Zeroizing::new(text.to_owned())).map(Some).map_err(E::custom)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let no_text = |_| A::Error::custom(NO_TEXT);
        while let Some(element) = list.next_element::<Option<Cow<'de, str>>>().map_err(no_text)? {
            if element.is_some_and(|text| !text.is_empty()) {
                return Err(A::Error::custom(NO_TEXT));
            }
        }
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Err(A::Error::custom(NO_TEXT))
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Self::Value, E> {
        Err(E::custom(NO_TEXT))
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Self::Value, E> {
        Err(E::custom(NO_TEXT))
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Self::Value, E> {
        Err(E::custom(NO_TEXT))
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Self::Value, E> {
        Err(E::custom(NO_TEXT))
    }
}

const NO_TEXT: &str = "must be a text";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Option<P12Password>, String> {
        let mut reader = serde_json::Deserializer::from_str(json);
        p12_password(&mut reader).map_err(|error| error.to_string())
    }

    #[test]
    fn every_printable_ascii_character_passes_and_no_other() {
        let all: String = (' '..='~').collect();
        assert_eq!(all.len(), 95);
        let quoted = serde_json::to_string(&all).unwrap();
        assert_eq!(read(&quoted).unwrap().unwrap().text(), all);
        let long = format!("\"{}\"", "x".repeat(1024));
        assert_eq!(read(&long).unwrap().unwrap().text().len(), 1024);

        for bad in ["\"pässwörd\"", "\"a\\tb\"", "\"a\\u007f\"", "\"a\\n\"", "\"\u{20ac}\""] {
            let error = read(bad).unwrap_err();
            assert!(error.starts_with("must be printable ASCII"), "{bad}: {error}");
        }
        let error = read(&format!("\"{}\"", "x".repeat(1025))).unwrap_err();
        assert!(error.starts_with("must have 1 to 1024"), "{error}");
    }

    #[test]
    fn empty_is_absent_and_what_is_no_text_is_refused_without_a_word_of_it() {
        for empty in ["\"\"", "null", "[]", "[\"\"]", "[null]"] {
            assert_eq!(read(empty), Ok(None), "{empty}");
        }
        for bad in ["4711", "-4711", "47.11", "true", "[\"4711\"]", "[4711]", "{\"4711\": 1}"] {
            let error = read(bad).unwrap_err();
            assert!(!error.contains("47"), "{bad}: {error}");
        }
        assert_eq!(format!("{:?}", read("\"secret\"").unwrap()), "Some(P12Password(..))");
    }
}
