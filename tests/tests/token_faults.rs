//! The token is away or refuses the PIN: the service is up, honest, and mends itself.

use std::fs;
use std::path::Path;

use chancery_tests::openssl::{Workbench, run};
use chancery_tests::{Answer, Installation};

fn has_code(answer: &Answer, code: &str) -> bool {
    answer.status == 503 && answer.text().contains(code)
}

/// Asks for a certificate: the status and the code.
fn ask(installation: &Installation) -> anyhow::Result<(u16, String)> {
    let bench = Workbench::new()?;
    let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test")?;
    let body = serde_json::json!({"caName": "Chancery Issuer", "csr": csr});
    let answer = installation.administrator().post("/api/certs/requestp10", &body)?;
    if answer.status == 200 {
        return Ok((200, String::new()));
    }
    anyhow::ensure!(answer.header("retry-after").is_some(), "no Retry-After");
    Ok((answer.status, answer.code()?))
}

/// Changes the content and keeps owner and mode.
fn overwrite(path: &Path, text: &str) -> anyhow::Result<()> {
    Ok(fs::write(path, text)?)
}

#[test]
fn a_token_that_is_absent_at_start_is_told_and_signs_when_it_comes() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    installation.stop();
    let token = installation.home().path().join("signer/token");
    let away = installation.home().path().join("signer/away");
    fs::rename(&token, &away)?;

    installation.start_signer();
    installation.start_api();
    installation.wait_for_health("the reason", |answer| has_code(answer, "token_unavailable"));
    let refused = ask(&installation)?;
    fs::rename(&away, &token)?;
    installation.wait_until_ready();
    let issued = ask(&installation)?;

    assert_eq!(refused, (503, "token_unavailable".to_owned()));
    assert_eq!(issued.0, 200);
    Ok(())
}

#[test]
fn a_wrong_pin_is_tried_once_and_the_right_one_by_itself() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    installation.stop();
    let pin = installation.home().path().join("signer/pin");
    let right = fs::read_to_string(&pin)?;
    overwrite(&pin, "not the PIN at all\n")?;

    installation.start_signer();
    installation.start_api();
    installation.wait_for_health("the reason", |answer| has_code(answer, "token_pin_refused"));
    let refused = ask(&installation)?;
    let status = installation.signer_status();
    overwrite(&pin, &right)?;
    installation.wait_until_ready();
    let issued = ask(&installation)?;

    assert_eq!(refused, (503, "token_pin_refused".to_owned()));
    assert_eq!(status["tokens"][0]["state"], "pin-refused");
    assert_eq!(issued.0, 200);
    Ok(())
}

#[test]
fn a_pin_refusal_is_remembered_over_a_restart_until_the_operator_clears_it() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    installation.stop();
    let pin = installation.home().path().join("signer/pin");
    overwrite(&pin, "not the PIN at all\n")?;
    for _ in 0..2 {
        installation.start_signer();
        installation.start_api();
        installation.wait_for_health("the reason", |answer| has_code(answer, "token_pin_refused"));
        installation.stop();
    }
    installation.start_signer();

    let failures = installation.signer_status()["tokens"][0]["failures"].clone();
    run(&mut installation.home().hsm(&["clear-pin-refusal", "SoftHSM2"]))?;

    assert_eq!(failures.as_object().map(serde_json::Map::len), Some(0), "{failures}");
    Ok(())
}

#[test]
fn a_signer_that_is_away_is_told_and_used_again_when_it_is_back() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    installation.signer_mut().kill()?;

    installation.wait_for_health("the reason", |answer| has_code(answer, "signer_unavailable"));
    let refused = ask(&installation)?;
    installation.start_signer();
    installation.wait_until_ready();
    let issued = ask(&installation)?;

    assert_eq!(refused, (503, "signer_unavailable".to_owned()));
    assert_eq!(issued.0, 200);
    Ok(())
}
