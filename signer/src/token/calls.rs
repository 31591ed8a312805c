//! One call inside the signing worker: tried, and tried again as far as its trouble allows.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError, RwLock};

use chancery_shared::bytes::Bytes;
use chancery_shared::frame::encode;
use chancery_shared::wiped::WipedBuffer;
use zeroize::Zeroizing;

use super::epoch::{Epoch, Fault, Opening};
use super::error::{CkrName, remedy};
use super::open::{OpenLock, Pin, Selector, load};
use super::protocol::{
    Call, CallFailure, Facts, FromSigningWorker, LostReason, OpenFailure, Operation, Output,
    StartSigning,
};
use super::recovery::{Ladder, Step, Trouble};
use super::secret::Secret;
use super::worker_sandbox::{Folder, confine};
use super::{mechanism, seal, system_call_filter};

/// What the threads share.
pub(super) struct Worker {
    opening: Opening,
    /// Read by each call, written by the one that opens the token again. `None`: lost.
    epoch: RwLock<Option<Epoch>>,
    pin: Mutex<Option<Pin>>,
    out: Mutex<UnixStream>,
}

/// What became of a call.
enum Verdict {
    Answer(Result<Output, CallFailure>),
    Lost(LostReason),
    /// As above, and the call that found it out says why: its reason may not come second, for it
    /// may be a refused PIN.
    LostElsewhere,
}

impl Worker {
    /// Confines the process, then opens the token; says how far it is confined.
    pub(super) fn open(
        start: StartSigning,
        out: UnixStream,
    ) -> Result<(Self, String), OpenFailure> {
        let StartSigning { open, threads } = start;
        if !open.folder.is_dir() {
            return Err(OpenFailure::NoFolder(open.folder));
        }
        let pin = Pin::new(&open.pin)?;
        let lock = OpenLock::new(&open.own_state)?;
        let sandbox = confine(&open.folder, Folder::ReadOnly, &open.module, open.sandbox)?;
        system_call_filter::apply(open.system_calls)?;
        let opening = Opening {
            pkcs11: load(&open.module)?,
            selector: Selector::of(&open),
            lock,
            threads: threads.max(1),
        };
        let epoch = Epoch::open(&opening, &pin, 1)?;
        let worker = Self {
            opening,
            epoch: RwLock::new(Some(epoch)),
            pin: Mutex::new(Some(pin)),
            out: Mutex::new(out),
        };
        Ok((worker, sandbox))
    }

    /// What the token said of itself.
    pub(super) fn facts(&self) -> Facts {
        let epoch = self.epoch.read().unwrap_or_else(PoisonError::into_inner);
        epoch.as_ref().map(|epoch| epoch.facts().clone()).unwrap_or_default()
    }

    /// Ends the last epoch: all threads are gone.
    pub(super) fn close(self) {
        if let Some(epoch) = self.epoch.into_inner().unwrap_or_else(PoisonError::into_inner) {
            epoch.end();
        }
    }

    /// Does what is asked and answers, or says that the worker is of no more use.
    pub(super) fn answer(&self, thread: usize, call: Call) {
        let Call { id, operation } = call;
        let mut failures = Vec::new();
        match self.perform(thread, &operation, &mut failures) {
            Verdict::Answer(result) => {
                self.say(&FromSigningWorker::Answer { id, result, failures });
            }
            Verdict::Lost(why) => self.say(&FromSigningWorker::Lost { why, failures }),
            Verdict::LostElsewhere => {}
        }
    }

    /// How many threads are to answer calls.
    pub(super) fn threads(&self) -> usize {
        self.opening.threads
    }

