//! A token epoch: from C_Initialize to C_Finalize, with all sessions and handles in between.
//!
//! Handles and sessions of one epoch mean something else in the next, so both live here and die
//! together.

use std::sync::{Mutex, MutexGuard, PoisonError};

use chancery_shared::fail_point;
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use cryptoki::context::Pkcs11;
use cryptoki::error::Error as Cryptoki;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use cryptoki::slot::Slot;

use super::key_handles::{KeyHandles, find};
use super::mechanism;
use super::open::{Access, LoggedIn, OpenLock, Pin, Selector, failed, finalise, log_in};
use super::protocol::{Facts, OpenFailure};

/// Label and `CKA_ID` of the key whose signature is the token's health; never a CA's.
pub(super) const CANARY: &[u8] = b"chancery-canary";
/// Label and `CKA_ID` of the AES key that seals data keys.
pub(super) const SEAL: &[u8] = b"chancery-seal";

/// An open token. Dropped only through [`Epoch::end`].
pub(super) struct Epoch {
    number: u64,
    /// One for each signing thread; `None` until it is needed, and after a failure.
    sessions: Vec<Mutex<Option<Session>>>,
    /// Logged in once; while it is open the others are too. Never used for anything else.
    _anchor: Mutex<Session>,
    pub(super) keys: KeyHandles,
    canary: ObjectHandle,
    seal: Option<ObjectHandle>,
    slot: Slot,
    facts: Facts,
    pkcs11: Pkcs11,
}

/// Why an operation failed.
pub(super) enum Fault {
    /// A call to the module failed.
    Call(Cryptoki),
    /// The object is not on the token, as far as this epoch sees.
    NotFound,
    /// As above, and a new epoch did not help.
    Gone,
    /// The key makes no such signatures.
    WrongAlgorithm,
}

impl From<Cryptoki> for Fault {
    fn from(error: Cryptoki) -> Self {
        Self::Call(error)
    }
}

/// What every epoch of a worker is opened with.
pub(super) struct Opening {
    pub(super) pkcs11: Pkcs11,
    pub(super) selector: Selector,
    pub(super) lock: OpenLock,
    pub(super) threads: usize,
}

impl Epoch {
    /// Opens the token, finds canary and seal key, and signs with the canary once.
    pub(super) fn open(with: &Opening, pin: &Pin, number: u64) -> Result<Self, OpenFailure> {
        let LoggedIn { anchor, slot, facts } =
            log_in(&with.pkcs11, &with.selector, pin, Access::ReadOnly, &with.lock)?;
        match fixed_keys(&anchor) {
            Ok((canary, seal)) => Ok(Self {
                number,
                sessions: (0..with.threads).map(|_| Mutex::new(None)).collect(),
                _anchor: Mutex::new(anchor),
                keys: KeyHandles::default(),
                canary,
                seal,
                slot,
                facts,
                pkcs11: with.pkcs11.clone(),
            }),
            Err(failure) => {
                drop(anchor);
                finalise(&with.pkcs11);
                Err(failure)
            }
        }
    }

    /// Ends the epoch. By value: no one can be inside it any more.
    pub(super) fn end(self) {
        let Self { sessions, _anchor: anchor, pkcs11, .. } = self;
        drop(sessions);
        drop(anchor);
        finalise(&pkcs11);
    }

    /// Counts the epochs of this worker from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// What the token said of itself.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Signs `data` with the key of this id.
    pub(super) fn sign(
        &self,
        thread: usize,
        key_id: KeyId,
        algorithm: SignatureAlgorithm,
        data: &[u8],
    ) -> Result<Vec<u8>, Fault> {
        let mut session = self.session(thread)?;
        let session = open_session(&mut session, &self.pkcs11, self.slot)?;
        let key = self.keys.key(session, key_id)?;
        if key.key_type.is_some_and(|is| is != mechanism::key_type(algorithm)) {
            return Err(Fault::WrongAlgorithm);
        }
        fail_point::reach("signing worker: asked");
        let signature = session.sign(&mechanism::mechanism(algorithm), key.handle, data)?;
        fail_point::reach("signing worker: signed");
        Ok(signature)
    }

    /// Signs with the canary key.
    pub(super) fn canary(&self, thread: usize) -> Result<(), Fault> {
        let mut session = self.session(thread)?;
        let session = open_session(&mut session, &self.pkcs11, self.slot)?;
        sign_canary(session, self.canary)?;
        Ok(())
    }

    /// Whether the token signs at all, tried in a session of its own.
    pub(super) fn canary_signs(&self) -> bool {
        self.pkcs11
            .open_ro_session(self.slot)
            .is_ok_and(|session| sign_canary(&session, self.canary).is_ok())
    }

    /// Encrypts under the seal key.
    pub(super) fn encrypt(
        &self,
        thread: usize,
        mechanism: &Mechanism<'_>,
        plain: &[u8],
    ) -> Result<Vec<u8>, Fault> {
        let mut session = self.session(thread)?;
        let session = open_session(&mut session, &self.pkcs11, self.slot)?;
        Ok(session.encrypt(mechanism, self.seal.ok_or(Fault::Gone)?, plain)?)
    }

    /// Decrypts under the seal key.
    pub(super) fn decrypt(
        &self,
        thread: usize,
        mechanism: &Mechanism<'_>,
        sealed: &[u8],
    ) -> Result<Vec<u8>, Fault> {
        let mut session = self.session(thread)?;
        let session = open_session(&mut session, &self.pkcs11, self.slot)?;
        Ok(session.decrypt(mechanism, self.seal.ok_or(Fault::Gone)?, sealed)?)
    }

    /// Closes a thread's session: after a failure it may hold an operation that never ends.
    pub(super) fn drop_session(&self, thread: usize) {
        if let Ok(mut session) = self.session(thread) {
            *session = None;
        }
    }

    fn session(&self, thread: usize) -> Result<MutexGuard<'_, Option<Session>>, Fault> {
        // Each thread has one of its own, so no one waits here.
        let session = self.sessions.get(thread).ok_or(Fault::Gone)?;
        Ok(session.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn fixed_keys(session: &Session) -> Result<(ObjectHandle, Option<ObjectHandle>), OpenFailure> {
    let canary = find(session, ObjectClass::PRIVATE_KEY, CANARY)
        .map_err(|error| failed(&error))?
        .ok_or(OpenFailure::NoCanary)?;
    let seal = find(session, ObjectClass::SECRET_KEY, SEAL).map_err(|error| failed(&error))?;
    sign_canary(session, canary).map_err(|error| match failed(&error) {
        OpenFailure::Call { ckr } => OpenFailure::CanaryFails { ckr },
        about_the_pin => about_the_pin,
    })?;
    Ok((canary, seal))
}

/// 32 fixed bytes stand for the digest: no certificate has it.
fn sign_canary(session: &Session, canary: ObjectHandle) -> Result<(), Cryptoki> {
    session.sign(&Mechanism::Ecdsa, canary, &[0xca; 32]).map(drop)
}

fn open_session<'a>(
    session: &'a mut Option<Session>,
    pkcs11: &Pkcs11,
    slot: Slot,
) -> Result<&'a Session, Cryptoki> {
    match session {
        Some(session) => Ok(session),
        none => Ok(none.insert(pkcs11.open_ro_session(slot)?)),
    }
}
