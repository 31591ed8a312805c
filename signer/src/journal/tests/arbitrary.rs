//! No bytes that anyone puts into a segment make the journal panic.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::journal::recover::recover;
use crate::journal::segment::Header;
use crate::journal::storage::Folder;
use crate::journal::tear::judge;
use crate::journal::{entries, record, verify};

/// Reads the segment in every way there is.
fn read_everything(home: &Home, bytes: &[u8]) {
    let folder = home.folder();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(segment::name(1)), bytes).unwrap();
    let _ = verify(&folder);
    assert!(entries(&folder, 0).count() <= bytes.len() + 1);
    let locked = Folder::lock(&folder).unwrap();
    let _ = recover(&locked, &folder, signer_id());
}

fn header() -> Vec<u8> {
    Header { signer_id: signer_id(), first_seq: 1, previous: 0 }.encode()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_as_a_segment_never_panic(bytes in vec(any::<u8>(), 0..2000)) {
        read_everything(&Home::new(), &bytes);
    }

    #[test]
    fn arbitrary_bytes_behind_a_header_never_panic(bytes in vec(any::<u8>(), 0..2000)) {
        read_everything(&Home::new(), &[header(), bytes].concat());
    }

    #[test]
    fn arbitrary_bodies_in_sound_records_never_panic(bodies in vec("\\PC{1,200}", 1..5)) {
        let mut bytes = header();
        for body in bodies {
            record::encode(body.as_bytes(), record::InGroup::First, &mut bytes).unwrap();
        }
        read_everything(&Home::new(), &bytes);
    }

    #[test]
    fn arbitrary_rests_are_judged(bytes in vec(any::<u8>(), 0..3000), position in any::<u64>()) {
        judge(&bytes, position);
    }
}
