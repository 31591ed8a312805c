//! What is seeded, as the real programs see it.

use chancery_tests::on_both_engines;
use serde_json::Value;

use crate::key::Kind;
use crate::scene::Scene;

const RECORDS: u64 = 300;

on_both_engines! {
    fn a_seeded_home_is_whole(engine) {
        let mut scene = Scene::start(engine, Kind::P256, false).unwrap();
        let before = scene.administrator.records().unwrap().len();

        scene.seed(RECORDS).unwrap();

        let records = scene.installation.check_invariants().unwrap();
        let after = before + usize::try_from(RECORDS).unwrap();
        assert!(records.len() > after, "{} of {after} and the patterns", records.len());
    }

    fn reconciliation_has_nothing_to_do_on_a_seeded_home(engine) {
        let mut scene = Scene::start(engine, Kind::P256, false).unwrap();

        scene.seed(RECORDS).unwrap();

        let pass = scene.reconciled().unwrap();
        let few = pass["entries"].as_u64().is_some_and(|entries| entries < 10);
        assert!(few && pass["recovered"] == 0 && pass["alarms"] == 0, "{pass}");
    }

    fn certificates_are_issued_on_a_seeded_home(engine) {
        let mut scene = Scene::start(engine, Kind::P256, false).unwrap();
        scene.seed(RECORDS).unwrap();
        let body: Value = serde_json::from_str(&scene.bodies[0]).unwrap();

        let issued = scene.administrator.request_with(&body).unwrap();

        assert_eq!(scene.administrator.record(&issued.id).unwrap()["id"], issued.id.as_str());
    }

    fn seeded_certificates_differ_in_name_owner_team_and_expiry(engine) {
        let mut scene = Scene::start(engine, Kind::P256, false).unwrap();

        scene.seed(RECORDS).unwrap();

        let records = scene.administrator.records().unwrap();
        let different = |field: &str| {
            let values = records.iter().map(|record| record[field].to_string());
            values.collect::<std::collections::BTreeSet<_>>().len()
        };
        let kinds = ["subjectDn", "ownerUsername", "teamName", "validTo"].map(different);
        assert!(kinds[0] >= 300 && kinds[1] > 4 && kinds[2] > 3 && kinds[3] > 100, "{kinds:?}");
    }
}
