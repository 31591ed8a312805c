//! Making one key pair: generate, read the public half, try it. On any failure after the first
//! step the private half is destroyed again.

use chancery_shared::fail_point;
use chancery_shared::signature::verify_as;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use cryptoki::error::Error as Cryptoki;
use cryptoki::object::ObjectHandle;
use cryptoki::session::Session;

use super::error::{Remedy, remedy};
use super::key_protocol::KeyFailure;
use super::key_template::{generator, private_half, public_half};
use super::key_worker::Notes;
use super::mechanism::{finish, mechanism, prepare};
use super::public_key::{PublicAttributes, ec_params};

/// What a new key is tried with: a TBS begins with a SEQUENCE (0x30), so no certificate is this.
pub(super) const TRIAL_TEXT: &[u8] = b"chancery: trial signature of a new key, worth nothing";

/// A key pair to be made.
pub(super) struct NewKey<'a> {
    pub(super) id: &'a [u8],
    pub(super) label: &'a [u8],
    pub(super) key_algorithm: KeyAlgorithm,
    pub(super) signature_algorithm: SignatureAlgorithm,
}

/// Makes the key pair and returns the DER of its SubjectPublicKeyInfo.
pub(super) fn create(
    session: &Session,
    new: &NewKey<'_>,
    notes: &mut Notes,
) -> Result<Vec<u8>, KeyFailure> {
    if !new.key_algorithm.makes(new.signature_algorithm) {
        return Err(KeyFailure::WrongAlgorithm);
    }
    // 1. Generate.
    let (public, private) = generate(session, new).map_err(|error| notes.failed(&error))?;
    fail_point::reach("key worker: generated");
    // 2. Read the public half. 3. Try the private one.
    let tried = public_half_of(session, public, new, notes)
        .and_then(|spki| try_out(session, private, new, &spki, notes).map(|()| spki));
    fail_point::reach("key worker: tried");
    if tried.is_err() {
        // What is not returned must not stay; a failure here is found by the next sweep.
        if let Err(error) = session.destroy_object(private) {
            let _ = notes.failed(&error);
        }
    }
    tried
}

fn generate(session: &Session, new: &NewKey<'_>) -> Result<(ObjectHandle, ObjectHandle), Cryptoki> {
    let generator = generator(new.key_algorithm);
    let private = private_half(new.id, new.label, new.signature_algorithm);
    let curves = ec_params(new.key_algorithm);
    let mut curves = curves.iter().map(|curve| Some(curve.as_slice())).peekable();
    if curves.peek().is_none() {
        return session.generate_key_pair(
            &generator,
            &public_half(new.key_algorithm, None),
            &private,
        );
    }
    let mut curve = curves.next().flatten();
    loop {
        let public = public_half(new.key_algorithm, curve);
        match session.generate_key_pair(&generator, &public, &private) {
            // Only a refusal of the template is a reason to name the curve in another way.
            Err(error) if remedy(&error) == Remedy::Refuse && curves.peek().is_some() => {
                curve = curves.next().flatten();
            }
            result => return result,
        }
    }
}

fn public_half_of(
    session: &Session,
    public: ObjectHandle,
    new: &NewKey<'_>,
    notes: &mut Notes,
) -> Result<Vec<u8>, KeyFailure> {
    PublicAttributes::read(session, public)
        .map_err(|error| notes.failed(&error))?
        .spki(new.key_algorithm)
        .ok_or(KeyFailure::BadPublicKey)
}

fn try_out(
    session: &Session,
    private: ObjectHandle,
    new: &NewKey<'_>,
    spki: &[u8],
    notes: &mut Notes,
) -> Result<(), KeyFailure> {
    let algorithm = new.signature_algorithm;
    let raw = session
        .sign(&mechanism(algorithm), private, &prepare(algorithm, TRIAL_TEXT))
        .map_err(|error| notes.failed(&error))?;
    notes.trial_signatures += 1;
    let signature = finish(algorithm, raw).ok_or(KeyFailure::WrongSignature)?;
    verify_as(spki, algorithm, TRIAL_TEXT, &signature).map_err(|_| KeyFailure::WrongSignature)
}
