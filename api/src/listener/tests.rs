//! A real listener on a port of its own, spoken to byte by byte.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;

use axum::routing::get;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned,
    SupportedProtocolVersion,
};

use super::*;
use crate::clock::TestClock;
use crate::random::SystemRandom;

#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = default_provider().signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = default_provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}

type Tls = StreamOwned<ClientConnection, TcpStream>;

fn connect(to: SocketAddr, version: &'static SupportedProtocolVersion) -> io::Result<Tls> {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let socket = TcpStream::connect(to)?;
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut tls = StreamOwned::new(client, socket);
    tls.conn.complete_io(&mut tls.sock)?;
    Ok(tls)
}

fn ask(tls: &mut Tls, request: &str) -> io::Result<String> {
    tls.write_all(request.as_bytes())?;
    let mut text = vec![0; 4096];
    let length = tls.read(&mut text)?;
    Ok(String::from_utf8_lossy(&text[..length]).into_owned())
}

fn start(router: Router) -> (Listening, SocketAddr, ServerIdentity) {
    let identity = ServerIdentity::temporary(&TestClock::default(), &SystemRandom).unwrap();
    let port = bind(Ipv4Addr::LOCALHOST.into(), 0, "port").unwrap();
    let address = port.local_addr().unwrap();
    (serve_tls(port, router, &identity).unwrap(), address, identity)
}

fn router() -> Router {
    Router::new().route("/", get(|| async { "hello" }))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test]
async fn both_versions_of_tls_are_spoken_and_nothing_else() {
    let (_listening, address, _) = start(router());

    blocking(move || {
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            let mut tls = connect(address, version).unwrap();
            let answer = ask(&mut tls, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        }
        let mut plain = TcpStream::connect(address).unwrap();
        plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        plain.read_to_end(&mut answer).unwrap();
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    })
    .await;
}

#[tokio::test]
async fn a_new_certificate_holds_from_the_next_handshake_on() {
    let (_listening, address, identity) = start(router());
    let first = identity.certificate();
    let shown = move || {
        let tls = connect(address, &rustls::version::TLS13).unwrap();
        tls.conn.peer_certificates().unwrap()[0].to_vec()
    };
    assert_eq!(blocking(shown).await, first);

    let made =
        temporary::make(time::macros::datetime!(2026-11-28 0:00 UTC), &SystemRandom).unwrap();
    identity.set(vec![made.certificate.clone()], made.key).unwrap();

    assert_eq!(blocking(shown).await, made.certificate);
    let foreign = identity.set(vec![first], b"no key".to_vec());
    assert!(matches!(foreign, Err(IdentityError::Key(_))), "{foreign:?}");
    assert_eq!(identity.certificate(), made.certificate, "nothing has changed");
}

#[tokio::test]
async fn a_certificate_of_another_key_is_refused() {
    let now = time::macros::datetime!(2026-11-28 0:00 UTC);
    let identity = ServerIdentity::temporary(&TestClock::default(), &SystemRandom).unwrap();
    let (one, two) = (
        temporary::make(now, &SystemRandom).unwrap(),
        temporary::make(now, &SystemRandom).unwrap(),
    );

    let result = identity.set(vec![one.certificate], two.key);

    assert!(matches!(result, Err(IdentityError::Mismatch(_))), "{result:?}");
}

#[tokio::test]
async fn a_stop_waits_for_the_request_that_runs_and_not_for_idle_connections() {
    let (entered, started) = tokio::sync::oneshot::channel();
    let entered = Arc::new(std::sync::Mutex::new(Some(entered)));
    let gate = Arc::new(tokio::sync::Notify::new());
    let open = Arc::clone(&gate);
    let slow = move || {
        entered.lock().unwrap().take().unwrap().send(()).unwrap();
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            "done"
        }
    };
    let (listening, address, _) = start(router().route("/slow", get(slow)));
    let idle = blocking(move || {
        let mut tls = connect(address, &rustls::version::TLS13).unwrap();
        ask(&mut tls, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        tls
    })
    .await;
    let running = tokio::task::spawn_blocking(move || {
        let mut tls = connect(address, &rustls::version::TLS13).unwrap();
        ask(&mut tls, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap()
    });
    started.await.unwrap();

    let stopping = tokio::spawn(listening.stop(Duration::from_secs(30)));
    open.notify_one();

    let answer = running.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("done"), "{answer}");
    stopping.await.unwrap();
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
    drop(idle);
}

#[tokio::test]
async fn a_stop_ends_a_request_that_does_not_finish_in_time() {
    let never = || async {
        std::future::pending::<()>().await;
        "never"
    };
    let (listening, address, _) = start(Router::new().route("/", get(never)));
    let running = tokio::task::spawn_blocking(move || {
        let mut tls = connect(address, &rustls::version::TLS13).unwrap();
        ask(&mut tls, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    });

    listening.stop(Duration::from_millis(1)).await;

    let answer = running.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    assert!(answer.as_ref().map_or(true, String::is_empty), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_idle_connections_keep_nobody_else_waiting() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let (listening, address, _) = start(router());

    blocking(move || {
        let idle: Vec<_> = (0..2000).map(|_| TcpStream::connect(address).unwrap()).collect();
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            let mut tls = connect(address, version).unwrap();
            let answer = ask(&mut tls, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        }
        drop(idle);
    })
    .await;

    listening.stop(Duration::from_secs(30)).await;
}

#[test]
fn a_taken_port_is_told_with_the_key_to_change() {
    let taken = bind(Ipv4Addr::LOCALHOST.into(), 0, "port").unwrap();
    let port = taken.local_addr().unwrap().port();

    let error = bind(Ipv4Addr::LOCALHOST.into(), port, "port").unwrap_err();

    let expected = format!("port {port} of 127.0.0.1 is taken; set another one with the key port");
    assert_eq!(error.to_string(), expected);
}
