//! What an operator or a script sees of the service besides certificates.

use std::fs;

use chancery_tests::openssl::Workbench;
use chancery_tests::{Installation, Plan};
use serde_json::json;

#[test]
fn one_request_id_traces_a_certificate_from_call_to_journal() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    let bench = Workbench::new()?;
    let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test")?;
    let body = json!({"caName": "Chancery Issuer", "csr": csr}).to_string();
    let headers = ["Content-Type: application/json", "X-Request-Id: traced-0042"];

    let administrator = installation.administrator();
    let answer =
        administrator.send("POST", "/api/certs/requestp10", &headers, Some(body.as_bytes()))?;
    installation.api_mut().stop(chancery_tests::installation::END_WITHIN)?;

    assert_eq!(answer.header("x-request-id"), Some("traced-0042"));
    assert!(installation.api().output().text().contains("traced-0042"), "the log has no trace");
    let journal = installation.home().path().join("signer/journal");
    let entries = fs::read_dir(journal)?.map(|entry| Ok(fs::read(entry?.path())?));
    let entries = entries.collect::<anyhow::Result<Vec<_>>>()?.concat();
    assert!(String::from_utf8_lossy(&entries).contains("traced-0042"), "the journal has no trace");
    Ok(())
}

#[test]
fn document_explorer_health_and_interface_answer_below_every_base_path() -> anyhow::Result<()> {
    let base_paths = "/chancery,/certs-old".to_owned();
    let installation = Installation::start_as(Plan { base_paths, ..Plan::default() });
    let service = installation.service();
    let login =
        json!({"username": "admin", "password": chancery_tests::installation::ADMIN_PASSWORD});

    for base in ["/chancery", "/certs-old"] {
        let document = service.get(&format!("{base}/api/openapi.json"))?.expect_status(200)?;
        let document = document.json()?;
        assert_eq!(document["openapi"], "3.1.0", "{base}");
        let scheme = &document["components"]["securitySchemes"]["JWT"];
        assert_eq!((&scheme["type"], &scheme["scheme"]), (&json!("http"), &json!("bearer")));
        assert!(document["paths"]["/api/certs/requestp10"]["post"].is_object(), "{base}");
        let explorer = service.get(&format!("{base}/api/docs/"))?.expect_status(200)?;
        assert!(explorer.text().contains("swagger"), "{base}");
        service.post(&format!("{base}/api/login"), &login)?.expect_status(200)?;
    }
    assert_eq!(service.get("/api/login")?.status, 404);
    assert_eq!(service.get("/health/live")?.status, 200);
    assert_eq!(service.get("/health/ready")?.status, 200);
    Ok(())
}

#[test]
fn metrics_stand_on_their_own_port_alone() -> anyhow::Result<()> {
    let installation = Installation::start();

    let metrics = installation.metrics();

    assert!(metrics.contains("# TYPE "), "{metrics}");
    assert_eq!(installation.service().get("/metrics")?.status, 404);
    Ok(())
}

#[test]
fn the_services_own_certificate_was_signed_in_the_token_like_any_other() -> anyhow::Result<()> {
    let installation = Installation::start();

    let records = installation.administrator().records()?;
    let status = installation.signer_status();

    let own = records.iter().find(|record| {
        let names = record["subjectAlternativeNames"].as_array();
        names.is_some_and(|names| names.contains(&json!("DNS:localhost")))
    });
    let own = own.expect("a record of the service's own certificate");
    for name in ["IP:127.0.0.1", "IP:::1"] {
        let names = own["subjectAlternativeNames"].as_array().expect("names");
        assert!(names.contains(&json!(name)), "{name} in {names:?}");
    }
    // Root, issuing CA and this one.
    assert_eq!(status["tokens"][0]["signatures"], 3, "{status:#}");
    Ok(())
}
