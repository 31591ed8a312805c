//! Making a new token in the key worker: C_InitToken, PINs, canary key, seal key.

use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use cryptoki::context::Pkcs11;
use cryptoki::mechanism::Mechanism;
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;

use super::epoch::{CANARY, SEAL};
use super::key_creation::{NewKey, create};
use super::key_protocol::{KeyFailure, KeyOutput};
use super::key_template::seal_key;
use super::key_worker::Notes;
use super::open::{Access, LoggedIn, OpenLock, Pin, Selector, finalise, initialise, log_in};
use super::protocol::{Open, OpenFailure};
use super::secret::Secret;

/// Makes the token of `open.label`; refuses where one of this label is there.
pub(super) fn token(
    pkcs11: &Pkcs11,
    open: &Open,
    so_pin: &Secret,
    user_pin: &Pin,
    lock: &OpenLock,
    notes: &mut Notes,
) -> Result<KeyOutput, KeyFailure> {
    let label = open.label.clone().unwrap_or_default();
    let selector = Selector { serial: None, label: Some(label.clone()) };
    let so_pin = Pin::new(so_pin).map_err(KeyFailure::Open)?;

    // 1. A free slot, and no token of this name: what is there is never overwritten.
    let held = lock.hold(Access::ReadWrite).map_err(KeyFailure::Open)?;
    let made = in_epoch(pkcs11, |pkcs11| {
        match selector.find(pkcs11) {
            Err(OpenFailure::NoToken) => {}
            Ok(_) | Err(OpenFailure::SeveralTokens) => return Err(KeyFailure::TokenExists),
            Err(failure) => return Err(KeyFailure::Open(failure)),
        }
        let slot = free_slot(pkcs11, notes)?;
        // 2. The token, with its SO PIN.
        pkcs11.init_token(slot, &so_pin.text, &label).map_err(|error| notes.failed(&error))
    });
    made?;

    // 3. The user PIN. The slot's number has changed with the token.
    let facts = in_epoch(pkcs11, |pkcs11| {
        let (slot, facts) = selector.find(pkcs11).map_err(KeyFailure::Open)?;
        let session = pkcs11.open_rw_session(slot).map_err(|error| notes.failed(&error))?;
        session
            .login(UserType::So, Some(&so_pin.text))
            .and_then(|()| session.init_pin(&user_pin.text))
            .and_then(|()| session.logout())
            .map_err(|error| notes.failed(&error))?;
        Ok(facts)
    })?;
    drop(held);

    // 4. The two keys of the token's own.
    let LoggedIn { anchor, .. } =
        log_in(pkcs11, &selector, user_pin, Access::ReadWrite, lock).map_err(KeyFailure::Open)?;
    let keys = own_keys(&anchor, notes);
    drop(anchor);
    finalise(pkcs11);
    keys.map(|()| KeyOutput::Initialised(facts))
}

/// Runs between C_Initialize and C_Finalize; every session must end inside.
fn in_epoch<T>(
    pkcs11: &Pkcs11,
    run: impl FnOnce(&Pkcs11) -> Result<T, KeyFailure>,
) -> Result<T, KeyFailure> {
    initialise(pkcs11).map_err(KeyFailure::Open)?;
    let done = run(pkcs11);
    finalise(pkcs11);
    done
}

fn free_slot(pkcs11: &Pkcs11, notes: &mut Notes) -> Result<Slot, KeyFailure> {
    let slots = pkcs11.get_slots_with_token().map_err(|error| notes.failed(&error))?;
    slots
        .into_iter()
        .find(|slot| pkcs11.get_token_info(*slot).is_ok_and(|info| !info.token_initialized()))
        .ok_or(KeyFailure::NoFreeSlot)
}

fn own_keys(session: &Session, notes: &mut Notes) -> Result<(), KeyFailure> {
    let canary = NewKey {
        id: CANARY,
        label: CANARY,
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
    };
    create(session, &canary, notes)?;
    session
        .generate_key(&Mechanism::AesKeyGen, &seal_key(SEAL))
        .map_err(|error| notes.failed(&error))?;
    Ok(())
}
