use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::issuance::csr_text;

/// The cases of these areas are requests; what each leads to stands in `csr-outcomes.txt`.
const AREAS: [&str; 7] = ["asn", "attr", "dn", "key", "nc", "pem", "san"];

fn outcome(file: &[u8]) -> Result<ParsedCsr, Box<dyn std::error::Error>> {
    Ok(ParsedCsr::read(csr_text::to_der(file)?)?)
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
