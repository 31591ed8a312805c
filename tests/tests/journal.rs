//! The journal of a whole installation: what is flipped, removed, cut off or brought back from an
//! older copy is found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chancery_tests::openssl::{Workbench, run};
use chancery_tests::{Answer, Installation};

fn issue(installation: &Installation, count: usize) -> anyhow::Result<()> {
    let bench = Workbench::new()?;
    let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test")?;
    let administrator = installation.administrator();
    (0..count).try_for_each(|_| administrator.request(&csr).map(drop))
}

/// The last segment.
fn segment(installation: &Installation) -> anyhow::Result<PathBuf> {
    let folder = fs::read_dir(installation.home().path().join("signer/journal"))?;
    let mut segments: Vec<_> =
        folder.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    segments.retain(|path| path.extension().is_some_and(|extension| extension == "journal"));
    segments.sort();
    segments.pop().ok_or_else(|| anyhow::anyhow!("no segment"))
}

fn verify(installation: &Installation) -> anyhow::Result<String> {
    run(&mut installation.home().hsm(&["journal", "verify"]))
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let _ = fs::remove_dir_all(to);
    // With owners and modes: the signer has to read it.
    run(Command::new("cp").arg("--archive").arg(from).arg(to)).map(drop)
}

/// Where each record begins: its length (31 bits) and CRC stand before its body.
fn records(segment: &[u8]) -> Vec<usize> {
    let header = 6 + 2 + 12 + 8 + 8 + 4;
    let next = |at: &usize| {
        let length = segment.get(*at..at + 4)?;
        let length = u32::from_be_bytes(length.try_into().ok()?) & 0x7fff_ffff;
        let next = at + 8 + usize::try_from(length).ok()?;
        (next < segment.len()).then_some(next)
    };
    std::iter::successors(Some(header), next).collect()
}

fn has_code(answer: &Answer, code: &str) -> bool {
    answer.status == 503 && answer.text().contains(code)
}

#[test]
fn a_whole_journal_is_sound_running_and_stopped() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    issue(&installation, 5)?;

    let running = verify(&installation)?;
    installation.stop();
    let stopped = verify(&installation)?;

    assert!(running.starts_with("sound: "), "{running}");
    // Root, issuing CA, the service's own certificate, and ours.
    assert!(stopped.contains("8 serial numbers computed again, 8 signatures"), "{stopped}");
    Ok(())
}

#[test]
fn a_flipped_byte_and_a_removed_record_are_found_and_stop_the_start() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    issue(&installation, 3)?;
    installation.stop();
    let segment = segment(&installation)?;
    let sound = fs::read(&segment)?;
    let records = records(&sound);
    let middle = records[records.len() / 2];
    let next = records[records.len() / 2 + 1];
    let mut flipped = sound.clone();
    flipped[middle + 20] ^= 1;
    let removed = [&sound[..middle], &sound[next..]].concat();

    for changed in [flipped, removed] {
        fs::write(&segment, changed)?;

        let refused = verify(&installation).unwrap_err().to_string();

        assert!(refused.contains("BROKEN"), "{refused}");
        let start = run(&mut installation.home().signer()).unwrap_err().to_string();
        assert!(start.contains("journal damaged at byte"), "{start}");
    }
    fs::write(&segment, sound)?;
    installation.start_again();
    issue(&installation, 1)
}

#[test]
fn a_cut_tail_is_found_by_the_head_that_the_api_knows() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    issue(&installation, 3)?;
    installation.stop();
    let segment = segment(&installation)?;
    let whole = fs::read(&segment)?;
    let records = records(&whole);
    fs::write(&segment, &whole[..records[records.len() - 4]])?;
    // Cut between two records it is sound in itself: only someone who knows the head can tell.
    verify(&installation)?;

    installation.start_signer();
    installation.start_api();

    let not_ready = installation.wait_for_health("the refusal", |a| has_code(a, "journal_behind"));
    assert_eq!(not_ready.status, 503);
    assert!(issue(&installation, 1).is_err());
    run(&mut installation.home().hsm(&["accept-journal"]))?;
    installation.wait_until_ready();
    issue(&installation, 1)?;
    verify(&installation)?;
    Ok(())
}

#[test]
fn an_older_copy_brought_back_is_found_by_the_head_that_the_api_knows() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    issue(&installation, 1)?;
    installation.stop();
    let journal = installation.home().path().join("signer/journal");
    let older = installation.home().path().join("older");
    copy(&journal, &older)?;
    installation.start_again();
    issue(&installation, 2)?;
    installation.stop();
    copy(&older, &journal)?;

    installation.start_signer();
    installation.start_api();

    installation.wait_for_health("the refusal", |answer| has_code(answer, "journal_behind"));
    Ok(())
}
