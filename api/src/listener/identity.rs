//! The certificate that the service shows, which may change while it serves.

use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::{default_provider, sign};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::temporary;
use crate::clock::Clock;
use crate::random::Random;

/// The chain and key of the service. Clones share one: a change holds from the next handshake on.
#[derive(Clone)]
pub struct ServerIdentity(Arc<RwLock<Arc<CertifiedKey>>>);

/// Why a chain and a key are no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The key can't be read.
    #[error("the server's private key can't be used")]
    Key(#[source] rustls::Error),
    /// The first certificate is not the key's.
    #[error("the server's certificate does not belong to its private key")]
    Mismatch(#[source] rustls::Error),
    /// A temporary certificate could not be made.
    #[error("a temporary server certificate can't be made")]
    Temporary(#[source] temporary::TemporaryError),
}

impl ServerIdentity {
    /// A certificate that nobody vouches for, for the time until there is a real one: what the
    /// service says about why there is none can be read all the same.
    ///
    /// # Errors
    ///
    /// [`IdentityError::Temporary`]
    pub fn temporary(clock: &dyn Clock, random: &dyn Random) -> Result<Self, IdentityError> {
        let made = temporary::make(clock.now(), random).map_err(IdentityError::Temporary)?;
        let key = certified(vec![made.certificate], made.key)?;
        Ok(Self(Arc::new(RwLock::new(Arc::new(key)))))
    }

    /// Shows `chain` (DER, the service's own certificate first) from the next handshake on. The
    /// key is PKCS#8 DER.
    ///
    /// # Errors
    ///
    /// See [`IdentityError`]; then nothing has changed.
    pub fn set(&self, chain: Vec<Vec<u8>>, key: Vec<u8>) -> Result<(), IdentityError> {
        let key = Arc::new(certified(chain, key)?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = key;
        Ok(())
    }

    /// DER of the certificate that is shown now.
    pub fn certificate(&self) -> Vec<u8> {
        let key = self.current();
        key.cert.first().map(|certificate| certificate.to_vec()).unwrap_or_default()
    }

    /// TLS 1.2 and 1.3 under this identity.
    pub(super) fn tls(&self) -> io::Result<ServerConfig> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self.clone()));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    fn current(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for ServerIdentity {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

impl fmt::Debug for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerIdentity(..)")
    }
}

fn certified(chain: Vec<Vec<u8>>, key: Vec<u8>) -> Result<CertifiedKey, IdentityError> {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key));
    let key = sign::any_supported_type(&key).map_err(IdentityError::Key)?;
    let chain = chain.into_iter().map(CertificateDer::from).collect();
    let certified = CertifiedKey::new(chain, key);
    certified.keys_match().map_err(IdentityError::Mismatch)?;
    Ok(certified)
}
