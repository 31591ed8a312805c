//! SIGTERM under load: no request that was accepted is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use chancery_tests::openssl::Workbench;
use chancery_tests::{Installation, Plan, on_both_engines};

on_both_engines! {
    fn every_request_that_was_answered_is_a_record_and_every_other_one_none(engine) {
        let mut installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let administrator = installation.administrator();
        let before = administrator.records().unwrap().len();
        let bench = Workbench::new().unwrap();
        let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test").unwrap();
        let is_stopping = AtomicBool::new(false);
        let (issued, ids) = mpsc::channel();
        let mut answered = Vec::new();

        thread::scope(|scope| {
            for _ in 0..8 {
                let issued = issued.clone();
                let client = &administrator;
                let (csr, is_stopping) = (&csr, &is_stopping);
                scope.spawn(move || {
                    loop {
                        match client.request(csr) {
                            Ok(certificate) => issued.send(certificate.id).unwrap(),
                            Err(_) if is_stopping.load(Ordering::SeqCst) => return,
                            Err(error) => panic!("{error:#}"),
                        }
                    }
                });
            }
            answered.extend(ids.iter().take(40));
            is_stopping.store(true, Ordering::SeqCst);
            installation.stop();
        });

        drop(issued);
        answered.extend(ids.iter());
        installation.start_again();
        let administrator = installation.administrator();
        let records = administrator.records().unwrap();
        let has = |id: &String| records.iter().any(|record| record["id"] == **id);
        assert!(answered.iter().all(has), "an answered certificate has no record");
        assert_eq!(records.len(), before + answered.len(), "a record was never answered");
    }
}
