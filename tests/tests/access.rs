//! Who may do what: teams, administrators, tokens.

use std::io::Write as _;
use std::process::Stdio;

use chancery_tests::database::PostgresDatabase;
use chancery_tests::openssl::Workbench;
use chancery_tests::{ISSUER, Installation, Plan, on_both_engines};
use serde_json::json;

on_both_engines! {
    fn the_team_must_be_named_by_a_user_of_several_and_by_no_one_else(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let administrator = installation.administrator();
        let team = json!({"name": "Second", "internalGroup": "USER"});
        administrator.post("/api/admin/teams", &team).unwrap().expect_status(200).unwrap();
        let of_one = installation.member("one", &["Default"]);
        let of_two = installation.member("two", &["Default", "Second"]);
        let bench = Workbench::new().unwrap();
        let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test").unwrap();

        let of_the_one = of_one.request(&csr).unwrap();
        let unnamed = of_two.post("/api/certs/requestp10", &json!({"caName": ISSUER, "csr": csr}));
        let named = json!({"caName": ISSUER, "csr": csr, "teamName": "Second"});
        let of_the_named = of_two.request_with(&named).unwrap();

        let unnamed = unnamed.unwrap().expect_status(400).unwrap().json().unwrap();
        assert_eq!(unnamed["code"], "team_required");
        let team_of = |id: &str| administrator.record(id).unwrap()["teamId"].clone();
        let id_of = |name| administrator.id_of("/api/admin/teams", name).unwrap();
        assert_eq!(team_of(&of_the_one.id), id_of("Default"));
        assert_eq!(team_of(&of_the_named.id), id_of("Second"));
    }
}

#[test]
fn everything_below_admin_is_closed_to_ordinary_users() {
    let installation = Installation::start();
    let member = installation.member("ordinary", &["Default"]);

    for path in ["keystores", "keystores/tokens", "localca", "profiles", "teams", "users"] {
        let answer = member.get(&format!("/api/admin/{path}")).unwrap();
        assert_eq!(answer.status, 403, "GET {path}: {}", answer.text());
        assert_eq!(answer.json().unwrap()["status"], 403);
    }
    for path in ["keystores", "localca", "profiles", "ca", "teams", "users"] {
        let answer = member.post(&format!("/api/admin/{path}"), &json!({})).unwrap();
        assert_eq!(answer.status, 403, "POST {path}: {}", answer.text());
    }
    // What deployed clients read without being administrators.
    for path in ["ca", "ca/chainbyname/Chancery%20Issuer"] {
        assert_eq!(member.get(&format!("/api/admin/{path}")).unwrap().status, 200, "{path}");
    }
}

#[test]
fn a_token_that_is_missing_broken_or_ended_is_401_and_says_which() {
    let installation = Installation::start();
    let anonymous = installation.anonymous();
    let ended = installation.administrator();
    ended.get("/api/logouthere").unwrap().expect_status(200).unwrap();
    let token = installation.administrator();
    let broken = format!("{}x", token_of(&token));

    for (who, client, code) in [
        ("missing", anonymous.clone(), "token_missing"),
        ("broken", anonymous.with_token(&broken), "token_invalid"),
        ("no token at all", anonymous.with_token("\"quoted\""), "token_invalid"),
        ("ended", ended, "token_invalid"),
    ] {
        for path in ["/api/certs", "/api/admin/users", "/api/currentuser"] {
            let answer = client.get(path).unwrap();
            assert_eq!(answer.status, 401, "{who} {path}: {}", answer.text());
            assert_eq!(answer.code().unwrap(), code, "{who} {path}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{who} {path}");
        }
    }
}

#[test]
fn a_wrong_password_tells_no_more_than_an_unknown_user() {
    let installation = Installation::start();
    let login = |username: &str| {
        let body = json!({"username": username, "password": "not the password at all"});
        installation.anonymous().post("/api/login", &body).unwrap()
    };

    let [known, unknown] = ["admin", "nobody"].map(login);

    assert_eq!((known.status, unknown.status), (401, 401));
    let message = |answer: &chancery_tests::Answer| answer.json().unwrap()["message"].clone();
    assert_eq!(message(&known), message(&unknown));
}

