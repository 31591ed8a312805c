//! Logins under load: each costs a slow hash, and certificates are issued all the same.

use std::time::{Duration, Instant};

use chancery_tests::load::{Seen, Target};
use chancery_tests::openssl::Workbench;
use chancery_tests::{ISSUER, Installation};
use serde_json::json;

/// How long each part takes; `CHANCERY_TEST_FAULTS` makes it long enough to compare.
fn lasting() -> Duration {
    Duration::from_secs(if std::env::var("CHANCERY_TEST_FAULTS").is_ok() { 20 } else { 4 })
}

#[test]
fn more_logins_than_can_be_checked_get_429_while_certificates_are_issued() {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let _someone = installation.member("someone", &["Default"]);
    let csr = Workbench::new().unwrap();
    let csr = csr.fresh_request("/CN=load.example.test", "DNS:load.example.test").unwrap();
    let target = |body: String| {
        let token = administrator.token().unwrap();
        Target::new(installation.port(), &installation.root_pem(), token, &[body]).unwrap()
    };
    let issuance = target(json!({"caName": ISSUER, "csr": csr}).to_string());
    // Whoever it is: a right password and a wrong one cost the same.
    let login = target(json!({"username": "someone", "password": "wrong"}).to_string());
    let login = login.at("/api/login").with_pause(Duration::from_millis(500));
    let many = json!({"addressFailures": 1_000_000, "loginFailures": 1000});
    let many = many.to_string();
    let json = ["Content-Type: application/json"];
    let set = administrator.send("PUT", "/api/admin/settings", &json, Some(many.as_bytes()));
    set.unwrap().expect_status(200).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let both = |logins: usize| {
        let (from, until) = (Instant::now(), Instant::now() + lasting());
        let logging_in = runtime.spawn({
            let login = login.clone();
            async move { login.clients(logins, from, until).await }
        });
        let issued = runtime.block_on(issuance.clients(16, from, until)).unwrap();
        (issued, runtime.block_on(logging_in).unwrap().unwrap())
    };

    let (alone, _) = both(0);
    let (with_few, few) = both(5);
    let (with_flood, flood) = both(200);

    for (what, issued, logins) in [
        ("alone", &alone, &Seen::default()),
        ("10/s", &with_few, &few),
        ("400/s", &with_flood, &flood),
    ] {
        println!(
            "{what}: {} issued, p99 {:.1} ms; logins {:?}",
            issued.took.len(),
            issued.percentile(99),
            logins.refused
        );
        assert!(
            !issued.took.is_empty() && issued.refused.is_empty(),
            "{what}: {:?}",
            issued.refused
        );
    }
    assert!(few.refused.keys().all(|status| *status == 401), "{:?}", few.refused);
    assert!(flood.refused.keys().all(|status| [401, 429].contains(status)), "{:?}", flood.refused);
    assert!(flood.refused.get(&429).is_some_and(|times| *times > 0), "{:?}", flood.refused);
    assert_eq!(flood.without_retry_after, 0);
}
