//! CAs that a test makes in a signer over its API socket.

use anyhow::{Context as _, bail};
use chancery_shared::bytes::Bytes;
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{
    CreateCaKey, KeyCreated, KeyRole, Reply, Request, SignCaCertificate, SignOwnCertificate,
};
use chancery_shared::wire::{Context, Outcome};
use time::OffsetDateTime;

use crate::clock::now;
use crate::forge::der::{boolean, context, integer, octets, sequence};
use crate::forge::subject::common_name;
use crate::forge::{self, Forged, Issuer, Serial, critical, oids, plain};
use crate::peer::Peer;
use crate::signer_home::SignerHome;

/// A CA in the signer: what a peer has to know to ask for certificates.
#[derive(Clone, Debug)]
pub struct Ca {
    /// Its key.
    pub key_id: KeyId,
    /// DER of its Name.
    pub subject: Vec<u8>,
    /// DER of its SubjectPublicKeyInfo.
    pub spki: Vec<u8>,
    /// Its subjectKeyIdentifier.
    pub key_identifier: Vec<u8>,
    /// DER of its certificate.
    pub certificate: Vec<u8>,
    algorithm: SignatureAlgorithm,
}

impl Ca {
    /// A CA of that name with this key, without a certificate yet.
    ///
    /// # Errors
    ///
    /// The SubjectPublicKeyInfo is none.
    pub fn of(key: KeyCreated, name: &str, algorithm: SignatureAlgorithm) -> anyhow::Result<Self> {
        Ok(Self {
            key_id: key.key_id,
            subject: common_name(name),
            key_identifier: forge::key_identifier(&bits_of(&key.spki.0)?),
            spki: key.spki.0,
            certificate: Vec::new(),
            algorithm,
        })
    }

    /// As the issuer of a TBS.
    #[must_use]
    pub fn issuer(&self) -> Issuer<'_> {
        Issuer {
            subject: &self.subject,
            key_identifier: &self.key_identifier,
            algorithm: self.algorithm.algorithm_identifier(),
        }
    }
}

impl SignerHome {
    /// Makes a self-signed CA over the API socket.
    ///
    /// # Errors
    ///
    /// The signer refused.
    pub fn create_ca(&self, peer: &mut Peer, name: &str) -> anyhow::Result<Ca> {
        let (key, signature) = (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256);
        self.create_ca_with(peer, name, key, signature, None, &[])
    }

    /// As [`Self::create_ca`], with that algorithm, that policy and more extensions.
    ///
    /// # Errors
    ///
    /// The signer refused.
    pub fn create_ca_with(
        &self,
        peer: &mut Peer,
        name: &str,
        key_algorithm: KeyAlgorithm,
        algorithm: SignatureAlgorithm,
        policy: Option<Policy>,
        extensions: &[forge::Extension],
    ) -> anyhow::Result<Ca> {
        let mut ca = self.create_key(peer, name, key_algorithm, algorithm, policy)?;
        self.certify_itself(peer, &mut ca, extensions)?;
        Ok(ca)
    }

    /// Has the CA's key sign its own certificate.
    ///
    /// # Errors
    ///
    /// The signer refused.
    pub fn certify_itself(
        &self,
        peer: &mut Peer,
        ca: &mut Ca,
        extensions: &[forge::Extension],
    ) -> anyhow::Result<()> {
        let mut tbs = own_tbs(ca, now());
        tbs.extensions.extend_from_slice(extensions);
        self.certify_itself_with(peer, ca, &tbs)
    }

    /// Has the CA's key sign this TBS as its own certificate.
    ///
    /// # Errors
    ///
    /// The signer refused.
    pub fn certify_itself_with(
        &self,
        peer: &mut Peer,
        ca: &mut Ca,
        tbs: &Forged,
    ) -> anyhow::Result<()> {
        let serial_nonce = peer.fresh_nonce();
        let tbs = tbs.der(&serial_nonce.0);
        let request = Request::SignOwnCertificate(SignOwnCertificate {
            key_id: ca.key_id,
            tbs: Bytes(tbs.clone()),
            serial_nonce,
            context: Context::default(),
        });
        ca.certificate = self.signed(peer, &request, &tbs)?;
        Ok(())
    }
}

