//! `chancery-hsm init` with a real SoftHSM2.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn init(home: &Path, options: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chancery-hsm"));
    Ok(command.args(["init", "--home"]).arg(home).args(options).output()?)
}

fn init_well(home: &Path, options: &[&str]) -> anyhow::Result<()> {
    let output = init(home, options)?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Every file below `folder` with its content.
fn contents(folder: &Path) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(contents(&path)?);
        } else {
            found.insert(path.clone(), fs::read(&path)?);
        }
    }
    Ok(found)
}

/// What SoftHSM2's own tool shows of the tokens of a home.
fn slots(home: &Path) -> anyhow::Result<String> {
    let mut command = Command::new("softhsm2-util");
    command.env("SOFTHSM2_CONF", home.join("signer/softhsm2.conf")).arg("--show-slots");
    Ok(String::from_utf8(command.output()?.stdout)?)
}

#[test]
fn a_home_is_made_once_and_kept_from_then_on() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("home");

    init_well(&home, &["--trial"])?;
    let first = contents(&home)?;
    init_well(&home, &["--label", "other"])?;

    assert_eq!(contents(&home)?, first);
    assert!(slots(&home)?.contains("chancery"), "{}", slots(&home)?);
    Ok(())
}

#[test]
fn a_home_that_has_moved_still_finds_its_token() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let [before, after] = ["before", "after"].map(|name| folder.path().join(name));
    init_well(&before, &[])?;
    fs::rename(&before, &after)?;

    init_well(&after, &[])?;

    assert!(slots(&after)?.contains("chancery"), "{}", slots(&after)?);
    Ok(())
}

#[test]
fn what_an_earlier_call_left_unfinished_is_made_again() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let unfinished = folder.path().join("signer/token.unfinished");
    fs::create_dir_all(&unfinished)?;
    fs::write(unfinished.join("half"), "a token")?;

    init_well(folder.path(), &[])?;

    assert!(!unfinished.exists());
    assert!(!folder.path().join("signer/token/half").exists());
    Ok(())
}

#[test]
fn a_lost_token_is_not_replaced_by_a_new_one() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    init_well(folder.path(), &[])?;
    fs::remove_dir_all(folder.path().join("signer/token"))?;
    fs::create_dir(folder.path().join("signer/journal"))?;
    fs::write(folder.path().join("signer/journal/00000000000000000001.journal"), "")?;

    let output = init(folder.path(), &[])?;

    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("is gone but this signer has a journal"), "{told}");
    assert!(!folder.path().join("signer/token").exists());
    Ok(())
}

#[test]
fn a_module_that_is_no_module_leaves_no_token() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;

    let output = init(folder.path(), &["--module", "/etc/passwd"])?;

    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!folder.path().join("signer/token").exists());
    assert!(!folder.path().join("config/signer.toml").exists());
    Ok(())
}
