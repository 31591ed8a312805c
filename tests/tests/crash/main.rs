//! `kill -9` of each process between each two steps: nothing signed is unknown, nothing is stuck.

mod deleting;
mod destroying;
mod dn_request;
mod places;
mod purging;
mod scene;

use std::collections::BTreeMap;

use chancery_tests::on_both_engines;

use places::{CERTIFICATE, KEY};
use scene::Scene;

on_both_engines! {
    /// One installation, killed at each place in turn. What the client saw and what the record
    /// shows in the end is the table in `docs/OPERATIONS.md`.
    fn a_process_killed_at_any_step_loses_no_certificate(engine) {
        let mut scene = Scene::start(engine).unwrap();
        let mut seen = BTreeMap::new();
        for place in CERTIFICATE {
            let answer = scene.kill_during_a_request(place).unwrap();
            seen.insert(place.name, (answer, scene.last_request()));
        }
        let records = scene.installation.check_invariants().unwrap();

        let rows = CERTIFICATE.iter().map(|place| {
            let (answer, number) = &seen[place.name];
            format!("| {} | {answer} | {} |", place.name, scene::record_of(&records, *number))
        });
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows, places::documented("A certificate").unwrap(), "{}", rows.join("\n"));
        scene.installation.stop();
    }

    /// Of a DN request more than the record is at stake.
    fn a_process_killed_during_a_dn_request_leaves_a_record_that_says_whether_the_key_is_lost(engine) {
        let mut scene = Scene::start(engine).unwrap();

        let rows = dn_request::kill_at_each(&mut scene).unwrap();

        assert_eq!(rows, places::documented("A DN request").unwrap(), "{}", rows.join("\n"));
        scene.installation.stop();
    }

    /// The same while a Local CA and its key are made.
    fn a_process_killed_while_a_ca_is_made_leaves_no_half_of_one(engine) {
        let mut scene = Scene::start(engine).unwrap();
        let answers = KEY.iter().map(|place| scene.kill_while_a_ca_is_made(place).unwrap());
        let answers: Vec<_> = answers.collect();
        let rows = KEY.iter().zip(answers).map(|(place, answer)| {
            format!("| {} | {answer} | {} |", place.name, scene.ca_after(place).unwrap())
        });
        let rows: Vec<_> = rows.collect();
        scene.installation.check_invariants().unwrap();

        assert_eq!(rows, places::documented("A Local CA").unwrap(), "{}", rows.join("\n"));
        assert_eq!(scene.keys_without_ca().unwrap(), Vec::<serde_json::Value>::new());
        scene.installation.stop();
    }

    /// The same while one is deleted, restored or removed.
    fn a_process_killed_while_a_ca_changes_leaves_it_and_its_key_in_one_state(engine) {
        let mut scene = Scene::start(engine).unwrap();

        let rows = deleting::kill_during_each(&mut scene).unwrap();

        scene.installation.check_invariants().unwrap();
        assert_eq!(rows, places::documented("A change").unwrap(), "{}", rows.join("\n"));
        scene.installation.stop();
    }

    /// The same while the time of deleted ones is over.
    fn a_process_killed_while_cas_are_purged_leaves_no_half_of_one(engine) {
        let lines = ["deleteditems.purge.afterdays=1", "deleteditems.purge.firstafterminutes=0"];
        let mut scene = Scene::start_with(engine, &lines).unwrap();

        purging::kill_at_each(&mut scene).unwrap();

        scene.installation.check_invariants().unwrap();
        scene.installation.stop();
    }
}
