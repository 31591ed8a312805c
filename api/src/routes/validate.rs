//! Rules for the fields of items, collected so that one answer names every field at fault.

use crate::error::{ApiError, FieldError};

/// The fields found wrong so far.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<FieldError>);

impl Faults {
    /// Notes that `field` is wrong.
    pub(super) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(FieldError { field: field.to_owned(), message: message.into() });
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

    /// A name: `most` characters at most, none of them a control character, no blank around.
    pub(super) fn check_name(&mut self, field: &str, text: &str, most: usize) {
        let length = text.chars().count();
        if text.is_empty() || length > most {
            self.add(field, format!("must have 1 to {most} characters"));
        } else if text.trim() != text || text.contains(char::is_control) {
            self.add(field, "must have no blank at either end and no control character");
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
        let breaks = |c: char| c.is_control() || c.is_whitespace() || ",;<>\"()".contains(c);
        let is_mailbox = text.rsplit_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !local.contains('@') && !domain.is_empty()
        });
        if !is_mailbox || text.len() > 254 || text.contains(breaks) {
            self.add(field, "must be one address such as name@example.org");
        }
    }

    /// 400 if there were any.
    pub(super) fn finish(self) -> Result<(), ApiError> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.0)) }
    }
}
