//! Stored values, read back as what they are.

use std::str::FromStr;

use super::StoreError;

/// One row while it is read: its table and its primary key, for the error.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    pub(super) table: &'static str,
    pub(super) row: &'a str,
}

impl At<'_> {
    /// Reads the text of `column` as a `T`.
    pub(super) fn parse<T: FromStr>(
        self,
        column: &'static str,
        text: &str,
    ) -> Result<T, StoreError> {
        text.parse().map_err(|_| self.unreadable(column))
    }

    /// The same for a column that may be NULL.
    pub(super) fn parse_option<T: FromStr>(
        self,
        column: &'static str,
        text: Option<&str>,
    ) -> Result<Option<T>, StoreError> {
        text.map(|text| self.parse(column, text)).transpose()
    }

    /// Reads a number that is never negative.
    pub(super) fn unsigned(self, column: &'static str, number: i64) -> Result<u64, StoreError> {
        u64::try_from(number).map_err(|_| self.unreadable(column))
    }

    /// The error for a value that this service never writes.
    pub(super) fn unreadable(self, column: &'static str) -> StoreError {
        StoreError::Unreadable { table: self.table, row: self.row.to_owned(), column }
    }
}

/// Numbers of this service stay far below 2^63: sequence numbers, versions, counts.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
