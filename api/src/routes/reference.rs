//! Things that a request names by name, by id, or by both.

use std::str::FromStr;

use crate::error::{ApiError, Code};

/// What a request says of one thing, and by which fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference<'a> {
    /// What is meant, such as `Local CA`.
    pub(super) kind: &'static str,
    /// Field and value of the name.
    pub(super) name: (&'static str, Option<&'a str>),
    /// Field and value of the id.
    pub(super) id: (&'static str, Option<&'a str>),
}

impl<'a> Reference<'a> {
    /// The id, if there is one that can name anything.
    pub(super) fn parsed_id<Id: FromStr>(self) -> Option<Id> {
        self.id.1.and_then(|id| id.parse().ok())
    }

    /// The name, if there is one.
    pub(super) fn given_name(self) -> Option<&'a str> {
        self.name.1
    }

    /// The one thing that was meant. `by_name` and `by_id` are what was found.
    ///
    /// # Errors
    ///
    /// [`Code::InvalidRequest`] where nothing is named, or two different things;
    /// [`Code::UnknownReference`] where what is named was not found.
    pub(super) fn resolve<T: PartialEq>(
        self,
        by_name: Option<T>,
        by_id: Option<T>,
    ) -> Result<T, ApiError> {
        for ((field, given), found) in [(self.name, &by_name), (self.id, &by_id)] {
            if let (Some(given), None) = (given, found) {
                let message = format!("there is no {} {given}", self.kind);
                return Err(ApiError::refused_field(Code::UnknownReference, field, message));
            }
        }
        let (name, id) = (self.name.0, self.id.0);
        match (by_name, by_id) {
            (Some(by_name), Some(by_id)) if by_name != by_id => Err(ApiError::invalid_field(
                id,
                format!("names another {} than {name}; send one of the two", self.kind),
            )),
            (Some(found), _) | (None, Some(found)) => Ok(found),
            (None, None) => Err(ApiError::invalid_field(id, format!("is missing; or send {name}"))),
        }
    }
}
