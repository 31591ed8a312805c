//! Opening a token in a worker: initialise, find the slot, log in. Both kinds of worker do it so.

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chancery_shared::wire::algorithm::KeyAlgorithm;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error as Cryptoki, RvError};
use cryptoki::mechanism::MechanismType;
use cryptoki::session::{Session, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::AuthPin;
use rustix::fs::{FlockOperation, flock};

use super::error::{CkrName, Remedy, remedy};
use super::protocol::{Facts, Open, OpenFailure};
use super::secret::{Secret, keep_out_of_swap};

/// By what the token is found. Slot ids change, so they are never configured.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    pub(super) serial: Option<String>,
    pub(super) label: Option<String>,
}

impl Selector {
    pub(super) fn of(open: &Open) -> Self {
        Self { serial: open.serial.clone(), label: open.label.clone() }
    }

    /// Looks through all slots.
    pub(super) fn find(&self, pkcs11: &Pkcs11) -> Result<(Slot, Facts), OpenFailure> {
        let (mut found, mut unreadable) = (None, None);
        for slot in pkcs11.get_slots_with_token().map_err(|error| failed(&error))? {
            let info = match pkcs11.get_token_info(slot) {
                Ok(info) => info,
                // Another one's slot, as long as ours is found.
                Err(error) => {
                    unreadable = unreadable.or(Some(error));
                    continue;
                }
            };
            if !info.token_initialized() || !self.fits(&info) {
                continue;
            }
            if found.is_some() {
                return Err(OpenFailure::SeveralTokens);
            }
            found = Some((slot, info));
        }
        match (found, unreadable) {
            (Some((slot, info)), _) => {
                let facts = facts(pkcs11, slot, &info).map_err(|error| failed(&error))?;
                Ok((slot, facts))
            }
            (None, Some(error)) if !says_empty(&error) => Err(failed(&error)),
            (None, _) => Err(OpenFailure::NoToken),
        }
    }

    fn fits(&self, info: &TokenInfo) -> bool {
        let same = |wanted: &Option<String>, is: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == is.trim_end())
        };
        same(&self.serial, info.serial_number()) && same(&self.label, info.label())
    }
}

/// Whether the session may write.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    ReadOnly,
    ReadWrite,
}

/// An initialised module with one session that has logged in.
pub(super) struct LoggedIn {
    // Dropped before the module is finalised.
    pub(super) anchor: Session,
    pub(super) slot: Slot,
    pub(super) facts: Facts,
}

/// Loads the module. Nothing of it has run before this.
pub(super) fn load(module: &Path) -> Result<Pkcs11, OpenFailure> {
    Pkcs11::new(module).map_err(|_| OpenFailure::Module(module.to_path_buf()))
}

/// Initialises with the operating system's locks: without them SoftHSM2 uses none at all.
pub(super) fn initialise(pkcs11: &Pkcs11) -> Result<(), OpenFailure> {
    pkcs11
        .initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))
        .map_err(|error| failed(&error))
}

/// Finalises. All sessions must be gone: an old `Session` would close a new one of its number.
pub(super) fn finalise(pkcs11: &Pkcs11) {
    // There is nothing left to be done about a failure.
    let _ = pkcs11.clone().finalize();
}

/// Initialises, finds the token and logs in, under the lock that keeps other workers of this
/// token from doing the same at the same moment.
pub(super) fn log_in(
    pkcs11: &Pkcs11,
    selector: &Selector,
    pin: &Pin,
    access: Access,
    lock: &OpenLock,
) -> Result<LoggedIn, OpenFailure> {
    let mut attempt = 0;
    loop {
        let held = lock.hold(access)?;
        let result = log_in_once(pkcs11, selector, pin, access);
        drop(held);
        match result {
            // A start beside another process of the same token can see half-written files; a
            // refused PIN is never tried twice.
            Err(OpenFailure::Call { .. }) if attempt < 2 => attempt += 1,
            other => return other,
        }
        pause(Duration::from_millis(5));
    }
}

