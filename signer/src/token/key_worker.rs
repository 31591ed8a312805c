//! The key worker: the short-lived child that alone may write to a token. One at a time.
//!
//! Peer:     the signer or `chancery-hsm`, over the socketpair that is its standard input.
//! Trusts:   the peer; never the vendor's library to return, nor its files to survive a crash.
//! Promises: files are copied aside before, and on disk after, whatever it answers.
//! Never:    changes a key that exists, signs what a CA would, or tries a refused PIN again.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use chancery_shared::bytes::Bytes;
use chancery_shared::fail_point;
use chancery_shared::hexadecimal;
use chancery_shared::id::KeyId;
use chancery_shared::wire::operator::UnknownObject;
use cryptoki::context::Pkcs11;
use cryptoki::error::Error as Cryptoki;
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use rustix::fs::FlockOperation;

use super::epoch::CANARY;
use super::error::{CkrName, Remedy, remedy};
use super::key_creation::{NewKey, create};
use super::key_protocol::{
    FileStep, KeyAction, KeyAnswer, KeyFailure, KeyOutput, KeyTask, SweepReport,
};
use super::open::{Access, LoggedIn, OpenLock, Pin, Selector, finalise, load, log_in, pause};
use super::protocol::{Open, OpenFailure};
use super::worker_sandbox::{Folder, confine, harden};
use super::{copies, initialise, system_call_filter};

/// Between two destroyed objects: each one holds the token's locks while signers wait.
const DESTROY_PAUSE: Duration = Duration::from_millis(100);

/// Does the one task and ends.
pub(super) fn run(mut socket: UnixStream) -> Result<(), super::worker::WorkerError> {
    let hardened = harden();
    let Some(task) = super::worker::first_frame::<KeyTask>(&mut socket)? else { return Ok(()) };
    let mut notes = Notes::default();
    let result = match hardened {
        Ok(()) => perform(task, &mut notes),
        Err(failure) => Err(KeyFailure::Open(failure)),
    };
    let Notes { trial_signatures, failures } = notes;
    super::worker::send(&mut socket, &KeyAnswer { result, trial_signatures, failures })
}

/// What is counted on the way.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) trial_signatures: u64,
    pub(super) failures: Vec<CkrName>,
}

impl Notes {
    /// Notes a failed call and says what it means for the task.
    pub(super) fn failed(&mut self, error: &Cryptoki) -> KeyFailure {
        let ckr = CkrName::of(error);
        if remedy(error) == Remedy::Stop {
            // Counted with the refusal.
            return KeyFailure::Open(OpenFailure::PinRefused { ckr });
        }
        self.failures.push(ckr.clone());
        match remedy(error) {
            Remedy::Refuse => KeyFailure::Refused { ckr },
            _ => KeyFailure::Failed { ckr },
        }
    }
}

fn perform(task: KeyTask, notes: &mut Notes) -> Result<KeyOutput, KeyFailure> {
    let KeyTask { open, action } = task;
    let copies = open.own_state.join("copies");
    copies::private_folder(&copies).map_err(|_| KeyFailure::Files(FileStep::Copy))?;
    // Held to the end of the process: one writer at a time, whoever started it.
    let _alone = copies::write_lock(&open.own_state, FlockOperation::LockExclusive)
        .map_err(|_| KeyFailure::Files(FileStep::Lock))?;
    if !open.folder.is_dir() {
        return Err(KeyFailure::Open(OpenFailure::NoFolder(open.folder)));
    }
    copies::restore_empty(&open.folder, &copies)
        .map_err(|_| KeyFailure::Files(FileStep::Restore))?;
    copies::copy_aside(&open.folder, &copies).map_err(|_| KeyFailure::Files(FileStep::Copy))?;
    let lock = OpenLock::new(&open.own_state).map_err(KeyFailure::Open)?;
    let pin = Pin::new(&open.pin).map_err(KeyFailure::Open)?;
    confine(&open.folder, Folder::Writable { copies: &copies }, &open.module, open.sandbox)
        .map_err(KeyFailure::Open)?;
    system_call_filter::apply(open.system_calls).map_err(KeyFailure::Open)?;

    let pkcs11 = load(&open.module).map_err(KeyFailure::Open)?;
    let is_asked_for = is_asked_for(&action);
    let done = match action {
        KeyAction::Initialise { so_pin } => {
            initialise::token(&pkcs11, &open, &so_pin, &pin, &lock, notes)
        }
        action => on_token(&pkcs11, &open, action, &pin, &lock, notes),
    };
    // Whatever came of it, what is there now must be on disk before anyone relies on it.
    copies::sync(&open.folder).map_err(|_| KeyFailure::Files(FileStep::Sync))?;
    if is_asked_for {
        fail_point::reach("key worker: synced");
    }
    if done.is_ok() {
        copies::copy_aside(&open.folder, &copies).map_err(|_| KeyFailure::Files(FileStep::Copy))?;
    }
    done
}

