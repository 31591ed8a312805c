//! What clients get wrong, and clients that are slow or many.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chancery_tests::openssl::Workbench;
use chancery_tests::{Installation, Plan};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;

const PATH: &str = "/api/certs/requestp10";

#[test]
fn a_body_that_is_wrong_is_answered_in_the_error_shape() -> anyhow::Result<()> {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let json_type = ["Content-Type: application/json"];
    let large = vec![b' '; 2 * 1024 * 1024];
    let deep = "[".repeat(100_000);

    for (what, headers, body, status, code) in [
        ("nothing", &json_type[..], &b""[..], 400, "malformed_request"),
        ("half a body", &json_type, br#"{"caName": "Chan"#, 400, "malformed_request"),
        ("no UTF-8", &json_type, b"{\"caName\": \"\xff\xfe\"}", 400, "malformed_request"),
        ("depth", &json_type, deep.as_bytes(), 400, "malformed_request"),
        ("an array", &json_type, b"[]", 400, "malformed_request"),
        (
            "a number for a name",
            &json_type,
            br#"{"caName": 1, "csr": "x"}"#,
            400,
            "invalid_request",
        ),
        (
            "an unknown field",
            &json_type,
            br#"{"caName": "x", "csr": "x", "cn": 1}"#,
            400,
            "invalid_request",
        ),
        ("a field twice", &json_type, br#"{"csr": "x", "csr": "y"}"#, 400, "invalid_request"),
        ("2 MiB", &json_type, &large, 413, "body_too_large"),
        (
            "a form",
            &["Content-Type: application/x-www-form-urlencoded"],
            b"a=b",
            415,
            "unsupported_media_type",
        ),
        ("XML", &["Content-Type: text/xml"], b"<a/>", 415, "unsupported_media_type"),
    ] {
        let answer = administrator.send("POST", PATH, headers, Some(body))?;

        assert_eq!(answer.status, status, "{what}: {}", answer.text());
        assert_eq!(answer.code()?, code, "{what}");
    }
    Ok(())
}

#[test]
fn a_request_that_can_not_be_met_says_what_and_why() -> anyhow::Result<()> {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let bench = Workbench::new()?;
    let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test")?;
    let weak = bench.key(&["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])?;
    let weak = bench.request(&weak, "/CN=weak.example.test", "DNS:weak.example.test")?;
    let long = "x".repeat(4097);
    let many: Vec<_> = (0..21).map(|n| format!("a{n}@example.test")).collect();

    for (body, status, code) in [
        (json!({"caName": "No such", "csr": csr}), 422, "unknown_issuer"),
        (
            json!({"caName": "Chancery Issuer", "csr": csr, "teamName": "No such"}),
            422,
            "unknown_team",
        ),
        (json!({"caName": "Chancery Issuer", "csr": "no CSR"}), 400, "bad_csr"),
        (json!({"caName": "Chancery Issuer", "csr": weak}), 422, "policy_violation"),
        (
            json!({"caName": "Chancery Issuer", "csr": csr, "extraInfo": long}),
            400,
            "invalid_request",
        ),
        (
            json!({"caName": "Chancery Issuer", "csr": csr, "extraEmails": many}),
            400,
            "invalid_request",
        ),
        (
            json!({"caName": "Chancery Issuer", "csr": csr, "p12Password": "x"}),
            400,
            "invalid_request",
        ),
        (json!({"csr": csr}), 400, "invalid_request"),
        (json!({"caName": "Chancery Issuer"}), 400, "bad_csr"),
    ] {
        let answer = administrator.post(PATH, &body)?;

        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        assert_eq!(answer.code()?, code, "{body}: {}", answer.text());
    }
    // Fields that deployed clients send empty are no error.
    let empty = json!({
        "caName": "Chancery Issuer", "csr": csr, "teamName": "", "p12Password": null, "dn": "",
        "extraEmails": [""], "subjectAltNames": [null], "csrGeneratorName": "", "reverseCsrDn": false,
    });
    administrator.request_with(&empty)?;
    Ok(())
}

#[test]
fn ids_and_paths_that_do_not_exist_are_404_in_the_error_shape() -> anyhow::Result<()> {
    let installation = Installation::start();
    let administrator = installation.administrator();

    for path in [
        "/api/certs/0123456789abcdef01234567",
        "/api/certs/not-an-id",
        "/api/certs/..%2f..%2fetc%2fpasswd",
        "/api/no/such/path",
    ] {
        let answer = administrator.get(path)?;

        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        assert_eq!(answer.code()?, "not_found", "{path}");
    }
    let method = administrator.send("DELETE", PATH, &[], None)?;
    assert_eq!((method.status, method.header("allow")), (405, Some("POST")));
    Ok(())
}

/// A TLS connection of our own: curl can't be slow enough.
fn connect(
    installation: &Installation,
) -> anyhow::Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(installation.root_pem().as_bytes())?)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost")?;
    let connection = ClientConnection::new(Arc::new(config), name)?;
    let stream = TcpStream::connect(("127.0.0.1", installation.port()))?;
    Ok(StreamOwned::new(connection, stream))
}

/// Sends `head`, then a byte a second, until the service answers or hangs up; what it said.
fn dribble(installation: &Installation, head: &[u8]) -> anyhow::Result<String> {
    let mut stream = connect(installation)?;
    stream.write_all(head)?;
    stream.flush()?;
    stream.sock.set_read_timeout(Some(Duration::from_secs(1)))?;
    let began = Instant::now();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while began.elapsed() < Duration::from_mins(1) {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => answer.extend(buffer.iter().take(length)),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if stream.write_all(b" ").and_then(|()| stream.flush()).is_err() {
                    break;
                }
            }
            // It hung up without the courtesies of TLS.
            Err(_) => break,
        }
    }
    anyhow::ensure!(began.elapsed() < Duration::from_mins(1), "it let a slow client go on");
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn a_byte_a_second_is_cut_off_and_others_are_served_meanwhile() -> anyhow::Result<()> {
    let lines = vec!["request.body.timeout.seconds=5"];
    let installation = Installation::start_as(Plan { api_lines: lines, ..Plan::default() });
    let token = installation.administrator().token().unwrap_or_default().to_owned();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    );

    let (body, header) = std::thread::scope(|scope| {
        let body = scope.spawn(|| dribble(&installation, head.as_bytes()));
        let header = scope.spawn(|| dribble(&installation, b"GET /api/certs HTTP/1.1\r\nX-A: "));
        let live = installation.service().get("/health/live");
        assert_eq!(live.expect("an answer").status, 200);
        (body.join(), header.join())
    });

    let body = body.expect("the client")?;
    assert!(body.starts_with("HTTP/1.1 408 "), "{body}");
    assert!(body.contains("\"code\":\"request_timeout\""), "{body}");
    header.expect("the client")?;
    Ok(())
}

#[test]
fn two_thousand_idle_connections_keep_no_one_out() -> anyhow::Result<()> {
    let installation = Installation::start();
    raise_file_limit()?;
    let connect = || TcpStream::connect(("127.0.0.1", installation.port()));
    let idle = (0..2_000).map(|_| connect()).collect::<Result<Vec<_>, _>>()?;
    let bench = Workbench::new()?;
    let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test")?;

    let began = Instant::now();
    installation.administrator().request(&csr)?;

    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    drop(idle);
    Ok(())
}

fn raise_file_limit() -> anyhow::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}