fn log_in_once(
    pkcs11: &Pkcs11,
    selector: &Selector,
    pin: &Pin,
    access: Access,
) -> Result<LoggedIn, OpenFailure> {
    initialise(pkcs11)?;
    let opened = selector.find(pkcs11).and_then(|(slot, facts)| {
        let anchor = match access {
            Access::ReadOnly => pkcs11.open_ro_session(slot),
            Access::ReadWrite => pkcs11.open_rw_session(slot),
        };
        let anchor = anchor.map_err(|error| failed(&error))?;
        match anchor.login(UserType::User, Some(&pin.text)) {
            Ok(()) | Err(Cryptoki::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => {
                Ok(LoggedIn { anchor, slot, facts })
            }
            Err(error) => Err(failed(&error)),
        }
    });
    if opened.is_err() {
        finalise(pkcs11);
    }
    opened
}

/// The user PIN in the form that cryptoki takes, locked and wiped like a [`Secret`].
pub(super) struct Pin {
    pub(super) text: AuthPin,
}

impl Pin {
    pub(super) fn new(secret: &Secret) -> Result<Self, OpenFailure> {
        let text = std::str::from_utf8(secret.expose()).map_err(|_| OpenFailure::PinNotText)?;
        let text: Box<str> = text.into();
        // The bytes stay where they are when the box moves.
        keep_out_of_swap(text.as_bytes());
        Ok(Self { text: AuthPin::new(text) })
    }
}

/// A lock between the workers of one token, held from C_Initialize to C_Login: SoftHSM2 rewrites
/// its token file at a login that may write, and a reader of that moment sees an empty token.
pub(super) struct OpenLock {
    file: File,
    path: PathBuf,
}

impl OpenLock {
    /// Opens the lock file; done before the process is confined.
    pub(super) fn new(own_state: &Path) -> Result<Self, OpenFailure> {
        let path = own_state.join("open.lock");
        match File::options().create(true).truncate(false).write(true).open(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(_) => Err(OpenFailure::Lock(path)),
        }
    }

    /// Waits until no one else opens the token for writing.
    pub(super) fn hold(&self, access: Access) -> Result<HeldLock<'_>, OpenFailure> {
        let operation = match access {
            Access::ReadOnly => FlockOperation::LockShared,
            Access::ReadWrite => FlockOperation::LockExclusive,
        };
        flock(&self.file, operation).map_err(|_| OpenFailure::Lock(self.path.clone()))?;
        Ok(HeldLock(&self.file))
    }
}

/// Releases the lock when it is dropped.
pub(super) struct HeldLock<'a>(&'a File);

impl Drop for HeldLock<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

/// Why opening failed, from the call that failed.
pub(super) fn failed(error: &Cryptoki) -> OpenFailure {
    let ckr = CkrName::of(error);
    match remedy(error) {
        Remedy::Stop => OpenFailure::PinRefused { ckr },
        _ => OpenFailure::Call { ckr },
    }
}

/// Waits without an event to wait for: another process's files are about to be whole.
pub(super) fn pause(time: Duration) {
    let (_never, event) = flume::bounded::<()>(0);
    let _ = event.recv_timeout(time);
}

/// Whether a slot is no token's, for sure.
fn says_empty(error: &Cryptoki) -> bool {
    use RvError::{TokenNotPresent, TokenNotRecognized};
    matches!(error, Cryptoki::Pkcs11(TokenNotPresent | TokenNotRecognized, _))
}

/// An error is none of the token's facts: what it can do is asked once for each opening.
fn facts(pkcs11: &Pkcs11, slot: Slot, info: &TokenInfo) -> Result<Facts, Cryptoki> {
    let mechanisms = pkcs11.get_mechanism_list(slot)?;
    let rsa = rsa_sizes(pkcs11, slot, &mechanisms)?;
    let able = |algorithm: &KeyAlgorithm| {
        let generates = |mechanism| mechanisms.contains(&mechanism);
        let rsa_bits = |bits: usize| rsa.as_ref().is_some_and(|sizes| sizes.contains(&bits));
        match algorithm {
            KeyAlgorithm::Rsa2048 => rsa_bits(2048),
            KeyAlgorithm::Rsa3072 => rsa_bits(3072),
            KeyAlgorithm::Rsa4096 => rsa_bits(4096),
            KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384 | KeyAlgorithm::EcdsaP521 => {
                generates(MechanismType::ECC_KEY_PAIR_GEN)
            }
            KeyAlgorithm::Ed25519 => generates(MechanismType::ECC_EDWARDS_KEY_PAIR_GEN),
        }
    };
    Ok(Facts {
        model: info.model().trim_end().to_owned(),
        serial: info.serial_number().trim_end().to_owned(),
        key_algorithms: KeyAlgorithm::ALL.into_iter().filter(able).collect(),
    })
}

fn rsa_sizes(
    pkcs11: &Pkcs11,
    slot: Slot,
    mechanisms: &[MechanismType],
) -> Result<Option<RangeInclusive<usize>>, Cryptoki> {
    let generator = MechanismType::RSA_PKCS_KEY_PAIR_GEN;
    if !mechanisms.contains(&generator) {
        return Ok(None);
    }
    let info = pkcs11.get_mechanism_info(slot, generator)?;
    Ok(Some(info.min_key_size()..=info.max_key_size()))
}
