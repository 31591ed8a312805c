//! Curl, as a user of the service runs it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;

/// One persona: where the service is, whom it trusts, and its bearer token.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) address: String,
    pub(crate) authority: PathBuf,
    pub(crate) token: Option<String>,
}

/// What the service answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Header names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// The bytes after them.
    pub body: Vec<u8>,
}

impl Client {
    /// A persona at `address` (without a slash at its end) that trusts the PEM file `authority`.
    #[must_use]
    pub fn new(address: String, authority: PathBuf) -> Self {
        Self { address, authority, token: None }
    }

    /// The same address with another bearer token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Its bearer token.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Logs in; the result carries the token.
    ///
    /// # Errors
    ///
    /// The service refuses it.
    pub fn login(&self, username: &str, password: &str) -> anyhow::Result<Self> {
        let body = serde_json::json!({"username": username, "password": password});
        let answer = self.post("/api/login", &body)?.expect_status(200)?;
        Ok(self.with_token(answer.json()?["token"].as_str().context("no token")?))
    }

    /// GET.
    ///
    /// # Errors
    ///
    /// No answer.
    pub fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.send("GET", path, &[], None)
    }

    /// POST with JSON.
    ///
    /// # Errors
    ///
    /// No answer.
    pub fn post(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        let body = body.to_string();
        self.send("POST", path, &["Content-Type: application/json"], Some(body.as_bytes()))
    }

    /// Any request.
    ///
    /// # Errors
    ///
    /// No answer.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: Option<&[u8]>,
    ) -> anyhow::Result<Answer> {
        let mut command = self.curl(path);
        command.args(["--include", "--request", method, "--header", "Expect:"]);
        for header in headers {
            command.args(["--header", header]);
        }
        if body.is_some() {
            command.args(["--data-binary", "@-"]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("starting curl")?;
        if let Some(mut input) = child.stdin.take() {
            // A service that refuses a body early closes the pipe before all of it is read.
            let _ = input.write_all(body.unwrap_or_default());
        }
        let output = child.wait_with_output()?;
        anyhow::ensure!(
            output.status.success() || !output.stdout.is_empty(),
            "{method} {path}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Answer::parse(&output.stdout).with_context(|| format!("{method} {path}"))
    }

    /// A curl command for `path`, for what [`Client::send`] has no way to say.
    #[must_use]
    pub fn curl(&self, path: &str) -> Command {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--max-time", "60", "--cacert"]);
        command.arg(&self.authority);
        if let Some(token) = &self.token {
            command.args(["--header", &format!("Authorization: Bearer {token}")]);
        }
        command.arg(format!("{}{path}", self.address));
        command
    }
}

impl Answer {
    fn parse(mut bytes: &[u8]) -> anyhow::Result<Self> {
        loop {
            let end = bytes
                .windows(4)
                .position(|window| window == b"\r\n\r\n")
                .context("an answer without a header")?;
            let (head, body) = (&bytes[..end], &bytes[end + 4..]);
            let head = String::from_utf8_lossy(head);
            let mut lines = head.split("\r\n");
            let status = lines.next().and_then(|line| line.split(' ').nth(1));
            let status = status.and_then(|text| text.parse().ok()).context("no status")?;
            // 100 Continue and its kin come before the answer.
            if status < 200 {
                bytes = body;
                continue;
            }
            let headers = lines.filter_map(|line| line.split_once(':'));
            let headers = headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect();
            return Ok(Self { status, headers, body: body.to_vec() });
        }
    }

    /// The body as JSON.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("no JSON: {}", self.text()))
    }

    /// The `code` of an error, after a look that the body has the one shape of errors.
    ///
    /// # Errors
    ///
    /// It has another one.
    pub fn code(&self) -> anyhow::Result<String> {
        let json = self.json()?;
        for field in ["timestamp", "status", "error", "message", "path", "code", "requestId"] {
            anyhow::ensure!(json.get(field).is_some(), "no {field} in {json}");
        }
        anyhow::ensure!(json["status"] == self.status, "{json}");
        Ok(json["code"].as_str().context("no text")?.to_owned())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The first header of this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(has, _)| has == name).map(|(_, value)| value.as_str())
    }

    /// The same answer, if it has this status.
    ///
    /// # Errors
    ///
    /// It has another one; the body is told.
    pub fn expect_status(self, status: u16) -> anyhow::Result<Self> {
        anyhow::ensure!(
            self.status == status,
            "{} instead of {status}: {}",
            self.status,
            self.text()
        );
        Ok(self)
    }
}
