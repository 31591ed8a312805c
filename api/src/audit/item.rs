//! What the audit says of a thing: its fields one by one, as `routes/json/audited.rs` has them for each
//! kind.

use serde_json::Value;

use super::AuditDraft;

/// Something that an administrator or a user makes, changes or deletes.
pub trait Item {
    /// Its id.
    fn id(&self) -> String;
    /// What people call it.
    fn name(&self) -> &str;
    /// The fields that an auditor sees.
    fn fields(&self) -> Value;
}

/// The fields of a user whose password is another now: that much is told of it.
pub fn with_new_password(mut fields: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("passwordChanged".to_owned(), true.into());
    }
    fields
}

impl AuditDraft {
    /// Of something that there was not before.
    #[must_use]
    pub fn made(self, item: &impl Item) -> Self {
        self.on(&item.id(), item.name()).after(item.fields())
    }

    /// Of something that is not as it was.
    #[must_use]
    pub fn changed(self, before: &impl Item, after: &impl Item) -> Self {
        self.on(&after.id(), after.name()).before(before.fields()).after(after.fields())
    }

    /// Of something that is gone.
    #[must_use]
    pub fn removed(self, item: &impl Item) -> Self {
        self.on(&item.id(), item.name()).before(item.fields())
    }
}
