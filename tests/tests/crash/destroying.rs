//! A key that is being destroyed when a process is killed is destroyed in the end.

use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use chancery_shared::wire::Context;
use chancery_shared::wire::v1::{KeyChange, Request};
use chancery_tests::patience;
use chancery_tests::peer::Peer;
use chancery_tests::signer_home::SignerHome;
use rustix::process::{Signal, kill_process};

/// A busy machine reaches a place within this time.
const PATIENCE: Duration = Duration::from_mins(1);

const PLACES: [&str; 6] = [
    "keyring: journaled",
    "signer: key destroying",
    "key worker: opened",
    "key worker: acted",
    "key worker: synced",
    "signer: key destroyed",
];

#[test]
fn a_process_killed_while_a_key_is_destroyed_leaves_a_destroyed_key() -> anyhow::Result<()> {
    let mut home = SignerHome::create_to_sabotage(&[])?;
    home.start()?;
    for place in PLACES {
        let (mut peer, _) = Peer::connect(&home.socket())?;
        let key_id = home.create_ca(&mut peer, place)?.key_id;
        let (reason, context) = (place.to_owned(), Context::default());
        let change = KeyChange { key_id, reason, context };
        peer.ask(&Request::DisableKey(change.clone()))?;

        home.sabotage().stop_at(place)?;
        let asked = thread::spawn(move || peer.ask(&Request::DestroyKey(change)).is_ok());
        let stopped = patience::until(place, PATIENCE, || Ok(home.sabotage().stopped()))?;
        home.sabotage().stop_at("")?;
        kill_process(stopped, Signal::KILL)?;
        asked.join().ok().context("the peer panicked")?;
        if home.status().is_err() {
            home.spawn()?;
        }

        // Nothing is cleaned up before an API vouches for the journal.
        let (_vouching, _) =
            Peer::connect_knowing(&home.socket(), vec![home.status()?.journal_head])?;
        patience::until("the key's end", PATIENCE, || {
            // One that is on its way is still listed.
            Ok(home.status()?.keys.iter().all(|key| key.key_id != key_id).then_some(()))
        })?;
    }
    let status = home.status()?;
    let used = status.tokens.first().context("no token")?.summary.used_keys;
    assert_eq!(used, 0);
    home.stop()
}
