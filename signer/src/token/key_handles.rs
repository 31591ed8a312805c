//! Handles of private keys in one token epoch, found once and remembered by `CKA_ID`.

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use chancery_shared::id::KeyId;
use cryptoki::error::Error as Cryptoki;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;

use super::epoch::Fault;

/// The keys that were asked for so far.
#[derive(Default)]
pub(super) struct KeyHandles(RwLock<Keys>);

#[derive(Default)]
struct Keys {
    found: HashMap<KeyId, FoundKey>,
    /// Searched for in two epochs and not there: not searched for again in this one.
    gone: HashSet<KeyId>,
}

/// A private key on the token.
#[derive(Clone, Copy)]
pub(super) struct FoundKey {
    pub(super) handle: ObjectHandle,
    pub(super) key_type: Option<KeyType>,
}

impl KeyHandles {
    /// The key of this id, searched for where it was not asked for before.
    pub(super) fn key(&self, session: &Session, key_id: KeyId) -> Result<FoundKey, Fault> {
        {
            let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(key) = keys.found.get(&key_id) {
                return Ok(*key);
            }
            if keys.gone.contains(&key_id) {
                return Err(Fault::Gone);
            }
        }
        let handle =
            find(session, ObjectClass::PRIVATE_KEY, key_id.as_bytes())?.ok_or(Fault::NotFound)?;
        let key = FoundKey { handle, key_type: key_type(session, handle)? };
        self.write().found.insert(key_id, key);
        Ok(key)
    }

    /// Forgets the key's handle, so that the next request searches for it.
    pub(super) fn forget(&self, key_id: KeyId) {
        self.write().found.remove(&key_id);
    }

    /// Remembers that the key is not on the token.
    pub(super) fn mark_gone(&self, key_id: KeyId) {
        let mut keys = self.write();
        keys.found.remove(&key_id);
        keys.gone.insert(key_id);
    }

    fn write(&self) -> RwLockWriteGuard<'_, Keys> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first object of this class with this `CKA_ID`.
pub(super) fn find(
    session: &Session,
    class: ObjectClass,
    id: &[u8],
) -> Result<Option<ObjectHandle>, Cryptoki> {
    let template = [Attribute::Class(class), Attribute::Token(true), Attribute::Id(id.to_vec())];
    // The search ends here: an open one would block every other call of the session.
    Ok(session.find_objects(&template)?.into_iter().next())
}

fn key_type(session: &Session, key: ObjectHandle) -> Result<Option<KeyType>, Cryptoki> {
    let attributes = session.get_attributes(key, &[AttributeType::KeyType])?;
    Ok(attributes.into_iter().find_map(|attribute| match attribute {
        Attribute::KeyType(key_type) => Some(key_type),
        _ => None,
    }))
}
