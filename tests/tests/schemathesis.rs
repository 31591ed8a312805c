//! Someone else's machine reads the OpenAPI document and calls every operation with what the document
//! allows and forbids, as administrator and as user: no fault of the service, no answer that the
//! document denies. `CHANCERY_TEST_SCHEMATHESIS_SECONDS` says for how long each
//! (`./test.sh schemathesis`: ten minutes).

use std::process::Command;

use anyhow::Context as _;
use chancery_tests::{Client, Installation};

/// In an ordinary run, for each of the two.
const SHORT: u64 = 60;

fn run(installation: &Installation, client: &Client) -> anyhow::Result<(bool, String)> {
    let program = std::env::var("CHANCERY_TEST_SCHEMATHESIS").context(
        "CHANCERY_TEST_SCHEMATHESIS must be the path of schemathesis; ./test.sh installs it",
    )?;
    let seconds = std::env::var("CHANCERY_TEST_SCHEMATHESIS_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(SHORT);
    let folder = tempfile::tempdir()?;
    let output = Command::new(program)
        .current_dir(folder.path())
        .args(["run", &format!("https://localhost:{}/api/openapi.json", installation.port())])
        .arg("--tls-verify")
        .arg(installation.root_ca())
        .args([
            "--header",
            &format!("Authorization: Bearer {}", client.token().context("no token")?),
        ])
        .args(["--phases", "examples,coverage,fuzzing", "--max-time", &seconds.to_string()])
        .args(["--checks", "not_a_server_error,response_schema_conformance"])
        .args(["--checks", "content_type_conformance,status_code_conformance"])
        // A logout would end the run; a list of all that it made is read whole each time.
        .args(["--exclude-path-regex", "/api/logout.*"])
        .args(["--seed", "1", "--no-color", "--continue-on-failure", "--warnings", "off"])
        // What is no HTTP at all ends its connection, under the next request perhaps.
        .args(["--request-retries", "2"])
        .output()?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

#[test]
fn nothing_that_the_document_allows_or_forbids_breaks_the_service() {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let member = installation.member("member", &["Default"]);

    for (who, client) in [("administrator", administrator), ("member", member)] {
        let (passed, text) = run(&installation, &client).unwrap();

        assert!(passed, "as {who}:\n{text}");
    }
}
