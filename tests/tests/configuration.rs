//! Lines that the programs do not understand: they say which, and do not start.

use std::fs;
use std::process::Command;

use chancery_tests::home::{Peer, TestHome};

/// The program's exit code and what it wrote to standard error.
fn run(mut command: Command) -> anyhow::Result<(Option<i32>, String)> {
    let output = command.output()?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn the_signer_names_the_line_or_the_key() -> anyhow::Result<()> {
    for (find, put, told) in [
        ("enable = ", "enabel = ", "unknown field `enabel`"),
        ("sandbox = \"optional\"", "sandbox = \"maybe\"", "unknown variant `maybe`"),
        ("clock_jump_minutes = 5", "clock_jump_minutes = 0", "clock_jump_minutes = 0: 1 to 1440"),
        ("budget_per_minute = 0", "budget_per_minute = -1", "budget_per_minute"),
        ("max_keys = 100", "max_keys = 0", "max_keys = 0: 1 to 500, all tokens together"),
        ("allowWildcards", "allowWildcard", "unknown field `allowWildcard`"),
        ("[journal]", "[journal", "TOML parse error"),
        ("anchors = []", "anchors = [\"config/none.pem\"]", "config/none.pem"),
    ] {
        let home = TestHome::create(Peer::Api, &[(find, put)])?;

        let (code, text) = run(home.signer())?;

        assert_eq!(code, Some(1), "{put}: {text}");
        assert!(text.contains("signer.toml") && text.contains(told), "{put}: {text}");
        assert!(!home.path().join("run/signer.sock").exists(), "{put}");
    }
    Ok(())
}

#[test]
fn the_api_names_every_bad_line_at_once() -> anyhow::Result<()> {
    let home = TestHome::create(Peer::Api, &[])?;
    let file = home.path().join("config/application.properties");
    let lines = fs::read_to_string(&file)?.lines().count();
    let text = fs::read_to_string(&file)?;
    let bad = "no.such.key=1\nDeletedItems.Purge.AfterDays=3\n";
    fs::write(&file, format!("{text}{bad}"))?;

    let (code, text) = run(home.api())?;

    assert_eq!(code, Some(1), "{text}");
    for (line, told) in [
        (lines + 1, "there is no key no.such.key"),
        (lines + 2, "did you mean deleteditems.purge.afterdays?"),
    ] {
        let expected = format!("application.properties, line {line}: ");
        let named = text.lines().any(|l| l.contains(&expected) && l.contains(told));
        assert!(named, "line {line}: {text}");
    }
    Ok(())
}

#[test]
fn the_api_names_a_variable_of_the_environment() -> anyhow::Result<()> {
    let home = TestHome::create(Peer::Api, &[])?;
    let mut api = home.api();
    api.env("CHANCERY_PORT", "a port");

    let (code, text) = run(api)?;

    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("CHANCERY_PORT"), "{text}");
    Ok(())
}
