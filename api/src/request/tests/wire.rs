//! Refusals as a client sees them that speaks HTTP/1.1 byte by byte.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::app;
use crate::listener::{self, Listening};
use crate::testing::{Api, api_with};

struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self(BufReader::new(socket))
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    /// Status and body of the next answer.
    fn answer(&mut self) -> (u16, Value) {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut length = 0;
        while line != "\r\n" {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            let lower = line.to_ascii_lowercase();
            length = lower
                .strip_prefix("content-length:")
                .map_or(length, |length| length.trim().parse().unwrap());
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }
}

async fn start() -> (Api, Listening, SocketAddr) {
    let api = api_with(|config| config.max_body = 100).await;
    let port = listener::bind(Ipv4Addr::LOCALHOST.into(), 0, "port").unwrap();
    let address = port.local_addr().unwrap();
    let listening = listener::serve_plain(port, app::router(&api.state)).unwrap();
    (api, listening, address)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

const CHUNKED: &[u8] = b"POST /api/login HTTP/1.1\r\nHost: localhost\r\n\
    Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

#[tokio::test]
async fn a_body_over_the_limit_has_its_answer_at_once_and_the_connection_goes_on() {
    let (_api, _listening, address) = start().await;

    blocking(move || {
        let mut client = Client::connect(address);
        client.send(CHUNKED);
        client.send(format!("65\r\n{}\r\n", "x".repeat(0x65)).as_bytes());
        let (status, body) = client.answer();
        assert_eq!((status, &body["code"]), (413, &Value::from("body_too_large")), "{body}");

        client.send(format!("64\r\n{}\r\n0\r\n\r\n", "x".repeat(0x64)).as_bytes());
        client.send(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(client.answer().0, 200);
    })
    .await;
}

#[tokio::test]
async fn a_client_that_sends_all_before_it_reads_sees_why_it_was_refused() {
    let (_api, _listening, address) = start().await;

    blocking(move || {
        let mut client = Client::connect(address);
        client.send(CHUNKED);
        for _ in 0..8 {
            client.send(format!("64\r\n{}\r\n", "x".repeat(0x64)).as_bytes());
        }
        client.send(b"0\r\n\r\n");
        assert_eq!(client.answer().0, 413);
    })
    .await;
}

#[tokio::test]
async fn who_asks_before_sending_fifty_mib_is_refused_before_a_byte_of_them() {
    let (_api, _listening, address) = start().await;

    blocking(move || {
        let mut client = Client::connect(address);
        let head = "POST /api/login HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\
                    Content-Type: application/json\r\nContent-Length: 52428800\r\n\r\n";
        client.send(head.as_bytes());
        let (status, body) = client.answer();
        assert_eq!((status, &body["code"]), (413, &Value::from("body_too_large")), "{body}");
    })
    .await;
}

#[tokio::test]
async fn too_many_headers_are_refused_in_the_one_shape() {
    let (_api, _listening, address) = start().await;

    blocking(move || {
        let mut client = Client::connect(address);
        client.send(b"GET /api/currentuser HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: mine\r\n");
        for _ in 0..200 {
            client.send(b"X-More: 1\r\n");
        }
        client.send(b"\r\n");
        let (status, body) = client.answer();
        assert_eq!(status, 431);
        assert_eq!(
            (&body["code"], &body["requestId"]),
            (&"headers_too_large".into(), &"mine".into())
        );
    })
    .await;
}

#[tokio::test]
async fn a_refusal_before_the_body_came_leaves_the_connection_for_the_next_request() {
    let (_api, _listening, address) = start().await;

    blocking(move || {
        let mut client = Client::connect(address);
        for _ in 0..20 {
            client.send(
                b"POST /api/certs/requestp10 HTTP/1.1\r\nHost: localhost\r\n\
                  Content-Type: application/json\r\nContent-Length: 2\r\n\r\n",
            );
            client.send(b"{}");
            assert_eq!(client.answer().0, 401);
        }
        client.send(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(client.answer().0, 200);
    })
    .await;
}
