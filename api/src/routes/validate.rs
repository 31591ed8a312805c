//! Rules for the fields of items, collected so that one answer names every field at fault.

use std::sync::LazyLock;

use chancery_shared::id::Id;
use regex::Regex;

use crate::app::AppState;
use crate::error::{ApiError, Code, FieldError};
use crate::name::email_address;
use crate::reference::{Find, Item, by_either, looks_like_an_id, unknown_words};
use crate::store::{Store, StoreError};

/// The fields found wrong so far.
#[derive(Debug, Default)]
pub(super) struct Faults {
    fields: Vec<FieldError>,
    /// So many of them name nothing, and are sound but for that.
    unknown: usize,
}

impl Faults {
    /// Notes that `field` is wrong.
    pub(super) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.fields.push(FieldError { field: field.to_owned(), message: message.into() });
    }

    /// Notes what is wrong with the fields of the object in the field `parent`.
    pub(super) fn add_below(&mut self, parent: &str, error: ApiError) {
        match error {
            ApiError::Refused(refused) if !refused.fields.is_empty() => {
                for FieldError { field, message } in refused.fields {
                    self.add(&format!("{parent}.{field}"), message);
                }
            }
            other => self.add(parent, other.to_string()),
        }
    }

    /// A name: `most` characters at most, all of which show, no blank around; not of the form of an id.
    pub(super) fn check_name(&mut self, field: &str, text: &str, most: usize) {
        let length = text.chars().count();
        if text.is_empty() || length > most {
            self.add(field, format!("must have 1 to {most} characters"));
        } else if text.trim() != text || INVISIBLE.is_match(text) {
            self.add(
                field,
                "must have no blank at either end and no character that does not show, such as a \
                 control or format character",
            );
        } else if looks_like_an_id(text) {
            self.add(
                field,
                "must not look like an id, which is 24 hexadecimal digits; name it otherwise",
            );
        }
    }

    /// Free text of `most` characters at most.
    pub(super) fn check_length(&mut self, field: &str, text: &str, most: usize) {
        if text.chars().count() > most {
            self.add(field, format!("must have at most {most} characters"));
        }
    }

    /// One mailbox; nothing that could add a header or a second one.
    pub(super) fn check_email(&mut self, field: &str, text: &str) {
        if let Err(error) = email_address::check(text) {
            self.add(field, error.to_string());
        }
    }

    /// The items that the elements of a list name by id or name, each once.
    pub(super) async fn references<T: Item>(
        &mut self,
        state: &AppState,
        field: &str,
        named: &[String],
    ) -> Result<Vec<Id<T::Kind>>, StoreError>
    where
        Store: Find<T>,
    {
        let mut found = Vec::new();
        for (index, text) in named.iter().enumerate() {
            match by_either::<T>(&state.store, text).await? {
                Some(item) if found.contains(&item.id()) => {}
                Some(item) => found.push(item.id()),
                None => {
                    self.add(&format!("{field}[{index}]"), unknown_words::<T>(text));
                    self.unknown += 1;
                }
            }
        }
        Ok(found)
    }

    /// 400 if there were any; 422 if nothing is wrong but that some name nothing.
    pub(super) fn finish(self) -> Result<(), ApiError> {
        match self.fields.len() {
            0 => Ok(()),
            all if all == self.unknown => {
                Err(ApiError::refused_fields(Code::UnknownReference, self.fields))
            }
            _ => Err(ApiError::invalid(self.fields)),
        }
    }
}

/// Controls, formats and what no version of Unicode has assigned; what separates lines; what shows as
/// nothing though it counts as a letter or a mark; and the pattern of no dots in Braille.
static INVISIBLE: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the pattern is ours")]
    Regex::new(r"[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]").expect("a pattern")
});