#[test]
fn an_operator_gives_a_locked_out_administrator_a_way_back_in_while_the_service_runs() {
    let installation = Installation::start();
    let old = installation.administrator();
    let reset = |password: &str| {
        let mut command = installation.home().api();
        command.args(["admin", "reset-password", "--username", "ADMIN"]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };

    let short = reset("short\n");
    let done = reset("a way back in, again\nsecond line\n");

    assert!(!short.0 && short.1.contains("12 to 1024 characters"), "{short:?}");
    assert!(done.0 && !done.1.contains("way back"), "{done:?}");
    let answer = old.get("/api/currentuser").unwrap();
    assert_eq!((answer.status, &*answer.code().unwrap()), (401, "token_invalid"));
    let body = json!({"username": "admin", "password": "a way back in, again"});
    let login = installation.anonymous().post("/api/login", &body).unwrap();
    let login = login.expect_status(200).unwrap().json().unwrap();
    assert_eq!(login["mustChangePassword"], true);
}

on_both_engines! {
    fn an_operator_lets_an_administrator_in_whom_the_addresses_of_a_team_shut_out(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let first = installation.administrator();
        let teams = "/api/admin/teams";
        let far = json!({"name": "Far", "ipWhiteList": "192.0.2.0/24"});
        first.post(teams, &far).unwrap().expect_status(200).unwrap();
        let far = first.id_of(teams, "Far").unwrap();
        let me = first.get("/api/currentuser").unwrap().json().unwrap();
        let mut own_teams = me["teamsIds"].as_array().unwrap().clone();
        own_teams.push(json!(far));
        let own_teams = json!({"teamsIds": own_teams});
        let path = format!("/api/admin/users/{}", me["id"].as_str().unwrap());
        let change_teams = |by: &chancery_tests::Client| {
            let json = ["Content-Type: application/json"];
            by.send("PUT", &path, &json, Some(own_teams.to_string().as_bytes()))
        };
        let by_themselves = change_teams(&first).unwrap();
        let other = installation.member("other", &["Administrators"]);
        change_teams(&other).unwrap().expect_status(200).unwrap();
        let shut_out = first.get("/api/currentuser").unwrap();
        let reset = |from_anywhere: &[&str], url: Option<String>| {
            let mut command = installation.home().api();
            command.args(["admin", "reset-password"]).args(from_anywhere);
            if let Some(url) = url {
                command.env("CHANCERY_DATABASE_URL", url);
            }
            let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all("\u{feff}a way back in\n".as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let url = || installation.database().map(PostgresDatabase::url);
        let login = || installation.anonymous().login("admin", "a way back in");

        if url().is_some() {
            let elsewhere = reset(&["--from-anywhere"], None);
            assert!(!elsewhere.0 && elsewhere.1.contains("CHANCERY_DATABASE_URL"), "{elsewhere:?}");
            assert!(!installation.home().path().join("data/chancery.db").exists());
        }
        let only_password = reset(&[], url());
        let still_out = login();
        let from_anywhere = reset(&["--from-anywhere"], url());

        assert_eq!(by_themselves.status, 400, "{}", by_themselves.text());
        assert_eq!(&*shut_out.code().unwrap(), "address_not_allowed");
        assert!(only_password.0 && only_password.1.contains("--from-anywhere"), "{only_password:?}");
        assert!(still_out.is_err(), "{only_password:?}");
        assert!(from_anywhere.0 && from_anywhere.1.contains("has left Far"), "{from_anywhere:?}");
        login().unwrap();
    }
}

fn token_of(client: &chancery_tests::Client) -> String {
    client.token().unwrap_or_default().to_owned()
}
