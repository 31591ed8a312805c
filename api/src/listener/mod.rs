//! The listeners: where bytes from the network enter.
//!
//! Peer:     anyone who reaches the port.
//! Trusts:   nothing; TLS says that we are we, not who they are.
//! Promises: a peer that is slow, silent or gone costs a bounded time and no one else's.
//! Never:    waits without a deadline for a handshake or a header.

mod identity;
mod temporary;

#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum_server::Handle;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto::Builder;
use tokio::task::JoinHandle;

pub use identity::{IdentityError, ServerIdentity};

/// A port that can't be had.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another process has it.
    #[error("port {port} of {address} is taken; set another one with the key {key}")]
    Taken {
        /// Where.
        address: IpAddr,
        /// Which.
        port: u16,
        /// The configuration key to change.
        key: &'static str,
    },
    /// It can't be had for another reason.
    #[error("port {port} of {address} can't be opened")]
    Io {
        /// Where.
        address: IpAddr,
        /// Which.
        port: u16,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Opens a port, which the configuration names under `key`.
///
/// # Errors
///
/// See [`BindError`].
pub fn bind(address: IpAddr, port: u16, key: &'static str) -> Result<TcpListener, BindError> {
    TcpListener::bind((address, port)).map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => BindError::Taken { address, port, key },
        _ => BindError::Io { address, port, source },
    })
}

/// A listener that serves until it is stopped.
#[derive(Debug)]
pub struct Listening {
    handle: Handle<SocketAddr>,
    task: JoinHandle<io::Result<()>>,
}

/// Serves `router` over TLS, HTTP/1.1 and HTTP/2, under the certificate of `identity` at the time
/// of each handshake.
///
/// # Errors
///
/// If the port can't be waited on, or TLS has no usable settings.
pub fn serve_tls(
    port: TcpListener,
    router: Router,
    identity: &ServerIdentity,
) -> io::Result<Listening> {
    let config = RustlsConfig::from_config(Arc::new(identity.tls()?));
    let acceptor = RustlsAcceptor::new(config)
        .handshake_timeout(HANDSHAKE_TIMEOUT)
        .acceptor(NoDelayAcceptor::new());
    port.set_nonblocking(true)?;
    let handle = Handle::new();
    let mut server = axum_server::from_tcp(port)?
        .acceptor(acceptor)
        .handle(handle.clone())
        .first_request_timeout(FIRST_REQUEST_TIMEOUT);
    set_limits(server.http_builder());
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    Ok(Listening { handle, task: tokio::spawn(server.serve(service)) })
}

/// Serves `router` without TLS: for loopback, and for what has to be read without TLS.
///
/// # Errors
///
/// If the port can't be waited on.
pub fn serve_plain(port: TcpListener, router: Router) -> io::Result<Listening> {
    port.set_nonblocking(true)?;
    let handle = Handle::new();
    let mut server = axum_server::from_tcp(port)?
        .handle(handle.clone())
        .first_request_timeout(FIRST_REQUEST_TIMEOUT);
    set_limits(server.http_builder());
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    Ok(Listening { handle, task: tokio::spawn(server.serve(service)) })
}

impl Listening {
    /// Takes no more connections, lets requests finish for `wait`, then ends what is left.
    pub async fn stop(self, wait: Duration) {
        self.handle.graceful_shutdown(Some(wait));
        match self.task.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a listener ended badly"),
            Err(error) => tracing::warn!(%error, "a listener's task ended badly"),
        }
    }
}

fn set_limits(http: &mut Builder<TokioExecutor>) {
    http.http1().header_read_timeout(HEADER_TIMEOUT).max_headers(MAX_HEADERS);
    http.http2()
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_LIST)
        // A peer that is gone without a word is found out.
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE);
}

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// More headers than the service takes, so that it can say so itself: what hyper refuses has no
/// body, and there is no way to give it one. Not many more: hyper takes the room for as many with
/// every request.
const MAX_HEADERS: usize = 256;
/// The same for their bytes.
const MAX_HEADER_LIST: u32 = 512 * 1024;
const MAX_STREAMS: u32 = 128;
