//! Half load, and every few seconds something breaks: at the end everything signed is known, and
//! nothing has leaked. `CHANCERY_TEST_SOAK` says for how many seconds (`./test.sh soak`: an hour).

mod mischief;
mod vitals;

use std::time::{Duration, Instant};

use chancery_tests::load::Target;
use chancery_tests::openssl::Workbench;
use chancery_tests::{ISSUER, Installation, Plan, on_both_engines};

use mischief::{LONGEST, Saboteur};
use vitals::Vitals;

/// In an ordinary run, for each database.
const SHORT: u64 = 60;

/// Clients, and the pause of each between two requests: about half of what two cores can do while
/// tests run beside.
const CLIENTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(40);

/// With nothing broken, to see whether anything grows.
const CALM: Duration = Duration::from_secs(10);

on_both_engines! {
    /// One installation, one kind of trouble after the other, in an order that the seed gives.
    fn nothing_signed_is_lost_whatever_breaks_under_load(engine) {
        let seconds = std::env::var("CHANCERY_TEST_SOAK").ok().and_then(|text| text.parse().ok());
        let lasting = Duration::from_secs(seconds.unwrap_or(SHORT));
        let plan = Plan { engine, sabotaged: true, ..Plan::default() };
        let mut installation = Installation::start_as(plan);
        let csr = Workbench::new().unwrap();
        let csr = csr.fresh_request("/CN=soak.example.test", "DNS:soak.example.test").unwrap();
        let body = serde_json::json!({"caName": ISSUER, "csr": csr}).to_string();
        let administrator = installation.administrator();
        let token = administrator.token().unwrap();
        let target = Target::new(installation.port(), &installation.root_pem(), token, &[body]);
        let target = target.unwrap().with_pause(PAUSE);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();

        let began = Instant::now();
        let load = target.clone();
        let load =
            runtime.spawn(async move { load.clients(CLIENTS, began, began + lasting).await });
        let mut saboteur = Saboteur::new(engine);
        while began.elapsed() + LONGEST < lasting {
            saboteur.act(&mut installation).unwrap();
        }
        let seen = runtime.block_on(load).unwrap().unwrap();
        println!("{} issued, refused {:?}, trouble {:?}", seen.took.len(), seen.refused, saboteur.done());

        installation.wait_until_ready();
        // Caches fill first; what grows after that would grow for ever.
        let calm = |target: &Target| {
            let from = Instant::now();
            runtime.block_on(target.clients(CLIENTS, from, from + CALM)).unwrap()
        };
        calm(&target);
        let before = Vitals::of(&mut installation).unwrap();
        let seen = calm(&target);
        let after = Vitals::of(&mut installation).unwrap();

        assert!(seen.refused.is_empty(), "in peace: {:?}", seen.refused);
        after.assert_flat_since(&before);
        installation.check_invariants().unwrap();
        installation.stop();
    }
}
