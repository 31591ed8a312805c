//! Older copies brought back, one part without the others: each is found, said, and mended by the
//! steps of `docs/OPERATIONS.md`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use chancery_tests::openssl::{Workbench, run};
use chancery_tests::{Answer, Installation, patience};
use serde_json::{Value, json};

/// A busy machine does what is waited for within this time.
const PATIENCE: Duration = Duration::from_mins(1);

/// With owners and modes: the signer has to read it.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if to.is_dir() {
        fs::remove_dir_all(to)?;
    }
    run(Command::new("cp").arg("--archive").arg(from).arg(to)).map(drop)
}

fn has_code(answer: &Answer, code: &str) -> bool {
    answer.status == 503 && answer.text().contains(code)
}

/// Asks an issuer for a certificate.
fn ask(installation: &Installation, issuer: &str) -> anyhow::Result<Answer> {
    let csr = Workbench::new()?.fresh_request("/CN=a.example.test", "DNS:a.example.test")?;
    let body = json!({"caName": issuer, "csr": csr});
    installation.administrator().post("/api/certs/requestp10", &body)
}

fn keys(installation: &Installation) -> Value {
    installation.signer_status().get("keys").cloned().unwrap_or_default()
}

fn rebuild(installation: &Installation) -> anyhow::Result<String> {
    run(&mut installation.home().hsm(&["keyring", "rebuild"]))
}

#[test]
fn a_damaged_keyring_is_told_at_the_start_and_rebuilt_from_the_journal() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    let before = keys(&installation);
    assert!(rebuild(&installation).unwrap_err().to_string().contains("stop it first"));
    installation.stop();
    let file = installation.home().path().join("signer/keyring.json");
    let whole = fs::read(&file)?;
    fs::write(&file, &whole[..whole.len() / 2])?;

    let start = run(&mut installation.home().signer()).unwrap_err().to_string();
    assert!(start.contains("chancery-hsm keyring rebuild"), "{start}");
    let rebuilt = rebuild(&installation)?;

    assert!(rebuilt.starts_with("rebuilt: 2 keys"), "{rebuilt}");
    installation.start_again();
    assert_eq!(keys(&installation), before);
    ask(&installation, "Chancery Issuer")?.expect_status(200)?;
    Ok(())
}

#[test]
fn a_keyring_from_an_older_copy_is_read_on_from_the_journal() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    let file = installation.home().path().join("signer/keyring.json");
    let older = installation.home().path().join("older.json");
    copy(&file, &older)?;
    installation
        .administrator()
        .create_ca("Newer", json!({"rootCa": true, "keyAlgorithm": "ECDSA P-256"}))?;
    installation.stop();
    fs::remove_file(&file)?;
    copy(&older, &file)?;

    installation.start_again();

    ask(&installation, "Newer")?.expect_status(200)?;
    Ok(())
}

/// Journal and keyring from an older backup; the token and the database are newer.
#[test]
fn a_signer_from_an_older_copy_signs_once_that_is_accepted_and_names_the_key_that_it_lost()
-> anyhow::Result<()> {
    let mut installation = Installation::start();
    installation.stop();
    let signer = installation.home().path().join("signer");
    let older = installation.home().path().join("older");
    copy(&signer, &older)?;
    installation.start_again();
    let older_keys = keys(&installation);
    installation
        .administrator()
        .create_ca("Newer", json!({"rootCa": true, "keyAlgorithm": "ECDSA P-256"}))?;
    ask(&installation, "Chancery Issuer")?.expect_status(200)?;
    let records = installation.administrator().records()?.len();
    let keys = keys(&installation);
    // Ids of one second are in any order.
    let older_ids = older_keys.as_array().expect("keys");
    let is_new = |key: &&Value| !older_ids.iter().any(|older| older["keyId"] == key["keyId"]);
    let newer = keys.as_array().and_then(|keys| keys.iter().find(is_new)).expect("the newer key");
    let newer = newer["keyId"].as_str().expect("an id").to_owned();
    installation.stop();
    for name in ["journal", "keyring.json"] {
        let now = signer.join(name);
        if now.is_file() {
            fs::remove_file(&now)?;
        }
        copy(&older.join(name), &now)?;
    }

    // Found and said; nothing is signed, nor touched on the token.
    installation.start_signer();
    installation.start_api();
    installation.wait_for_health("the refusal", |answer| has_code(answer, "journal_behind"));
    assert!(has_code(&ask(&installation, "Chancery Issuer")?, "journal_behind"));

    // The step, and what is said then.
    run(&mut installation.home().hsm(&["accept-journal"]))?;
    installation.wait_until_ready();
    let output = installation.signer_mut().output().clone();
    let is_named = |text: &str| {
        let mut lines = text.lines();
        lines.any(|line| line.contains("does not know") && line.contains(&newer)).then_some(())
    };
    // The token is looked through once the API has seen an entry above the loss.
    ask(&installation, "Chancery Issuer")?.expect_status(200)?;
    output.wait_for("the key that the keyring does not know", PATIENCE * 2, is_named)?;
    let refused = ask(&installation, "Newer")?;
    assert_eq!((refused.status, refused.code()?.as_str()), (409, "ca_not_live"));

    // No record is lost, and a keyring that is made anew says the same.
    assert_eq!(installation.administrator().records()?.len(), records + 1);
    installation.stop();
    let rebuilt = rebuild(&installation)?;
    assert!(!rebuilt.contains("lacks"), "{rebuilt}");
    let verified = run(&mut installation.home().hsm(&["journal", "verify"]))?;
    assert!(verified.contains("lost, as the operator accepted"), "{verified}");
    installation.start_again();
    patience::until("a certificate", PATIENCE, || {
        Ok((ask(&installation, "Chancery Issuer")?.status == 200).then_some(()))
    })
}
