//! The reader of DN strings. What it takes, it shows in a way that reads back as the same.
#![no_main]

use chancery_api::name::{DistinguishedName, dn_text};
use chancery_fuzz::within_bounds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    within_bounds(|| match dn_text::parse(input) {
        Ok(name) => {
            let again = dn_text::parse(&name.to_string());
            // What was typed as it is may be shown as hexadecimal digits, twice as many and more.
            if matches!(again, Err(dn_text::DnTextError::TooLong)) {
                return;
            }
            assert_eq!(again.as_ref().map(shown), Ok(shown(&name)));
        }
        Err(refused) => assert!(!refused.to_string().is_empty()),
    });
});

/// Its RDNs as text. A string does not say which string type a value had, and the order of an
/// RDN's attributes hangs on it.
fn shown(name: &DistinguishedName) -> Vec<Vec<String>> {
    let rdns = name.rdns().iter().map(|rdn| {
        let mut attributes: Vec<_> = rdn.iter().map(ToString::to_string).collect();
        attributes.sort();
        attributes
    });
    rdns.collect()
}
