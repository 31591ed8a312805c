//! The key of a deleted Local CA is on the token until the CA is gone, as another program sees it.

use std::collections::BTreeSet;

use anyhow::Context as _;
use chancery_tests::openssl::Workbench;
use chancery_tests::{Client, ISSUER, Installation, Plan, on_both_engines, patience};
use serde_json::{Value, json};
use time::Duration;

/// A busy machine does what is waited for within this time.
const PATIENCE: std::time::Duration = std::time::Duration::from_mins(2);

/// Less than a day, after which a start would find its clock far ahead.
const HALF: Duration = Duration::hours(13);

/// A root CA with a key of its own: its id, and the key's.
fn make(installation: &Installation, name: &str) -> anyhow::Result<(String, String)> {
    let before = installation.keys_on_token()?;
    let body = json!({
        "name": name, "keyStoreName": "Local Token", "keyAlgorithm": "ECDSA P-256",
        "subjectDn": format!("CN={name}"), "lifetimeInDays": 3650, "rootCa": true,
    });
    let admin = installation.administrator();
    let made = admin.post("/api/admin/localca", &body)?.expect_status(200)?.json()?;
    let id = made.get("id").and_then(Value::as_str).context("no id")?.to_owned();
    let new: Vec<_> = installation.keys_on_token()?.difference(&before).cloned().collect();
    let [key] = new.try_into().ok().context("not one new key")?;
    Ok((id, key))
}

fn delete(client: &Client, path: &str) -> anyhow::Result<()> {
    client.send("DELETE", &format!("/api/admin/{path}"), &[], None)?.expect_status(200).map(drop)
}

/// Starts everything again under a clock that is so far ahead.
fn start_at(installation: &mut Installation, clock: Duration) -> anyhow::Result<()> {
    installation.stop();
    installation.home().sabotage().clock(clock)?;
    installation.start_again();
    // Whoever looks at the status lets the service know the time.
    installation.administrator().get("/api/admin/status")?.expect_status(200).map(drop)
}

on_both_engines! {
    fn a_deleted_ca_s_key_is_on_the_token_until_it_is_forced_or_purged(engine) {
        let api_lines =
            vec!["deleteditems.purge.afterdays=1", "deleteditems.purge.firstafterminutes=0"];
        let plan = Plan { engine, api_lines, sabotaged: true, ..Plan::default() };
        let mut installation = Installation::start_as(plan);
        let (forced, forced_key) = make(&installation, "Forced").unwrap();
        let (purged, purged_key) = make(&installation, "Purged").unwrap();
        let all = installation.keys_on_token().unwrap();
        let without = |gone: &[&String]| -> BTreeSet<_> {
            all.iter().filter(|key| !gone.contains(key)).cloned().collect()
        };
        let admin = installation.administrator();
        // One that comes back: what it signs it signs while it is live.
        let issuer = admin.id_of("/api/admin/ca", ISSUER).unwrap();
        let ca = admin.id_of("/api/admin/localca", "Chancery Issuing CA").unwrap();
        let csr = Workbench::new().unwrap().fresh_request("/CN=a.example.test", "DNS:a.example.test");
        let csr = csr.unwrap();
        admin.request(&csr).unwrap();
        delete(&admin, &format!("ca/{issuer}")).unwrap();
        delete(&admin, &format!("localca/{ca}")).unwrap();
        assert!(admin.request(&csr).is_err());
        let path = format!("/api/admin/ca/restore/{issuer}?withDependencies=true");
        admin.post(&path, &json!({})).unwrap().expect_status(200).unwrap();
        admin.request(&csr).unwrap();

        for id in [&forced, &purged] {
            delete(&admin, &format!("localca/{id}")).unwrap();
        }
        assert_eq!(installation.keys_on_token().unwrap(), all);

        delete(&admin, &format!("localca/{forced}/force")).unwrap();
        assert_eq!(installation.keys_on_token().unwrap(), without(&[&forced_key]));
        installation.check_invariants().unwrap();

        start_at(&mut installation, HALF).unwrap();
        assert_eq!(installation.keys_on_token().unwrap(), without(&[&forced_key]));
        start_at(&mut installation, HALF * 2).unwrap();
        let admin = installation.administrator();
        patience::until("the purge", PATIENCE, || {
            let deleted = admin.get("/api/admin/localca/deleted")?.expect_status(200)?.json()?;
            Ok((deleted == json!([])).then_some(()))
        })
        .unwrap();
        assert_eq!(installation.keys_on_token().unwrap(), without(&[&forced_key, &purged_key]));
        installation.stop();
    }
}
