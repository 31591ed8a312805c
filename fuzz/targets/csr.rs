//! The reader of requests: text in any form to a request whose names and key are sound.
#![no_main]

use chancery_api::issuance::csr_request::ParsedCsr;
use chancery_api::issuance::csr_text;
use chancery_fuzz::within_bounds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    within_bounds(|| {
        if let Err(refused) = csr_text::to_der(input)
            .map_err(|error| error.to_string())
            .and_then(|der| ParsedCsr::read(der).map(drop).map_err(|error| error.to_string()))
        {
            assert!(!refused.is_empty());
        }
        // Most changes break base64, so the bytes are read as DER too.
        if let Err(refused) = ParsedCsr::read(input.to_vec()) {
            assert!(!refused.to_string().is_empty());
        }
    });
});
