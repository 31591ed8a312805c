//! From when to when: no certificate outlives its CA, the policy or its clock.

use std::process::Command;

use chancery_tests::ISSUER;
use chancery_tests::openssl::run;
use serde_json::{Value, json};

use super::procedures::{issue, issued};
use super::scene::{Outcome, Scene, text};

/// A CA with 30 days left and a profile of 397.
pub(crate) fn beyond_the_ca(scene: &Scene) -> anyhow::Result<Outcome> {
    make_ca(scene, "Short CA", json!({"lifetimeInDays": 30}))?;

    let (pem, record) = issue(scene, "Short CA", "val-001.example.test")?;

    let end = |pem: &str| scene.bench.about(pem, &["-enddate", "-dateopt", "iso_8601"]);
    let of_the_ca = end(&scene.administrator.chain("Short CA")?)?;
    anyhow::ensure!(end(&pem)? == of_the_ca, "it ends {}, its CA {of_the_ca}", end(&pem)?);
    issued(&record)
}

/// Every way to ask for more than 398 days, on a CA that may not sign more.
pub(crate) fn over_the_maximum(scene: &Scene) -> anyhow::Result<Outcome> {
    make_ca(scene, "Narrow CA", json!({"policy": {"maxValidityDays": 398}}))?;
    let csr = scene.bench.fresh_request("/CN=val-003.example.test", "")?;
    for (field, value) in [
        ("validityDays", json!(9999)),
        ("lifetimeInMinutes", json!(99_999_999)),
        ("validTo", json!("2099-01-01T00:00:00Z")),
        ("notAfter", json!("2099-01-01T00:00:00Z")),
    ] {
        let body = json!({"caName": "Narrow CA", "csr": csr, field: value});
        let answer = scene.administrator.post("/api/certs/requestp10", &body)?;
        anyhow::ensure!(answer.code()? == "invalid_request", "{field}: {}", answer.text());
        anyhow::ensure!(text(&answer.json()?, "/fields/0/field")? == field, "{}", answer.text());
    }
    let profile = make_profile(scene, "Too long", 399 * 24 * 60)?;
    let issuer = json!({
        "caName": "Too long", "localCaId": local_ca(scene, "Narrow CA")?,
        "certProfileId": profile, "allowCsrRequests": true,
    });
    let saved = scene.administrator.post("/api/admin/ca", &issuer)?;
    if saved.status != 200 {
        return Outcome::refused(&saved);
    }
    Outcome::refused(&scene.ask("Too long", &csr)?)
}

/// CA and certificate of 40 years.
pub(crate) fn past_2050(scene: &Scene) -> anyhow::Result<Outcome> {
    make_ca(scene, "Long CA", json!({"lifetimeInDays": 14_610}))?;
    let profile = make_profile(scene, "Forty years", 14_600 * 24 * 60)?;
    let issuer = json!({
        "caName": "Forty years", "localCaId": local_ca(scene, "Long CA")?,
        "certProfileId": profile, "allowCsrRequests": true,
    });
    scene.administrator.post("/api/admin/ca", &issuer)?.expect_status(200)?;

    let (pem, record) = issue(scene, "Forty years", "val-004.example.test")?;

    let root = scene.administrator.chain("Forty years")?;
    for pem in [&pem, &root] {
        // GeneralizedTime of 15 characters, as RFC 5280 wants it from 2050 on.
        let der = scene.bench.der(pem)?;
        let is_there = der.windows(4).any(|bytes| bytes == [0x18, 0x0f, b'2', b'0']);
        anyhow::ensure!(is_there, "no GeneralizedTime: {pem}");
    }
    scene.bench.verify(&pem, "", &root)?;
    let end = scene.bench.about(&pem, &["-enddate", "-dateopt", "iso_8601"])?;
    let shown = text(&record, "/validToStr")?;
    anyhow::ensure!(end == format!("notAfter={shown}Z"), "{end} is not {shown}");
    anyhow::ensure!(shown.starts_with("206"), "{shown}");
    let path = scene.bench.write("far.pem", pem.as_bytes())?;
    let java =
        run(Command::new("keytool").env("TZ", "UTC").args(["-printcert", "-file"]).arg(path))?;
    let year = shown.get(..4).unwrap_or_default();
    let is_read = java.lines().any(|line| line.contains("until: ") && line.ends_with(year));
    anyhow::ensure!(is_read, "not until {year}: {java}");
    issued(&record)
}

/// notBefore against the clock: five minutes earlier, and never earlier than the CA's.
pub(crate) fn a_little_before_now(scene: &Scene) -> anyhow::Result<Outcome> {
    let begins = |record: &Value| {
        let text = text(record, "/validFrom")?;
        Ok::<_, anyhow::Error>(time::OffsetDateTime::parse(
            text,
            &time::format_description::well_known::Rfc3339,
        )?)
    };
    let (_, record) = issue(scene, ISSUER, "val-005.example.test")?;
    let created = text(&record, "/history/0/timestamp")?;
    let created =
        time::OffsetDateTime::parse(created, &time::format_description::well_known::Rfc3339)?;
    let issuer = text(&record, "/issuerCertId")?;
    let of_the_ca = begins(&scene.administrator.record(issuer)?)?;
    let expected = (created - time::Duration::minutes(5)).replace_nanosecond(0)?.max(of_the_ca);
    anyhow::ensure!(begins(&record)? == expected, "{} is not {expected}", begins(&record)?);
    issued(&record)
}

fn make_ca(scene: &Scene, name: &str, more: Value) -> anyhow::Result<()> {
    let mut definition =
        json!({"rootCa": true, "keyAlgorithm": "ECDSA P-256", "hashAlgorithm": "SHA-256"});
    if let (Some(definition), Value::Object(more)) = (definition.as_object_mut(), more) {
        definition.extend(more);
    }
    scene.administrator.create_ca(name, definition).map(|_| ())
}

fn make_profile(scene: &Scene, name: &str, lifetime_in_minutes: u32) -> anyhow::Result<String> {
    let profile = json!({
        "name": name, "lifetimeInMinutes": lifetime_in_minutes,
        "keyUsages": ["Digital Signature"], "enhancedKeyUsages": ["Server Authentication"],
        "includeSansFromCsr": true,
    });
    scene.administrator.post("/api/admin/profiles", &profile)?.expect_status(200)?;
    scene.administrator.id_of("/api/admin/profiles", name)
}

fn local_ca(scene: &Scene, name: &str) -> anyhow::Result<String> {
    scene.administrator.id_of("/api/admin/localca", name)
}
