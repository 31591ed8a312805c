//! PostgreSQL goes and comes, also in the middle of the work: each request is done or refused, and
//! nothing that was signed stays without its record.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use chancery_tests::issue::ISSUER;
use chancery_tests::openssl::Workbench;
use chancery_tests::patience;
use chancery_tests::postgres_server::{End, PostgresServer};
use chancery_tests::{Client, Engine, Installation, Plan};
use serde_json::json;

/// A busy machine does what is waited for within this time.
const PATIENCE: Duration = Duration::from_mins(1);

/// What may be answered while the database goes and comes.
const CLEAN: [&str; 3] = ["200", "503 database_unavailable", "503 not_recorded"];

fn installation(server: &PostgresServer) -> Installation {
    let postgres_server = server.url();
    Installation::start_as(Plan { engine: Engine::Postgres, postgres_server, ..Plan::default() })
}

fn csr() -> anyhow::Result<String> {
    Workbench::new()?.fresh_request("/CN=a.example.test", "DNS:a.example.test")
}

/// Asks for a certificate: the status, and the code where it is refused.
fn ask(client: &Client, csr: &str) -> String {
    let asked = client.post("/api/certs/requestp10", &json!({"caName": ISSUER, "csr": csr}));
    match asked {
        Ok(answer) if answer.status == 200 => "200".to_owned(),
        Ok(answer) => match answer.code() {
            Ok(code) => format!("{} {code}", answer.status),
            Err(error) => format!("{error:#}"),
        },
        Err(_) => "no answer".to_owned(),
    }
}

#[test]
fn a_database_that_is_away_is_told_and_used_again_when_it_is_back() -> anyhow::Result<()> {
    let server = PostgresServer::start()?;
    let installation = installation(&server);
    let (administrator, csr) = (installation.administrator(), csr()?);

    for end in [End::Fast, End::Immediate] {
        server.stop(end)?;
        let body = json!({"caName": ISSUER, "csr": csr});
        let refused = administrator.post("/api/certs/requestp10", &body)?.expect_status(503)?;
        assert_eq!(refused.code()?, "database_unavailable");
        assert!(refused.header("retry-after").is_some());
        installation.wait_for_health("the reason", |answer| {
            answer.status == 503 && answer.text().contains("database_unavailable")
        });

        server.start_again()?;
        installation.wait_until_ready();
        assert_eq!(ask(&administrator, &csr), "200", "after {end:?}");
    }
    // Root, issuing CA, HTTPS and two of ours: what was refused was not signed.
    assert_eq!(installation.check_invariants()?.len(), 5);
    Ok(())
}

#[test]
fn a_database_that_is_lost_under_load_loses_no_record() -> anyhow::Result<()> {
    let server = PostgresServer::start()?;
    let installation = installation(&server);
    let (administrator, csr) = (installation.administrator(), csr()?);
    let before = installation.signed_serial_numbers()?.len();
    let is_over = AtomicBool::new(false);

    let seen = thread::scope(|scope| {
        let load = || {
            let mut seen = BTreeMap::new();
            while !is_over.load(Ordering::SeqCst) {
                *seen.entry(ask(&administrator, &csr)).or_insert(0) += 1;
            }
            seen
        };
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(load)).collect();
        let done = trouble(&server, &installation, before);
        is_over.store(true, Ordering::SeqCst);
        let mut seen = BTreeMap::new();
        for client in clients {
            for (answer, count) in client.join().expect("a client") {
                *seen.entry(answer).or_insert(0) += count;
            }
        }
        done.map(|()| seen)
    })?;

    let unclean: Vec<_> = seen.keys().filter(|key| !CLEAN.contains(&key.as_str())).collect();
    assert!(unclean.is_empty(), "{seen:?}\n{}", installation.api().output().text());
    installation.wait_until_ready();
    let records = installation.check_invariants()?;
    assert!(records.len() >= before + seen["200"], "{seen:?}");
    Ok(())
}

/// Cuts connections, and restarts the server both ways, each time in the middle of the work.
fn trouble(
    server: &PostgresServer,
    installation: &Installation,
    before: usize,
) -> anyhow::Result<()> {
    let database = installation.database().context("no PostgreSQL")?;
    let mut wanted = before;
    let mut some_work = || {
        wanted = wanted.max(installation.signed_serial_numbers()?.len()) + 8;
        patience::until("some work", PATIENCE, || {
            Ok((installation.signed_serial_numbers()?.len() >= wanted).then_some(()))
        })
    };
    for _ in 0..6 {
        some_work()?;
        database.cut_connections()?;
    }
    for end in [End::Fast, End::Immediate, End::Immediate] {
        some_work()?;
        server.stop(end)?;
        server.start_again()?;
    }
    some_work()
}
