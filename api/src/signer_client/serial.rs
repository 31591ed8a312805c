//! Serial nonces, each good for one request on the connection that it was drawn from.

use std::sync::Arc;

use chancery_shared::bytes::{Fixed, SerialNonce};

use super::SignerClient;
use super::connection::Connection;
use super::error::SignerError;

/// The connection on which a drawn nonce counts. It is used up by the request.
#[derive(Debug)]
pub struct ConnectionHandle(pub(super) Arc<Connection>);

impl SignerClient {
    /// A nonce from which to make a serial number, and where to send the request that has it.
    ///
    /// # Errors
    ///
    /// [`SignerError::Unreachable`] where no connection comes up within a moment.
    pub async fn serial_nonce(&self) -> Result<(SerialNonce, ConnectionHandle), SignerError> {
        let connection = self.connection().await?;
        // Connection's nonce, counter, and what makes the serial unpredictable to the signer too.
        let mut nonce = [0; 40];
        let (head, tail) = nonce.split_at_mut(16);
        let (counter, tail) = tail.split_at_mut(8);
        head.copy_from_slice(&connection.nonce().0);
        counter.copy_from_slice(&connection.next_count().to_be_bytes());
        self.shared.random.fill(tail);
        Ok((Fixed(nonce), ConnectionHandle(connection)))
    }
}
