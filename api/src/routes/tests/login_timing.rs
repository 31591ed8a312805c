//! How long a failed login takes says nothing of the user: whoever measures learns no names.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::testing::{Api, api};

const USERNAMES: [&str; 3] = ["nobody-at-all", "member", "disabled"];

/// Tries in a fixed order that looks random, so that what the machine does beside meets all alike.
/// `CHANCERY_TEST_FAULTS` makes many, which tell small differences too.
#[tokio::test]
async fn a_failed_login_takes_as_long_for_a_user_who_does_not_exist() {
    let is_long = std::env::var("CHANCERY_TEST_FAULTS").is_ok();
    let (tries, bound) = if is_long { (300, 1.15) } else { (15, 2.0) };
    let api = api().await;
    crate::testing::insert_user(&api.state, "disabled", &[]).await;
    let disable = "UPDATE account SET enabled = 0 WHERE username = 'disabled'";
    api.state.store.execute_for_test(disable).await;
    let most = json!({"loginFailures": 1000, "addressFailures": 1_000_000});
    api.administrator().put("/api/admin/settings", &most).await;
    let mut took: [Vec<Duration>; 3] = Default::default();
    let mut seed: u32 = 2_463_534_242;

    while took.iter().any(|one| one.len() < tries) {
        // Marsaglia's xorshift.
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        let which = (seed % 3) as usize;
        took[which].push(failed_login(&api, USERNAMES[which]).await);
    }

    let medians = took.map(|mut one| {
        one.sort();
        one[one.len() / 2].as_secs_f64()
    });
    println!("medians {medians:?}");
    let (least, most) = (
        medians.iter().copied().fold(f64::MAX, f64::min),
        medians.iter().copied().fold(0.0, f64::max),
    );
    assert!(most / least < bound, "{medians:?}");
}

async fn failed_login(api: &Api, username: &str) -> Duration {
    let body = json!({"username": username, "password": "not the password"});
    let began = Instant::now();
    let answer = api.anonymous().post("/api/login", &body).await;
    let took = began.elapsed();
    assert_eq!(answer.status, 401);
    took
}
