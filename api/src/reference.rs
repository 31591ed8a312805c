//! Things that a request names: by their id, or by their name where the field takes one. Such a
//! field is an id first, so that nobody takes the place of an id by a name; [`looks_like_an_id`] keeps
//! new names away from ids. What is deleted is not found.

use chancery_shared::id::{Id, kind};

use crate::echo::cut;
use crate::error::{ApiError, Code};
use crate::store::account::Account;
use crate::store::cert_issuer::CertIssuer;
use crate::store::csr_generator::CsrGenerator;
use crate::store::key_store::KeyStore;
use crate::store::local_ca::LocalCa;
use crate::store::profile::Profile;
use crate::store::team::Team;
use crate::store::{Store, StoreError};

/// What can be named.
pub(crate) trait Item: Sized {
    /// Of its id.
    type Kind;

    /// What people call it.
    const KIND: &str;

    fn id(&self) -> Id<Self::Kind>;
}

/// Where items are looked for. What is deleted is not found.
pub(crate) trait Find<T: Item> {
    async fn of_id(&self, id: Id<T::Kind>) -> Result<Option<T>, StoreError>;

    async fn of_name(&self, name: &str) -> Result<Option<T>, StoreError>;
}

macro_rules! items {
    ($($item:ty: $kind:ty, $words:literal, $of_id:ident, $of_name:ident, $is_live:expr;)*) => {
        $(impl Item for $item {
            type Kind = $kind;

            const KIND: &str = $words;

            fn id(&self) -> Id<$kind> {
                self.id
            }
        }

        impl Find<$item> for Store {
            async fn of_id(&self, id: Id<$kind>) -> Result<Option<$item>, StoreError> {
                Ok(self.$of_id(id).await?.filter($is_live))
            }

            async fn of_name(&self, name: &str) -> Result<Option<$item>, StoreError> {
                self.$of_name(name).await
            }
        })*
    };
}

items! {
    Account: kind::User, "user", account, account_named, |_| true;
    Team: kind::Team, "team", team, team_named, |_| true;
    Profile: kind::Profile, "profile", profile, profile_named, |_| true;
    CsrGenerator: kind::CsrGenerator, "CSR Generator", csr_generator, csr_generator_named,
        |_| true;
    KeyStore: kind::KeyStore, "Key Store", key_store, live_key_store_named,
        |found| found.deleted_at.is_none();
    LocalCa: kind::LocalCa, "Local CA", local_ca, live_local_ca_named,
        |found| found.deleted_at.is_none();
    CertIssuer: kind::CertIssuer, "Certificate Issuer", cert_issuer, live_cert_issuer_named,
        |found| found.deleted_at.is_none();
}

/// The item of this id.
///
/// # Errors
///
/// Only if the database fails.
pub(crate) async fn by_id<T: Item>(
    source: &impl Find<T>,
    text: &str,
) -> Result<Option<T>, StoreError> {
    match text.parse() {
        Ok(id) => source.of_id(id).await,
        Err(_) => Ok(None),
    }
}

/// The item of this id or, where nothing has it, of this name.
///
/// # Errors
///
/// Only if the database fails.
pub(crate) async fn by_either<T: Item>(
    source: &impl Find<T>,
    text: &str,
) -> Result<Option<T>, StoreError> {
    // Nothing is called so, and PostgreSQL takes no text with a NUL.
    if text.contains('\0') {
        return Ok(None);
    }
    match by_id(source, text).await? {
        Some(item) => Ok(Some(item)),
        None => source.of_name(text).await,
    }
}

/// Whether a text has the form of an id, in whichever case: no new thing may be called so.
pub(crate) fn looks_like_an_id(text: &str) -> bool {
    text.to_ascii_lowercase().parse::<Id<()>>().is_ok()
}

/// A field of a request, and what stands in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Field<'a> {
    /// Takes an id alone.
    Id(&'static str, Option<&'a str>),
    /// Takes a name or an id.
    Either(&'static str, Option<&'a str>),
}

impl Field<'_> {
    /// Whether anything stands in it.
    pub(crate) fn is_given(&self) -> bool {
        let (Self::Id(_, text) | Self::Either(_, text)) = self;
        text.is_some()
    }
}

/// The one item that every given field names, and the first of them; `None` where none is given.
///
/// # Errors
///
/// `unknown` where a field names nothing, [`Code::InvalidRequest`] where two name different items.
pub(crate) async fn agreed<T: Item>(
    source: &impl Find<T>,
    unknown: Code,
    fields: &[Field<'_>],
) -> Result<Option<(&'static str, T)>, ApiError> {
    let mut agreed: Option<(&str, T)> = None;
    for given in fields {
        let (field, found) = match *given {
            Field::Id(field, Some(text)) => {
                let no_id = || format!("{} is not the id of a {}", cut(text), T::KIND);
                (field, by_id(source, text).await?.ok_or_else(no_id))
            }
            Field::Either(field, Some(text)) => {
                let found = by_either(source, text).await?;
                (field, found.ok_or_else(|| unknown_words::<T>(text)))
            }
            Field::Id(_, None) | Field::Either(_, None) => continue,
        };
        let found: T = found.map_err(|words| ApiError::refused_field(unknown, field, words))?;
        match &agreed {
            Some((first, other)) if other.id() != found.id() => {
                let message =
                    format!("names another {} than {first}; send one of the two", T::KIND);
                return Err(ApiError::invalid_field(field, message));
            }
            Some(_) => {}
            None => agreed = Some((field, found)),
        }
    }
    Ok(agreed)
}

/// The sentence for a text that names no item.
pub(crate) fn unknown_words<T: Item>(text: &str) -> String {
    format!("{} is neither id nor name of a {}", cut(text), T::KIND)
}

/// The refusal of a name that another item has.
pub(crate) fn name_taken<T: Item>(field: &str, name: &str) -> ApiError {
    let message = format!("there is a {} {} already; choose another name", T::KIND, cut(name));
    ApiError::refused_field(Code::NameTaken, field, message)
}

#[cfg(test)]
mod tests;