    fn perform(
        &self,
        thread: usize,
        operation: &Operation,
        failures: &mut Vec<CkrName>,
    ) -> Verdict {
        match operation {
            Operation::NewEpoch => match self.begin_epoch(None) {
                Ok(()) => return Verdict::Answer(Ok(Output::Done)),
                Err(verdict) => return verdict,
            },
            Operation::ForgetPin => {
                *self.pin.lock().unwrap_or_else(PoisonError::into_inner) = None;
                return Verdict::Answer(Ok(Output::Done));
            }
            Operation::Sign { algorithm, data, .. } if !mechanism::fits(*algorithm, &data.0) => {
                return Verdict::Answer(Err(CallFailure::WrongAlgorithm));
            }
            _ => {}
        }
        let mut ladder = Ladder::default();
        loop {
            let guard = self.epoch.read().unwrap_or_else(PoisonError::into_inner);
            let Some(epoch) = guard.as_ref() else { return Verdict::LostElsewhere };
            let fault = match attempt(epoch, thread, operation) {
                Ok(output) => return Verdict::Answer(Ok(output)),
                Err(fault) => fault,
            };
            let (trouble, ckr) = match fault {
                Fault::WrongAlgorithm => {
                    return Verdict::Answer(Err(CallFailure::WrongAlgorithm));
                }
                Fault::Gone => return Verdict::Answer(Err(CallFailure::KeyGone)),
                Fault::NotFound => (Trouble::NotFound, CkrName::fixed("OBJECT_NOT_FOUND")),
                Fault::Call(error) => (Trouble::Failed(remedy(&error)), CkrName::of(&error)),
            };
            failures.push(ckr.clone());
            // Whatever failed may still be active in this session.
            epoch.drop_session(thread);
            match ladder.next(trouble, || epoch.canary_signs()) {
                Step::Again => {}
                Step::FindAgain => {
                    if let Operation::Sign { key_id, .. } = operation {
                        epoch.keys.forget(*key_id);
                    }
                }
                Step::NewEpoch => {
                    let seen = epoch.number();
                    drop(guard);
                    if let Err(verdict) = self.begin_epoch(Some(seen)) {
                        return verdict;
                    }
                }
                Step::Refuse => return Verdict::Answer(Err(CallFailure::Refused { ckr })),
                Step::Gone => {
                    return match operation {
                        Operation::Sign { key_id, .. } => {
                            epoch.keys.mark_gone(*key_id);
                            Verdict::Answer(Err(CallFailure::KeyGone))
                        }
                        // The canary was there when the epoch began.
                        _ => Verdict::Lost(LostReason::Device(ckr)),
                    };
                }
                Step::Lost => return Verdict::Lost(LostReason::Device(ckr)),
                Step::Stop => {
                    // Counted with the refusal.
                    failures.pop();
                    return Verdict::Lost(LostReason::Reopen(OpenFailure::PinRefused { ckr }));
                }
            }
        }
    }

    /// Drains, drops every session, finalises and opens the token again; does nothing where
    /// another thread has done so since the epoch that was `seen`.
    fn begin_epoch(&self, seen: Option<u64>) -> Result<(), Verdict> {
        let mut guard = self.epoch.write().unwrap_or_else(PoisonError::into_inner);
        let Some(epoch) = guard.take() else { return Err(Verdict::LostElsewhere) };
        let number = epoch.number();
        if seen.is_some_and(|seen| seen != number) {
            *guard = Some(epoch);
            return Ok(());
        }
        let pin = self.pin.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pin_now) = pin.as_ref() else {
            // Without the PIN this epoch is the last one: it stays as long as it works.
            *guard = Some(epoch);
            return Err(Verdict::Lost(LostReason::Reopen(OpenFailure::PinForgotten)));
        };
        epoch.end();
        let begun = Epoch::open(&self.opening, pin_now, number + 1);
        *guard = Some(begun.map_err(|failure| Verdict::Lost(LostReason::Reopen(failure)))?);
        self.say(&FromSigningWorker::EpochBegun);
        Ok(())
    }

    /// Sends a message to the signer.
    pub(super) fn say(&self, message: &FromSigningWorker) {
        // A signer that is gone reads no answer; the end of the socket ends the worker.
        let Ok(json) = WipedBuffer::of_json(message) else { return };
        let Ok(frame) = encode(&json).map(Zeroizing::new) else { return };
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(&frame);
    }
}

fn attempt(epoch: &Epoch, thread: usize, operation: &Operation) -> Result<Output, Fault> {
    match operation {
        Operation::Sign { key_id, algorithm, data } => epoch
            .sign(thread, *key_id, *algorithm, &data.0)
            .map(|signature| Output::Signature(Bytes(signature))),
        Operation::Canary => epoch.canary(thread).map(|()| Output::Done),
        Operation::Seal { iv, secret } => {
            let mut iv = iv.0.clone();
            let mechanism = seal::mechanism(&mut iv).ok_or(Fault::WrongAlgorithm)?;
            epoch
                .encrypt(thread, &mechanism, secret.expose())
                .map(|sealed| Output::Sealed(Bytes(sealed)))
        }
        Operation::Unseal { iv, sealed } => {
            let mut iv = iv.0.clone();
            let mechanism = seal::mechanism(&mut iv).ok_or(Fault::WrongAlgorithm)?;
            epoch
                .decrypt(thread, &mechanism, &sealed.0)
                .map(|plain| Output::Unsealed(Secret::new(plain)))
        }
        Operation::NewEpoch | Operation::ForgetPin => Ok(Output::Done),
    }
}
