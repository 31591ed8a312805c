//! Keys that no one may have certified because others have them: published ones, and what the
//! operator lists.

use std::collections::HashSet;

use aws_lc_rs::digest::{SHA256, digest};

/// SHA-256 of the SubjectPublicKeyInfo of each bad key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadKeys(HashSet<[u8; 32]>);

/// A line that is neither a hash nor a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {0} is no SHA-256 in 64 hexadecimal digits, and no comment that begins with #")]
pub struct BadLine(pub usize);

impl BadKeys {
    /// Those that this service was shipped with.
    #[must_use]
    pub fn shipped() -> Self {
        let mut shipped = Self(HashSet::new());
        // Every line of the shipped list is read by a test.
        let _ = shipped.extend(SHIPPED);
        shipped
    }

    /// Adds a list: a hash a line, blank lines and comments apart.
    ///
    /// # Errors
    ///
    /// The first line that is no hash; those before it were added.
    pub fn extend(&mut self, list: &str) -> Result<(), BadLine> {
        for (index, line) in list.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut hash = [0; 32];
            hex::decode_to_slice(line, &mut hash).map_err(|_| BadLine(index + 1))?;
            self.0.insert(hash);
        }
        Ok(())
    }

    /// Whether the key of this SubjectPublicKeyInfo (DER) is one of them.
    #[must_use]
    pub fn contains(&self, spki: &[u8]) -> bool {
        self.0.contains(digest(&SHA256, spki).as_ref())
    }
}

const SHIPPED: &str = include_str!("bad_keys/shipped.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_key_and_one_of_the_operators_list_are_known() {
        // RFC 8032, section 7.1, test 1.
        let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let published = hex::decode(format!("302a300506032b6570032100{key}")).unwrap();
        let mut bad = BadKeys::shipped();

        bad.extend(&format!("# mine\n\n {} \r\n", hex::encode_upper(digest(&SHA256, b"mine"))))
            .unwrap();

        assert!(bad.contains(&published));
        assert!(bad.contains(b"mine"));
        assert!(!bad.contains(b"another"));
    }

    #[test]
    fn every_line_of_the_shipped_list_is_read_and_a_line_that_is_no_hash_is_named() {
        assert_eq!(BadKeys::shipped().extend(SHIPPED), Ok(()));
        assert_eq!(BadKeys::shipped().extend("# x\nabc\n"), Err(BadLine(2)));
    }
}
