//! Two API processes on one database: what ends at one has ended at the other with the next request.

use anyhow::Context as _;
use chancery_tests::second_api::SecondApi;
use chancery_tests::{Client, Installation, Plan, on_both_engines};
use serde_json::{Value, json};

/// A user with a token of a login and one of a machine.
struct Holder {
    password: String,
    path: String,
    login: Client,
    machine: Client,
    machine_path: String,
}

impl Holder {
    fn new(installation: &Installation, username: &str) -> anyhow::Result<Self> {
        let login = installation.member(username, &["Default"]);
        let made = login.post("/api/currentuser/apitokens", &json!({"name": "ci"}))?;
        let made = made.expect_status(200)?.json()?;
        let text = |field: &str| made.get(field).and_then(Value::as_str).context("no such text");
        let own = login.get("/api/currentuser")?.expect_status(200)?.json()?;
        let id = own.get("id").and_then(Value::as_str).context("no id")?;
        let path = format!("/api/admin/users/{id}");
        Ok(Self {
            password: format!("the password of {username}"),
            machine: login.with_token(text("token")?),
            machine_path: format!("{path}/apitokens/{}", text("id")?),
            path,
            login,
        })
    }

    /// What each of the two tokens gets at the other process.
    fn at(&self, other: &SecondApi) -> anyhow::Result<[String; 2]> {
        let asked = |token| {
            let answer = other.of(token).get("/api/currentuser")?;
            match answer.status {
                200 => Ok("in".to_owned()),
                401 => answer.code(),
                status => anyhow::bail!("{status}: {}", answer.text()),
            }
        };
        Ok([asked(&self.login)?, asked(&self.machine)?])
    }

    fn end(&self, way: &str, administrator: &Client) -> anyhow::Result<()> {
        let new = "quite another one";
        let own = json!({"oldPassword": self.password, "newPassword": new});
        let (by, method, path, body) = match way {
            "logout" => (&self.login, "POST", "/api/logout", Value::Null),
            "password" => (&self.login, "POST", "/api/currentuser/password", own),
            "new-password" => (administrator, "PUT", &*self.path, json!({"password": new})),
            "disabled" => (administrator, "PUT", &*self.path, json!({"enabled": false})),
            "deleted" => (administrator, "DELETE", &*self.path, Value::Null),
            "api-token" => (administrator, "DELETE", &*self.machine_path, Value::Null),
            other => anyhow::bail!("no token ends by {other}"),
        };
        let body = body.to_string();
        let headers = ["Content-Type: application/json"];
        by.send(method, path, &headers, Some(body.as_bytes()))?.expect_status(200).map(drop)
    }
}

on_both_engines! {
    fn a_token_that_one_process_gave_ends_at_the_other_at_once(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let other = installation.start_second_api();
        let administrator = installation.administrator();
        let bystander = Holder::new(&installation, "bystander").unwrap();
        for (way, expected) in [
            ("logout", ["token_invalid", "in"]),
            ("password", ["token_invalid", "token_invalid"]),
            ("new-password", ["token_invalid", "token_invalid"]),
            ("disabled", ["token_invalid", "token_invalid"]),
            ("deleted", ["token_invalid", "token_invalid"]),
            ("api-token", ["in", "token_invalid"]),
        ] {
            let holder = Holder::new(&installation, way).unwrap();
            assert_eq!(holder.at(&other).unwrap(), ["in", "in"], "before {way}");

            holder.end(way, &administrator).unwrap();

            assert_eq!(holder.at(&other).unwrap(), expected, "{way}");
            assert_eq!(bystander.at(&other).unwrap(), ["in", "in"], "beside {way}");
        }
    }
}
