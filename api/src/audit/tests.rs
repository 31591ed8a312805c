//! What is told, and in which words.

use axum::http::Method;

use super::Operation;
use super::coalesce::Coalescer;
use super::entry::blank;
use crate::store::audit::AuditEntry;

#[test]
fn an_operation_is_called_by_its_method_and_its_path() {
    let id = "65aaaaaaaaaaaaaaaaaaaaaa";
    for (method, route, action, kind, is_told) in [
        (Method::POST, "/api/login", "login", "users", true),
        (Method::POST, "/x/api/logout", "logout", "users", true),
        (Method::GET, "/api/logouthere", "logout", "users", true),
        (Method::POST, "/api/currentuser/password", "password", "users", true),
        (Method::POST, "/api/certs/requestp10", "issue", "certs", true),
        (Method::POST, "/api/certs/request", "issue", "certs", true),
        (Method::POST, "/api/certs/import", "import", "certs", true),
        (Method::POST, "/api/certs/search", "search", "certs", false),
        (Method::PATCH, "/api/certs/{id}", "change", "certs", true),
        (Method::GET, "/api/certs/{id}/p12", "download key", "certs", true),
        (Method::GET, "/api/certs/{id}/cer", "read", "certs", false),
        (Method::POST, "/api/admin/teams", "create", "teams", true),
        (Method::PUT, "/api/admin/teams/{id}", "change", "teams", true),
        (Method::DELETE, "/api/admin/keystores/{id}/force", "delete force", "keystores", true),
        (Method::POST, "/api/admin/keystores/restore/{id}", "restore", "keystores", true),
        (Method::POST, "/api/admin/users/{id}/unlock", "unlock", "users", true),
        (Method::PUT, "/api/admin/settings", "change", "settings", true),
        (Method::GET, "/api/admin/teams", "read", "teams", false),
    ] {
        let path = route.replace("{id}", id);

        let found = Operation::new(&method, Some(route), &path);

        let object_id = route.contains("{id}").then(|| id.to_owned());
        let token_of = None;
        let (action, kind) = (action.to_owned(), kind.to_owned());
        assert_eq!(
            found,
            Operation { action, kind, object_id, token_of, is_told },
            "{method} {route}"
        );
    }
}

#[test]
fn what_is_done_to_an_api_token_has_its_id_and_its_user() {
    let (user, token) = ("65aaaaaaaaaaaaaaaaaaaaaa", "65bbbbbbbbbbbbbbbbbbbbbb");
    for (method, route, object_id, token_of) in [
        (Method::POST, "/api/currentuser/apitokens", None, None),
        (Method::DELETE, "/api/currentuser/apitokens/{id}", Some(token), None),
        (Method::GET, "/x/api/admin/users/{id}/apitokens", None, Some(user)),
        (Method::POST, "/api/admin/users/{id}/apitokens", None, Some(user)),
        (Method::DELETE, "/api/admin/users/{id}/apitokens/{tokenId}", Some(token), Some(user)),
    ] {
        let path = route.replace("apitokens/{id}", &format!("apitokens/{token}"));
        let path = path.replace("{id}", user).replace("{tokenId}", token);

        let found = Operation::new(&method, Some(route), &path);

        assert_eq!(found.kind, "apitokens", "{method} {route}");
        assert_eq!(found.object_id.as_deref(), object_id, "{method} {route}");
        assert_eq!(found.token_of.as_deref(), token_of, "{method} {route}");
    }
}

#[test]
fn what_is_no_id_in_a_path_is_not_told() {
    let route = Some("/api/admin/teams/{id}");

    let found = Operation::new(&Method::PUT, route, "/api/admin/teams/my-password");

    assert_eq!(found.object_id, None);
}

fn refusal(second: i64, address: &str) -> AuditEntry {
    let at = time::OffsetDateTime::from_unix_timestamp(second).unwrap();
    let (address, result) = (Some(address.to_owned()), "token_missing".into());
    AuditEntry { address, result, ..blank(at) }
}

#[test]
fn refusals_of_nobody_are_told_once_and_then_together_with_their_number() {
    let mut coalescer = Coalescer::default();
    let first = coalescer.take(refusal(0, "192.0.2.1"));
    let repeated: Vec<_> =
        (1..60).flat_map(|second| coalescer.take(refusal(second, "192.0.2.1"))).collect();
    let other = coalescer.take(refusal(59, "192.0.2.2"));

    let next_minute = coalescer.take(refusal(60, "192.0.2.1"));

    assert_eq!(first, [refusal(0, "192.0.2.1")]);
    assert_eq!(repeated, []);
    assert_eq!(other, [refusal(59, "192.0.2.2")]);
    let together = AuditEntry { times: 59, ..refusal(59, "192.0.2.1") };
    assert_eq!(next_minute, [together, refusal(60, "192.0.2.1")]);
}

#[test]
fn a_flood_from_everywhere_leaves_a_bounded_number_of_entries() {
    let mut coalescer = Coalescer::default();

    let mut told: usize = 0;
    let mut times: u32 = 0;
    for number in 0..100_000 {
        let entries = coalescer.take(refusal(0, &format!("2001:db8::{number:x}")));
        told += entries.len();
        times += entries.iter().map(|entry| entry.times).sum::<u32>();
    }
    let rest = coalescer.end();

    assert!(told + rest.len() < 1100, "{told}");
    assert_eq!(times + rest.iter().map(|entry| entry.times).sum::<u32>(), 100_000);
}

#[test]
fn what_is_refused_to_one_user_is_not_told_with_what_is_refused_to_another() {
    let mut coalescer = Coalescer::default();
    let entry = |second, user| AuditEntry {
        user_id: Some(chancery_shared::id::UserId::from_bytes([user; 12])),
        ..refusal(second, "192.0.2.1")
    };

    for user in 1..4 {
        assert_eq!(coalescer.take(entry(0, user)), [entry(0, user)]);
        assert_eq!(coalescer.take(entry(1, user)), []);
        assert_eq!(coalescer.take(entry(2, user)), []);
    }

    let users: Vec<_> = coalescer.end().iter().map(|told| (told.user_id, told.times)).collect();
    for user in 1..4 {
        assert!(users.contains(&(entry(0, user).user_id, 2)), "{users:?}");
    }
}

#[test]
fn what_is_told_without_an_address_is_told_of_no_user() {
    let mut coalescer = Coalescer::default();
    let mut told = Vec::new();
    for number in 0..1_100 {
        let user_id = Some(chancery_shared::id::UserId::from_bytes([1; 12]));
        let entry = refusal(0, &format!("2001:db8::{number:x}"));
        told.extend(coalescer.take(AuditEntry { user_id, username: Some("a".into()), ..entry }));
    }
    told.extend(coalescer.end());

    assert!(told.iter().any(|entry| entry.address.is_none()));
    for entry in told {
        let has_user = entry.user_id.is_some() && entry.username.is_some();
        assert_eq!(has_user, entry.address.is_some(), "{entry:?}");
    }
}
