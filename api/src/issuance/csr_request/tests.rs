//! Requests: read, refused, and what they ask for.

use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::issuance::csr_text;

/// The cases of these areas are requests; what each leads to stands in `csr-outcomes.txt`.
const AREAS: [&str; 7] = ["asn", "attr", "dn", "key", "nc", "pem", "san"];

fn outcome(file: &[u8]) -> Result<ParsedCsr, Box<dyn std::error::Error>> {
    let csr = ParsedCsr::read(csr_text::to_der(file)?)?;
    csr.verify_possession()?;
    Ok(csr)
}

#[test]
fn every_collected_case_leads_to_the_outcome_that_is_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let mut files: Vec<_> = AREAS
        .iter()
        .flat_map(|area| std::fs::read_dir(folder.join(area)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();

    let mut outcomes = String::new();
    for file in &files {
        let id = file.file_stem().unwrap().to_str().unwrap();
        match outcome(&std::fs::read(file).unwrap()) {
            Ok(csr) => {
                write!(outcomes, "{id}\tissue\t{}", csr.subject()).unwrap();
                for name in csr.subject_alt_names() {
                    write!(outcomes, " | {name}").unwrap();
                }
            }
            Err(refusal) => write!(outcomes, "{id}\treject\t{refusal}").unwrap(),
        }
        outcomes.push('\n');
    }

    let written_down = std::fs::read_to_string(folder.join("csr-outcomes.txt")).unwrap();
    for (outcome, expected) in outcomes.lines().zip(written_down.lines()) {
        assert_eq!(outcome, expected);
    }
    assert_eq!(outcomes.len(), written_down.len());
}

#[test]
fn a_request_asks_for_names_in_either_attribute_and_never_for_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/attr");
    let csr = outcome(&std::fs::read(folder.join("attr-023.pem")).unwrap()).unwrap();

    let own = SubjectAltName::DnsName("attr-023.example.test".into());
    assert_eq!(csr.subject_alt_names(), [own]);

    // The same list under Microsoft's object identifier, without key and signature.
    let names = [0x30, 3, 0x82, 1, b'a'];
    let octets = [&[0x04, 5][..], &names].concat();
    let extension = [&[0x30, 12, 0x06, 3, 0x55, 0x1d, 0x11][..], &octets].concat();
    let list = [&[0x30, 14][..], &extension].concat();
    let oid = [0x06, 10, 0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 1, 14];
    let attribute = [&[0x30, 30][..], &oid, &[0x31, 16], &list].concat();

    let asked = RequestedExtensions::read(&attribute).unwrap();

    assert_eq!(asked.subject_alt_names, [SubjectAltName::DnsName("a".into())]);
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_readers_panic(bytes: Vec<u8>) {
        let _ = RequestedExtensions::read(&bytes);
        let _ = SubjectKeyKind::read(&bytes);
        let _ = ParsedCsr::read(bytes);
    }

    #[test]
    fn no_damage_to_a_request_makes_the_reader_panic_or_pass(at in 0_usize..260, flip in 1_u8..) {
        let mut der = csr_text::to_der(include_bytes!("../../../../tests/cases/pem/pem-001.pem")).unwrap();
        if let Some(byte) = der.get_mut(at) {
            *byte ^= flip;
            let passed = ParsedCsr::read(der).and_then(|csr| csr.verify_possession());
            proptest::prop_assert!(passed.is_err());
        }
    }
}
