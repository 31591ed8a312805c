//! Serial numbers and thumbprints on SQLite: words of the index that is filled in batches. Those
//! above its mark are read from the rows.
//!
//! Behind a serial number and an `x` stands the beginning of its issuer's key: many certificates
//! from elsewhere may be number 1.

use super::sqlite_text::quoted;

/// The records with one number: those that the index has, and those above its mark.
macro_rules! by_number {
    ($columns:literal, $word:literal, $is_it:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM certificate
              WHERE record_no IN (SELECT rowid FROM certificate_text_numbers
                                   WHERE certificate_text_numbers MATCH '\"' || ",
            $word,
            " || '\"')
                AND ",
            $is_it,
            " UNION ALL SELECT ",
            $columns,
            " FROM certificate
              WHERE record_no > (SELECT indexed_up_to FROM certificate_text_progress)
                AND ",
            $is_it
        )
    };
}

statements! {
    pub(super) BY_THUMBPRINT = by_number!("certificate_id, der", "$1", "thumbprint = $1");
    pub(super) ID_BY_SERIAL = by_number!(
        "certificate_id",
        "$2 || 'x' || substr($1, 1, 16)",
        "serial_number = $2 AND issuer_key = $1"
    );
    /// The candidates among the indexed rows, with the parameters of `among`: `$16` is
    /// [`of_serial_number`] or [`of_thumbprint`].
    pub(super) OF_NUMBERS = of_texts!("certificate_text_numbers");
}

/// What the index is asked for a serial number of whatever issuer.
pub(super) fn of_serial_number(digits: &str) -> String {
    format!("{} *", quoted(&format!("{digits}x")))
}

/// What the index is asked for a thumbprint.
pub(super) fn of_thumbprint(digits: &str) -> String {
    quoted(digits)
}