impl SignerHome {
    /// Makes a CA below `parent` whose key is the signer's too.
    ///
    /// # Errors
    ///
    /// The signer refused.
    pub fn create_ca_below(&self, peer: &mut Peer, parent: &Ca, name: &str) -> anyhow::Result<Ca> {
        let algorithm = SignatureAlgorithm::EcdsaSha256;
        let mut ca = self.create_key(peer, name, KeyAlgorithm::EcdsaP256, algorithm, None)?;
        let (request, tbs) = Self::certify_below(peer, parent, &ca);
        ca.certificate = self.signed(peer, &request, &tbs)?;
        Ok(ca)
    }

    /// Asks `parent` to certify the key of `ca`; beside the request its TBS.
    pub fn certify_below(peer: &mut Peer, parent: &Ca, ca: &Ca) -> (Request, Vec<u8>) {
        let now = now();
        let mut tbs = own_tbs(ca, now);
        tbs.issuer.clone_from(&parent.subject);
        tbs.not_after = forge::at(now + time::Duration::days(3_000));
        let authority =
            plain(oids::AUTHORITY_KEY_IDENTIFIER, forge::authority(&parent.key_identifier));
        tbs.extensions.insert(0, authority);
        let serial_nonce = peer.fresh_nonce();
        let tbs = tbs.der(&serial_nonce.0);
        let request = Request::SignCaCertificate(SignCaCertificate {
            key_id: parent.key_id,
            tbs: Bytes(tbs.clone()),
            csr: None,
            serial_nonce,
            context: Context::default(),
        });
        (request, tbs)
    }

    /// Makes a key without a certificate, for a CA of that name.
    ///
    /// # Errors
    ///
    /// The signer refused.
    pub fn create_key(
        &self,
        peer: &mut Peer,
        name: &str,
        key_algorithm: KeyAlgorithm,
        algorithm: SignatureAlgorithm,
        policy: Option<Policy>,
    ) -> anyhow::Result<Ca> {
        let created = peer.ask(&Request::CreateCaKey(CreateCaKey {
            token: "SoftHSM2".into(),
            key_algorithm,
            signature_algorithm: algorithm,
            role: KeyRole::Ca,
            policy,
            context: Context::default(),
        }))?;
        let Outcome::Done(Reply::KeyCreated(key)) = created.outcome else {
            bail!("{:?}\n{}", created.outcome, self.log());
        };
        Ca::of(key, name, algorithm)
    }

    /// The certificate that the signer makes of this TBS.
    ///
    /// # Errors
    ///
    /// The signer refused.
    pub fn signed(
        &self,
        peer: &mut Peer,
        request: &Request,
        tbs: &[u8],
    ) -> anyhow::Result<Vec<u8>> {
        let answer = peer.ask(request)?;
        let Outcome::Done(Reply::Signed(signed)) = answer.outcome else {
            bail!("{:?}\n{}", answer.outcome, self.log());
        };
        Ok(chancery_shared::certificate::assemble(tbs, &signed.signature.0)?)
    }
}

/// The TBS of a CA's own certificate.
#[must_use]
pub fn own_tbs(ca: &Ca, now: OffsetDateTime) -> Forged {
    Forged {
        version: context(0, &[integer(&[2])]),
        algorithm: ca.algorithm.algorithm_identifier().to_vec(),
        issuer: ca.subject.clone(),
        not_before: forge::at(now - time::Duration::minutes(1)),
        not_after: forge::at(now + time::Duration::days(3_650)),
        subject: ca.subject.clone(),
        spki: ca.spki.clone(),
        before_extensions: Vec::new(),
        extensions: vec![
            plain(oids::SUBJECT_KEY_IDENTIFIER, octets(&ca.key_identifier)),
            critical(oids::BASIC_CONSTRAINTS, sequence(&[boolean(true)])),
            critical(oids::KEY_USAGE, vec![3, 2, 1, 0x06]),
        ],
        trailing: Vec::new(),
        serial: Serial::ByConstruction,
    }
}

/// The content of the BIT STRING of a SubjectPublicKeyInfo.
fn bits_of(spki: &[u8]) -> anyhow::Result<Vec<u8>> {
    use der::Decode as _;
    let info = spki::SubjectPublicKeyInfoRef::from_der(spki)?;
    Ok(info.subject_public_key.as_bytes().context("whole octets")?.to_vec())
}
