//! Alternative names, as typed and as DER. What is taken is shown in a way that can be read.
#![no_main]

use chancery_api::name::SubjectAltName;
use chancery_fuzz::within_bounds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    within_bounds(|| {
        if let Ok(typed) = std::str::from_utf8(input) {
            match SubjectAltName::parse(typed) {
                Ok(name) => assert_eq!(SubjectAltName::parse(&name.to_string()), Ok(name)),
                Err(refused) => assert!(!refused.to_string().is_empty()),
            }
        }
        match SubjectAltName::read_all(input) {
            Ok(names) => {
                for name in names {
                    let _ = name.check();
                    assert!(!name.to_string().is_empty());
                }
            }
            Err(refused) => assert!(!refused.to_string().is_empty()),
        }
    });
});
