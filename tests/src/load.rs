//! Clients that ask without a pause, each on a TLS connection of its own that stays open.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Where to ask, and for what.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "it holds a bearer token")]
pub struct Target {
    tls: TlsConnector,
    port: u16,
    pub(crate) authorization: String,
    bodies: Arc<[Bytes]>,
    pause: Duration,
    path: &'static str,
}

/// What the clients saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// How long each certificate took, asked for and answered within the time.
    pub took: Vec<Duration>,
    /// Other answers, by status; 0: no answer.
    pub refused: BTreeMap<u16, u64>,
    /// How many of those with 429 or 503 did not say when to come back.
    pub without_retry_after: u64,
}

/// How a long answer came.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Until its first bytes.
    pub first: Duration,
    /// Until its end.
    pub all: Duration,
    /// Its length.
    pub bytes: usize,
}

impl Target {
    /// Clients of the service on this port, with this bearer token.
    ///
    /// # Errors
    ///
    /// The root certificate can't be read.
    pub fn new(port: u16, root_pem: &str, token: &str, bodies: &[String]) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(root_pem.as_bytes())?)?;
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Self {
            tls: TlsConnector::from(Arc::new(config)),
            port,
            authorization: format!("Bearer {token}"),
            bodies: bodies.iter().map(|body| Bytes::from(body.clone())).collect(),
            pause: Duration::ZERO,
            path: "/api/certs/requestp10",
        })
    }

    /// The same, with a pause of each client after each answer.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// The same, which posts its bodies elsewhere.
    #[must_use]
    pub fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    pub(crate) async fn connect(&self) -> anyhow::Result<SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        stream.set_nodelay(true)?;
        let stream = self.tls.connect(ServerName::try_from("localhost")?, stream).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }

    /// Asks once; the answer is read to its end.
    async fn ask(
        &self,
        sender: &mut SendRequest<Full<Bytes>>,
        number: usize,
    ) -> anyhow::Result<(StatusCode, bool)> {
        let body = self.bodies.get(number % self.bodies.len()).context("no body")?.clone();
        let request = Request::post(self.path)
            .header(HOST, "localhost")
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))?;
        sender.ready().await?;
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let says_when = answer.headers().contains_key(RETRY_AFTER);
        answer.into_body().collect().await?;
        Ok((status, says_when))
    }

    /// Reads a whole answer, however long it is, as it comes.
    ///
    /// # Errors
    ///
    /// The service refuses it, or breaks it off.
    pub async fn read(&self, path: &str) -> anyhow::Result<Arrival> {
        let mut sender = self.connect().await?;
        let request = Request::get(path)
            .header(HOST, "localhost")
            .header(AUTHORIZATION, &self.authorization)
            .body(Full::new(Bytes::new()))?;
        sender.ready().await?;
        let began = Instant::now();
        let answer = sender.send_request(request).await?;
        anyhow::ensure!(answer.status() == StatusCode::OK, "{}", answer.status());
        let mut body = answer.into_body();
        let (mut first, mut bytes) = (None, 0);
        while let Some(frame) = body.frame().await {
            first.get_or_insert_with(|| began.elapsed());
            bytes += frame?.data_ref().map_or(0, Bytes::len);
        }
        Ok(Arrival { first: first.context("an empty answer")?, all: began.elapsed(), bytes })
    }

    /// Posts the same JSON so many times, one after the other: how long each answer took, in
    /// ascending order, and the last one.
    ///
    /// # Errors
    ///
    /// The service refuses it, or breaks it off.
    pub async fn post(
        &self,
        path: &str,
        body: &str,
        times: usize,
    ) -> anyhow::Result<(Vec<Duration>, Bytes)> {
        let mut sender = self.connect().await?;
        let (mut took, mut last) = (Vec::with_capacity(times), Bytes::new());
        for _ in 0..times {
            let request = Request::post(path)
                .header(HOST, "localhost")
                .header(AUTHORIZATION, &self.authorization)
                .header(CONTENT_TYPE, "application/json")
                .body(Full::new(Bytes::from(body.to_owned())))?;
            sender.ready().await?;
            let began = Instant::now();
            let answer = sender.send_request(request).await?;
            let status = answer.status();
            last = answer.into_body().collect().await?.to_bytes();
            took.push(began.elapsed());
            anyhow::ensure!(status == StatusCode::OK, "{status}: {last:?}");
        }
        took.sort_unstable();
        Ok((took, last))
    }

    /// One client, until the end. What began or ended outside the time does not count.
    async fn client(self, first: usize, from: Instant, until: Instant) -> anyhow::Result<Seen> {
        let mut seen = Seen::default();
        let mut sender = None;
        for number in first.. {
            let began = Instant::now();
            if began >= until {
                break;
            }
            let connected = match sender.take() {
                Some(connected) => Ok(connected),
                None => self.connect().await,
            };
            let answer = match connected {
                Ok(mut connected) => {
                    let answer = self.ask(&mut connected, number).await;
                    if answer.is_ok() {
                        sender = Some(connected);
                    }
                    answer
                }
                Err(error) => Err(error),
            };
            let ended = Instant::now();
            if self.pause > Duration::ZERO {
                tokio::time::sleep(self.pause).await;
            }
            if began < from || ended > until {
                continue;
            }
            match answer {
                Ok((StatusCode::OK, _)) => seen.took.push(ended - began),
                Ok((status, says_when)) => {
                    *seen.refused.entry(status.as_u16()).or_default() += 1;
                    let is_for_now =
                        [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS]
                            .contains(&status);
                    seen.without_retry_after += u64::from(is_for_now && !says_when);
                }
                Err(_) => *seen.refused.entry(0).or_default() += 1,
            }
        }
        Ok(seen)
    }

    /// So many clients, from now until `until`; what they see before `from` is not counted.
    ///
    /// # Errors
    ///
    /// A client can't go on at all: never for what the service does.
    pub async fn clients(
        &self,
        clients: usize,
        from: Instant,
        until: Instant,
    ) -> anyhow::Result<Seen> {
        let mut tasks = JoinSet::new();
        for number in 0..clients {
            tasks.spawn(self.clone().client(number, from, until));
        }
        let mut all = Seen::default();
        while let Some(seen) = tasks.join_next().await {
            let Seen { took, refused, without_retry_after } = seen??;
            all.without_retry_after += without_retry_after;
            all.took.extend(took);
            for (status, times) in refused {
                *all.refused.entry(status).or_default() += times;
            }
        }
        all.took.sort_unstable();
        Ok(all)
    }
}

impl Seen {
    /// The time within which this share of the certificates came, in milliseconds.
    #[must_use]
    pub fn percentile(&self, per_cent: usize) -> f64 {
        percentile(&self.took, per_cent).as_secs_f64() * 1e3
    }
}

/// The time within which this share of what is told in ascending order was done.
#[must_use]
pub fn percentile(took: &[Duration], per_cent: usize) -> Duration {
    let at = (took.len().saturating_sub(1) * per_cent).div_ceil(100);
    took.get(at).copied().unwrap_or_default()
}
