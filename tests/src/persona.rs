//! Who talks to the service.

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::client::Client;
use crate::installation::{ADMIN_PASSWORD, Installation};

impl Installation {
    /// The address without any base path.
    #[must_use]
    pub fn service(&self) -> Client {
        Client::new(format!("https://localhost:{}", self.port()), self.root_ca())
    }

    /// Someone without a token, below the first base path.
    #[must_use]
    pub fn anonymous(&self) -> Client {
        let first = self.plan.base_paths.split(',').next().unwrap_or_default();
        Client::new(format!("https://localhost:{}{first}", self.port()), self.root_ca())
    }

    /// The first administrator.
    ///
    /// # Panics
    ///
    /// The login fails.
    #[must_use]
    pub fn administrator(&self) -> Client {
        self.anonymous().login("admin", ADMIN_PASSWORD).expect("admin logs in")
    }

    /// An ordinary user, made now, who is in these teams (by name).
    ///
    /// # Panics
    ///
    /// There is no such team, or the login fails.
    #[must_use]
    pub fn member(&self, username: &str, teams: &[&str]) -> Client {
        self.try_member(username, teams).expect("the member logs in")
    }

    fn try_member(&self, username: &str, teams: &[&str]) -> anyhow::Result<Client> {
        let administrator = self.administrator();
        let known = administrator.get("/api/admin/teams")?.expect_status(200)?.json()?;
        let id = |name: &&str| {
            let rows = known.as_array().map(Vec::as_slice).unwrap_or_default();
            let team = rows.iter().find(|team| team["name"] == **name);
            team.map(|team| team["id"].clone()).with_context(|| format!("no team {name}"))
        };
        let ids = teams.iter().map(id).collect::<anyhow::Result<Vec<Value>>>()?;
        let password = format!("the password of {username}");
        let user = json!({
            "username": username,
            "email": format!("{username}@example.test"),
            "password": password,
            "teamsIds": ids,
        });
        administrator.post("/api/admin/users", &user)?.expect_status(200)?;
        self.anonymous().login(username, &password)
    }
}
