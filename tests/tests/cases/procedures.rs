//! The cases that are no file: each makes its own input and says what became of it.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chancery_tests::forge::der;
use chancery_tests::{Client, ISSUER};
use serde_json::{Value, json};

use super::scene::{CONSTRAINED, Outcome, Scene, text};
use super::table::{Case, Ending};
use super::{life, validity};

/// Runs the procedure of this case.
pub(crate) fn run(scene: &Scene, case: &Case) -> anyhow::Result<Outcome> {
    match case.id.as_str() {
        "pem-043" => junk_in_front(scene),
        "asn-018" => large_attribute(scene),
        "key-008" => published_key(scene),
        "key-047" => key_of_the_ca(scene),
        "nc-008" => constraints_with_dots(scene),
        "val-001" => validity::beyond_the_ca(scene),
        "val-003" => validity::over_the_maximum(scene),
        "val-004" => validity::past_2050(scene),
        "val-005" => validity::a_little_before_now(scene),
        "ops-003" => life::every_order(scene),
        "ops-004" => life::deleted_in_the_middle(scene),
        "ops-005" => life::the_same_ca_again(scene),
        "ops-006" => life::another_ca_of_the_name(scene),
        "ops-008" => life::what_can_t_be_restored(scene, case),
        "ops-009" => life::gone_for_good(scene),
        _ => anyhow::bail!("no procedure of this name"),
    }
}

/// The longest that a request may take on a busy machine, whatever lengths it claims.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// BEGIN lines without end in front of a request: 300 kB of them, and 5 MiB.
fn junk_in_front(scene: &Scene) -> anyhow::Result<Outcome> {
    let good = scene.bench.fresh_request("/CN=pem-043.example.test", "DNS:pem-043.example.test")?;
    let junk = |bytes: usize| format!("{}\n{good}", "-----BEGIN \n".repeat(bytes / 12));
    let began = Instant::now();

    let over = scene.ask(ISSUER, &junk(5 << 20))?;
    let within = scene.ask(ISSUER, &junk(300_000))?;

    anyhow::ensure!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    anyhow::ensure!(over.status == 413, "{}", over.text());
    // What is small enough to be read is read, however it looks.
    let small = scene.ask(ISSUER, &junk(100_000))?;
    anyhow::ensure!(small.status == 200, "{}", small.text());
    Outcome::refused(&within)
}

/// An attribute of two million bytes, and one that fits the body but no request.
fn large_attribute(scene: &Scene) -> anyhow::Result<Outcome> {
    let csr = |bytes: usize| {
        let oid = vec![0x06, 8, 0x2b, 6, 1, 4, 1, 0x83, 0xb2, 3];
        let value = der::set(&[der::octets(&vec![0; bytes])]);
        let attributes = der::context(0, &[der::sequence(&[oid, value])]);
        let info = der::sequence(&[der::integer(&[0]), der::sequence(&[]), attributes]);
        STANDARD.encode(der::sequence(&[info]))
    };
    let began = Instant::now();

    let over = scene.ask(ISSUER, &csr(2_000_000))?;
    let within = scene.ask(ISSUER, &csr(100_000))?;

    anyhow::ensure!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    anyhow::ensure!(over.status == 413, "{}", over.text());
    Outcome::refused(&within)
}

/// A key whose private half anyone can look up, and one that the operator has listed.
fn published_key(scene: &Scene) -> anyhow::Result<Outcome> {
    // RFC 9500, section 2.3: testECCP256.
    const PUBLISHED: &str = "-----BEGIN EC PRIVATE KEY-----\n\
        MHcCAQEEIObLW92AqkWunJXowVR2Z5/+yVPBaFHnEedDk5WJxk/BoAoGCCqGSM49\n\
        AwEHoUQDQgAEQiVI+I+3gv+17KN0RFLHKh5Vj71vc75eSOkyMsxFxbFsTNEMTLjV\n\
        uKFxOelIgsiZJXKZNCX0FBmrfpCkKklCcg==\n-----END EC PRIVATE KEY-----\n";
    let ask = |key: &[u8]| {
        let key = scene.bench.write("published.pem", key)?;
        let csr = scene.bench.request(&key, "/CN=key-008.example.test", "")?;
        scene.ask(ISSUER, &csr)
    };

    let listed = ask(&std::fs::read(&scene.listed_key)?)?;
    let published = ask(PUBLISHED.as_bytes())?;

    let (listed, published) = (Outcome::refused(&listed)?, Outcome::refused(&published)?);
    anyhow::ensure!(listed.said == published.said, "{}", listed.said);
    Ok(published)
}

