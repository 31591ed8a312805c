//! The body of a search: its filters are read, each text becomes one that can be looked for, and looks
//! at what a record may hold.
#![no_main]

use chancery_api::certificate::text_filter::{TextFilter, TextKind};
use chancery_api::routes::json::certificate_search::CertificateSearch;
use chancery_api::timestamp;
use chancery_fuzz::within_bounds;
use libfuzzer_sys::fuzz_target;

/// The service refuses longer ones before it looks at any.
const MOST_CHARACTERS: usize = 1024;

/// Texts of records, the last as long as a client may make them.
const DN: &str = "CN=www.example.test, OU=a\\, b+OU=\\#c, O=Example\\ , C=CH";
const NAMES: [&str; 3] = ["DNS:www.example.test", "IP:2001:db8::1", "UPN:anna@example.test"];

fuzz_target!(|input: &[u8]| {
    let details = "a\u{e4}(b ".repeat(800);
    within_bounds(|| {
        let Ok(asked) = serde_json::from_slice::<CertificateSearch>(input) else { return };
        for (kind, value) in [
            (TextKind::DistinguishedName, &asked.subject_dn),
            (TextKind::DistinguishedName, &asked.issuer_dn),
            (TextKind::CommonName, &asked.common_name),
            (TextKind::AlternativeNames, &asked.san),
            (TextKind::Free, &asked.extra_info),
        ] {
            let Some(value) = value else { continue };
            if value.chars().count() > MOST_CHARACTERS {
                continue;
            }
            match TextFilter::new(kind, value) {
                Ok(filter) => {
                    let _ = (filter.matches_dn(DN), filter.matches_text(&details));
                    let _ = (filter.matches_names(NAMES), filter.needs());
                }
                Err(bad) => assert!(!bad.to_string().is_empty()),
            }
        }
        for moment in [&asked.valid_from_from, &asked.valid_to_to].into_iter().flatten() {
            if let Some((first, last)) = timestamp::span(moment) {
                assert!(first <= last + 1);
            }
        }
    });
});
