//! Who may speak: the kernel says which user opened a connection.
//!
//! Peer:     any process that can reach the socket's file.
//! Trusts:   SO_PEERCRED, which no process can choose for itself.
//! Promises: a refused peer gets a closed socket before a byte of it is read.
//! Never:    makes an exception for root, which has no reason to ask here.

use tokio::net::UnixStream;

/// The only user that may open connections of one socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmittedUid(pub u32);

/// Why a connection was closed before its first frame was read.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// The kernel did not answer.
    #[error("the kernel did not say who connected")]
    Unknown(#[source] std::io::Error),
    /// Another user.
    #[error("user {uid} is not admitted here")]
    WrongUser {
        /// Who connected.
        uid: u32,
    },
}

/// Lets the peer in if it runs as the admitted user; answers its uid.
///
/// # Errors
///
/// Any other user, root included.
pub fn admit(stream: &UnixStream, admitted: AdmittedUid) -> Result<u32, NotAdmitted> {
    let uid = stream.peer_cred().map_err(NotAdmitted::Unknown)?.uid();
    if uid == admitted.0 { Ok(uid) } else { Err(NotAdmitted::WrongUser { uid }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_configured_user_is_admitted() {
        let (stream, _peer) = UnixStream::pair().unwrap();
        let me = rustix::process::geteuid().as_raw();

        assert_eq!(admit(&stream, AdmittedUid(me)).unwrap(), me);
        assert!(matches!(
            admit(&stream, AdmittedUid(me + 1)),
            Err(NotAdmitted::WrongUser { uid }) if uid == me
        ));
    }
}
