//! The signer's policy: any TBS, and sound ones with one part in the place of which the input stands.
//!
//! The first byte chooses kind and policy, the second the part.
#![no_main]

use chancery_fuzz::draft::{KINDS, judge};
use chancery_fuzz::within_bounds;
use chancery_signer::policy::CaCertificate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [choice, part, rest @ ..] = input else { return };
    let kind = KINDS[usize::from(choice & 0x7f) % KINDS.len()];
    let is_narrow = choice & 0x80 != 0;
    if *part == u8::MAX {
        within_bounds(|| {
            let _ = judge(kind, rest, is_narrow);
            let _ = CaCertificate::from_der(rest);
        });
    } else {
        let tbs = kind.with_part(usize::from(*part), rest);
        within_bounds(|| {
            let _ = judge(kind, &tbs, is_narrow);
        });
    }
});
