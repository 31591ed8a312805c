//! What is told, and in which words.

mod coalescing;

use axum::http::Method;

use super::Operation;

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
        (Method::GET, "/api/certs/{id}/jks", "download key", "certs", true),
        (Method::GET, "/api/certs/{id}/pem", "download key", "certs", true),
        (Method::HEAD, "/api/certs/{id}/p12", "read", "certs", false),
        (Method::HEAD, "/api/certs/{id}/jks", "read", "certs", false),
        (Method::HEAD, "/api/certs/{id}/pem", "read", "certs", false),
        (Method::HEAD, "/api/certs/{id}/cer", "read", "certs", false),
        (Method::HEAD, "/api/logouthere", "logout", "users", true),
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
fn a_base_path_changes_nothing_whatever_it_repeats() {
    let (first, second) = ("65aaaaaaaaaaaaaaaaaaaaaa", "65bbbbbbbbbbbbbbbbbbbbbb");
    for (method, route) in [
        (Method::POST, "/api/login"),
        (Method::DELETE, "/api/admin/users/{id}"),
        (Method::DELETE, "/api/admin/users/{id}/apitokens/{tokenId}"),
        (Method::POST, "/api/admin/keystores/restore/{id}"),
        (Method::GET, "/api/certs/{id}/p12"),
        (Method::PUT, "/api/admin/settings"),
    ] {
        let path = route.replace("{id}", first).replace("{tokenId}", second);
        let expected = Operation::new(&method, Some(route), &path);
        for base in ["/x", "/api/ca", "/ca/api", "/api/api", "/api/admin/users", "/certs/api/x"] {
            let (route, path) = (format!("{base}{route}"), format!("{base}{path}"));

            let found = Operation::new(&method, Some(&route), &path);

            assert_eq!(found, expected, "{route}");
        }
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
