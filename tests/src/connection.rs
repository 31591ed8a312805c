//! One TLS connection that stays open, for tests with hundreds of requests.

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::installation::Installation;
use crate::issue::{ISSUER, Issued};
use crate::load::Target;

/// A persona on a connection of its own.
#[expect(missing_debug_implementations, reason = "it holds a bearer token")]
pub struct Connection {
    runtime: Runtime,
    sender: SendRequest<Full<Bytes>>,
    authorization: String,
}

impl Connection {
    /// The administrator of an installation.
    ///
    /// # Errors
    ///
    /// The service does not take the connection.
    pub fn of_administrator(installation: &Installation) -> anyhow::Result<Self> {
        let administrator = installation.administrator();
        let token = administrator.token().context("no token")?;
        let target = Target::new(installation.port(), &installation.root_pem(), token, &[])?;
        // One worker: it drives the connection between the requests.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let sender = runtime.block_on(target.connect())?;
        Ok(Self { runtime, sender, authorization: target.authorization })
    }

    /// Asks [`ISSUER`] for a certificate.
    ///
    /// # Errors
    ///
    /// The service refuses it; its answer is told.
    pub fn request(&mut self, csr: &str) -> anyhow::Result<Issued> {
        let (status, answer) = self.ask(csr)?;
        let text = |field: &str| answer[field].as_str().map(str::to_owned);
        match (status, text("certId"), text("pemCert")) {
            (200, Some(id), Some(pem)) => Ok(Issued { id, pem }),
            _ => anyhow::bail!("{status}: {answer}"),
        }
    }

    /// Asks [`ISSUER`] for a certificate; the result is status and body, whatever they are.
    ///
    /// # Errors
    ///
    /// No answer.
    pub fn ask(&mut self, csr: &str) -> anyhow::Result<(u16, Value)> {
        let body = json!({"caName": ISSUER, "csr": csr});
        self.send(Method::POST, "/api/certs/requestp10", body.to_string())
    }

    /// The record of a certificate.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn record(&mut self, id: &str) -> anyhow::Result<Value> {
        let (status, record) =
            self.send(Method::GET, &format!("/api/certs/{id}"), String::new())?;
        anyhow::ensure!(status == 200, "{status}: {record}");
        Ok(record)
    }

    fn send(&mut self, method: Method, path: &str, body: String) -> anyhow::Result<(u16, Value)> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, "localhost")
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?;
        self.runtime.block_on(async {
            self.sender.ready().await?;
            let answer = self.sender.send_request(request).await?;
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await?.to_bytes();
            Ok((status, serde_json::from_slice(&body)?))
        })
    }
}