/// A sweep comes by itself, at its own time: who waits for a request's key worker at a place must
/// not meet a sweep's there.
const fn is_asked_for(action: &KeyAction) -> bool {
    !matches!(action, KeyAction::Sweep { .. })
}

/// Logs in, acts, and ends the epoch.
fn on_token(
    pkcs11: &Pkcs11,
    open: &Open,
    action: KeyAction,
    pin: &Pin,
    lock: &OpenLock,
    notes: &mut Notes,
) -> Result<KeyOutput, KeyFailure> {
    let LoggedIn { anchor, .. } = log_in(pkcs11, &Selector::of(open), pin, Access::ReadWrite, lock)
        .map_err(KeyFailure::Open)?;
    let is_asked_for = is_asked_for(&action);
    if is_asked_for {
        fail_point::reach("key worker: opened");
    }
    let done = act(&anchor, &open.folder, action, notes);
    if is_asked_for {
        fail_point::reach("key worker: acted");
    }
    drop(anchor);
    finalise(pkcs11);
    done
}

fn act(
    session: &Session,
    folder: &Path,
    action: KeyAction,
    notes: &mut Notes,
) -> Result<KeyOutput, KeyFailure> {
    match action {
        KeyAction::Create { key_id, key_algorithm, signature_algorithm, max_keys } => {
            let held = ca_keys(session, notes)?.len();
            if held >= usize::try_from(max_keys).unwrap_or(usize::MAX) {
                return Err(KeyFailure::KeyLimit { max: max_keys });
            }
            let id = key_id.as_bytes();
            let label = key_id.to_string();
            let new = NewKey { id, label: label.as_bytes(), key_algorithm, signature_algorithm };
            create(session, &new, notes).map(|spki| KeyOutput::Created(Bytes(spki)))
        }
        KeyAction::Destroy { key_id } => {
            destroy(session, key_id, notes)?;
            Ok(KeyOutput::Destroyed)
        }
        KeyAction::Sweep { pending, known } => {
            sweep(session, folder, pending, &known, notes).map(KeyOutput::Swept)
        }
        // Done before there is a token to log in to.
        KeyAction::Initialise { .. } => Err(KeyFailure::TokenExists),
    }
}

/// Destroys every object of this id; says whether there was one.
fn destroy(session: &Session, key_id: KeyId, notes: &mut Notes) -> Result<bool, KeyFailure> {
    let template = [Attribute::Token(true), Attribute::Id(key_id.as_bytes().to_vec())];
    let objects = session.find_objects(&template).map_err(|error| notes.failed(&error))?;
    for (nth, object) in objects.iter().enumerate() {
        if nth > 0 {
            pause(DESTROY_PAUSE);
        }
        session.destroy_object(*object).map_err(|error| notes.failed(&error))?;
    }
    Ok(!objects.is_empty())
}

/// Destroys what pending keys left behind, and reports what no one knows.
fn sweep(
    session: &Session,
    folder: &Path,
    pending: Vec<KeyId>,
    known: &[KeyId],
    notes: &mut Notes,
) -> Result<SweepReport, KeyFailure> {
    let mut report = SweepReport::default();
    for key_id in pending {
        if !report.destroyed.is_empty() {
            pause(DESTROY_PAUSE);
        }
        if destroy(session, key_id, notes)? {
            report.destroyed.push(key_id);
        }
    }
    let present = ca_keys(session, notes)?;
    for key_id in known {
        if !present.iter().any(|key| key.id == key_id.as_bytes()) {
            report.missing.push(*key_id);
        }
    }
    for key in present {
        if !known.iter().any(|known| known.as_bytes().as_slice() == key.id) {
            report.unknown.push(UnknownObject {
                id: hexadecimal::encode(&key.id),
                label: String::from_utf8_lossy(&key.label).into_owned(),
            });
        }
    }
    report.empty_files =
        copies::empty_files(folder).map_err(|_| KeyFailure::Files(FileStep::Read))?;
    Ok(report)
}

/// A private key that is not the canary.
struct PrivateKey {
    id: Vec<u8>,
    label: Vec<u8>,
}

fn ca_keys(session: &Session, notes: &mut Notes) -> Result<Vec<PrivateKey>, KeyFailure> {
    let template = [Attribute::Class(ObjectClass::PRIVATE_KEY), Attribute::Token(true)];
    let handles = session.find_objects(&template).map_err(|error| notes.failed(&error))?;
    let mut keys = Vec::new();
    for handle in handles {
        let key = private_key(session, handle).map_err(|error| notes.failed(&error))?;
        if key.id != CANARY {
            keys.push(key);
        }
    }
    Ok(keys)
}

fn private_key(session: &Session, handle: ObjectHandle) -> Result<PrivateKey, Cryptoki> {
    let mut key = PrivateKey { id: Vec::new(), label: Vec::new() };
    let wanted = [AttributeType::Id, AttributeType::Label];
    for attribute in session.get_attributes(handle, &wanted)? {
        match attribute {
            Attribute::Id(id) => key.id = id,
            Attribute::Label(label) => key.label = label,
            _ => {}
        }
    }
    Ok(key)
}
