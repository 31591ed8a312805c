//! DN requests with a real token: the key, its package, and what is kept of it.

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chancery_tests::openssl::{KEY_KINDS, Workbench, run};
use chancery_tests::{Client, ISSUER, Installation, Plan, on_both_engines};
use serde_json::{Value, json};

const PASSWORD: &str = "the password of a package";

fn request(client: &Client, generator: &str) -> anyhow::Result<Value> {
    let body = json!({
        "caName": ISSUER, "dn": "CN=dn.example.test,O=Example", "csrGeneratorName": generator,
        "p12Password": PASSWORD, "subjectAltNames": ["DNS:dn.example.test"],
    });
    client.post("/api/certs/request", &body)?.expect_status(200)?.json()
}

fn text<'a>(json: &'a Value, field: &str) -> &'a str {
    json[field].as_str().unwrap_or_default()
}

/// The private key in a PKCS#12 file, as OpenSSL finds it, is that of the certificate.
fn check_package(bench: &Workbench, issued: &Value) -> anyhow::Result<()> {
    let package = bench.write("bundle.p12", &STANDARD.decode(text(issued, "p12Data"))?)?;
    let opened = bench.path("bundle.pem");
    let mut command = Command::new("openssl");
    command.args(["pkcs12", "-nodes", "-passin", "env:P12", "-in"]).arg(package);
    run(command.arg("-out").arg(&opened).env("P12", PASSWORD))?;
    let of_key = run(Command::new("openssl").args(["pkey", "-pubout", "-in"]).arg(&opened))?;
    let of_leaf =
        run(Command::new("openssl").args(["x509", "-noout", "-pubkey", "-in"]).arg(&opened))?;
    anyhow::ensure!(of_key == of_leaf, "{of_key} is not {of_leaf}");
    let parts = std::fs::read_to_string(&opened)?;
    anyhow::ensure!(parts.matches("BEGIN CERTIFICATE").count() == 3, "{parts}");
    Ok(())
}

on_both_engines! {
    fn each_generator_makes_a_key_whose_certificate_verifies_and_which_is_kept_over_a_restart(engine) {
        let mut installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let bench = Workbench::new().unwrap();
        let administrator = installation.administrator();
        let (root, chain) = (installation.root_pem(), administrator.chain(ISSUER).unwrap());
        let mut made = Vec::new();
        for (generator, _) in KEY_KINDS {
            let issued = request(&administrator, generator).unwrap();
            check_package(&bench, &issued).unwrap();
            bench.verify(text(&issued, "pemCert"), &chain, &root).unwrap();
            made.push(issued);
        }

        installation.stop();
        installation.start_again();

        let administrator = installation.administrator();
        for issued in made {
            let path = format!("/api/certs/{}/p12", text(&issued, "id"));
            let kept = administrator.get(&path).unwrap().expect_status(200).unwrap();
            assert_eq!(kept.text(), text(&issued, "p12Data"));
        }
        let output = installation.api().output().text();
        assert!(!output.contains(PASSWORD) && !output.contains("PRIVATE KEY"));
    }
}

/// All files below a folder.
fn files(folder: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.is_file() {
            found.push(std::fs::read(&path)?);
        }
    }
    Ok(found)
}

#[test]
fn database_and_folder_of_the_api_open_no_kept_key_without_the_token() {
    let mut installation = Installation::start();
    let administrator = installation.administrator();
    let issued = request(&administrator, "ECDSA P-256").unwrap();
    let package = STANDARD.decode(text(&issued, "p12Data")).unwrap();
    installation.stop();

    let home = installation.home().path();
    for file in
        ["data", "config", "log"].map(|name| home.join(name)).iter().filter(|it| it.is_dir())
    {
        for bytes in files(file).unwrap() {
            let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
            assert!(!holds(&package[64..128]) && !holds(PASSWORD.as_bytes()), "{}", file.display());
        }
    }

    // With everything that the API has, and no signer.
    let _ = std::fs::remove_file(home.join("run/signer.sock"));
    installation.start_api();
    installation.wait_for_health("an answer", |answer| answer.status == 503);
    let administrator = installation.administrator();
    for form in ["p12", "jks", "pem"] {
        let path = format!("/api/certs/{}/{form}", text(&issued, "id"));
        let answer = administrator.get(&path).unwrap().expect_status(503).unwrap();
        assert_eq!(answer.code().unwrap(), "signer_unavailable");
    }
}

#[test]
fn database_and_folder_of_the_api_open_no_kept_key_with_another_token() {
    let mut robbed = Installation::start();
    let issued = request(&robbed.administrator(), "ECDSA P-256").unwrap();
    robbed.stop();
    let mut thief = Installation::start();
    thief.stop();
    for part in ["data", "config/secrets", "root-ca.pem"] {
        let to = thief.home().path().join(part);
        run(Command::new("rm").arg("--recursive").arg(&to)).unwrap();
        let from = robbed.home().path().join(part);
        run(Command::new("cp").arg("--archive").arg(from).arg(to)).unwrap();
    }

    thief.start_signer();
    thief.start_api();
    thief.wait_for_health("an answer", |answer| answer.status < 500 || answer.code().is_ok());

    let administrator = thief.administrator();
    for form in ["p12", "jks", "pem"] {
        let path = format!("/api/certs/{}/{form}", text(&issued, "id"));
        let answer = administrator.get(&path).unwrap();
        assert!(matches!(answer.status, 500 | 503), "{form}: {}", answer.status);
        assert!(!answer.text().contains("BEGIN"), "{form}");
    }
}
