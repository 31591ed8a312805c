//! `chancery-hsm journal verify` and `export` on journals that are sound, changed and torn.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use chancery_shared::id::SignerId;
use chancery_shared::wire::journal::Event;
use chancery_signer::clock::SystemClock;
use chancery_signer::journal::{Journal, Options};
use serde_json::Value;

/// A home whose journal has three entries; the path is its only segment.
async fn home_with_journal() -> anyhow::Result<(tempfile::TempDir, PathBuf)> {
    let home = tempfile::tempdir()?;
    let folder = home.path().join("signer/journal");
    fs::create_dir_all(&folder)?;
    let signer_id = SignerId::from_bytes([7; 12]);
    let (journal, _) =
        Journal::open(&folder, Options::default(), Arc::new(SystemClock), signer_id)?;
    for start in 1..=3 {
        let (boot_id, version) = (start.to_string(), "0.1.0".to_owned());
        journal.append(Event::Started { signer_id, boot_id, version }).await?;
    }
    journal.close().await;
    let segment = folder.join("00000000000000000001.journal");
    Ok((home, segment))
}

fn verify(home: &Path, options: &[&str]) -> anyhow::Result<Output> {
    journal("verify", home, options)
}

fn journal(what: &str, home: &Path, options: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chancery-hsm"));
    Ok(command.args(["journal", what, "--home"]).arg(home).args(options).output()?)
}

#[tokio::test]
async fn an_export_is_the_entries_as_they_are_stored_one_a_line() -> anyhow::Result<()> {
    let (home, segment) = home_with_journal().await?;

    let all = journal("export", home.path(), &[])?;
    let later = journal("export", home.path(), &["--after", "2"])?;

    let stored = String::from_utf8_lossy(&fs::read(&segment)?).into_owned();
    let text = String::from_utf8(all.stdout)?;
    assert!(all.status.success());
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.lines().all(|line| stored.contains(line)), "{text}");
    assert_eq!(text.lines().last(), String::from_utf8(later.stdout)?.lines().next());
    Ok(())
}

#[tokio::test]
async fn an_export_ends_before_the_first_entry_that_is_not_whole() -> anyhow::Result<()> {
    let (home, segment) = home_with_journal().await?;
    let mut bytes = fs::read(&segment)?;
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    fs::write(&segment, bytes)?;

    let exported = journal("export", home.path(), &[])?;

    assert_eq!(String::from_utf8(exported.stdout)?.lines().count(), 2);
    Ok(())
}

#[tokio::test]
async fn a_sound_journal_is_told_with_its_head() -> anyhow::Result<()> {
    let (home, _) = home_with_journal().await?;

    let words = verify(home.path(), &[])?;
    let json = verify(home.path(), &["--json"])?;

    let text = String::from_utf8(words.stdout)?;
    assert!(words.status.success(), "{text}");
    assert!(text.starts_with("sound: 3 entries in 1 segments\n"), "{text}");
    let json: Value = serde_json::from_slice(&json.stdout)?;
    assert_eq!(json["sound"], true);
    assert_eq!(json["head"]["seq"], 3);
    Ok(())
}

#[tokio::test]
async fn a_flipped_byte_ends_with_the_place_and_a_failure() -> anyhow::Result<()> {
    let (home, segment) = home_with_journal().await?;
    let mut bytes = fs::read(&segment)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes)?;

    let words = verify(home.path(), &[])?;
    let json = verify(home.path(), &["--json"])?;

    let text = String::from_utf8(words.stdout)?;
    assert_eq!(words.status.code(), Some(1));
    assert!(text.starts_with("BROKEN: journal damaged at byte "), "{text}");
    assert_eq!(json.status.code(), Some(1));
    assert_eq!(serde_json::from_slice::<Value>(&json.stdout)?["sound"], false);
    Ok(())
}

#[tokio::test]
async fn a_torn_end_is_a_failure_that_says_what_a_start_would_do() -> anyhow::Result<()> {
    let (home, segment) = home_with_journal().await?;
    let bytes = fs::read(&segment)?;
    fs::write(&segment, &bytes[..bytes.len() - 3])?;

    let words = verify(home.path(), &[])?;

    let text = String::from_utf8(words.stdout)?;
    assert_eq!(words.status.code(), Some(1));
    assert!(text.starts_with("BROKEN after entry 2: the last "), "{text}");
    Ok(())
}

#[test]
fn a_home_without_a_journal_is_a_failure() -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;

    let words = verify(home.path(), &[])?;

    assert_eq!(words.status.code(), Some(1));
    Ok(())
}