/// The CA's own public key in a request that someone else signed.
fn key_of_the_ca(scene: &Scene) -> anyhow::Result<Outcome> {
    let bench = &scene.bench;
    let public_key = |command: &str, pem: &str| {
        let path = bench.write("key-of.pem", pem.as_bytes())?;
        let mut openssl = std::process::Command::new("openssl");
        let text = chancery_tests::openssl::run(
            openssl.args([command, "-noout", "-pubkey", "-in"]).arg(path),
        )?;
        decoded(&text)
    };
    let csr = bench.fresh_request("/CN=key-047.example.test", "DNS:key-047.example.test")?;
    let own = public_key("req", &csr)?;
    let of_the_ca = public_key("x509", &scene.administrator.chain(CONSTRAINED)?)?;
    let mut bytes = decoded(&csr)?;
    let at = bytes.windows(own.len()).position(|window| window == own).context("no key")?;
    anyhow::ensure!(own.len() == of_the_ca.len(), "keys of different kinds");
    bytes.splice(at..at + own.len(), of_the_ca);

    Outcome::refused(&scene.ask(CONSTRAINED, &STANDARD.encode(bytes))?)
}

fn decoded(pem: &str) -> anyhow::Result<Vec<u8>> {
    let lines: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    Ok(STANDARD.decode(lines)?)
}

/// Constraints as people write them, of a CA that is to be made.
fn constraints_with_dots(scene: &Scene) -> anyhow::Result<Outcome> {
    let ask = |domain: &str| create(&scene.administrator, domain);
    let dot = ask("DNS:.example.test")?;
    let star = ask("DNS:*.example.test")?;
    anyhow::ensure!(dot.said.contains("write \"DNS:example.test\""), "{}", dot.said);
    Ok(star)
}

fn create(administrator: &Client, domain: &str) -> anyhow::Result<Outcome> {
    let definition = json!({
        "name": "Dotted", "keyStoreName": "Local Token", "subjectDn": "CN=Dotted",
        "lifetimeInDays": 30, "rootCa": true, "keyAlgorithm": "ECDSA P-256",
        "hashAlgorithm": "SHA-256", "nameConstraints": {"permitted": [domain], "excluded": []},
    });
    Outcome::refused(&administrator.post("/api/admin/localca", &definition)?)
}

/// What was issued for a fresh request through this issuer: the PEM, and the record.
pub(crate) fn issue(scene: &Scene, issuer: &str, host: &str) -> anyhow::Result<(String, Value)> {
    let csr = scene.bench.fresh_request(&format!("/CN={host}"), &format!("DNS:{host}"))?;
    let body = json!({"caName": issuer, "csr": csr});
    let made = scene.administrator.request_with(&body)?;
    let record = scene.administrator.record(&made.id)?;
    Ok((made.pem, record))
}

/// The ending of what was issued, by what the history says beside.
pub(crate) fn issued(record: &Value) -> anyhow::Result<Outcome> {
    let details = text(record, "/history/0/details")?;
    let (_, beside) = details.split_once("a CSR was provided").context("no CSR")?;
    let beside = beside.trim_start_matches("; ");
    let ending = if beside.is_empty() { Ending::Issue } else { Ending::Normalise };
    Ok(Outcome { ending, said: beside.to_owned() })
}
