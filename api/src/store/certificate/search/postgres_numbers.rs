//! Serial numbers and thumbprints on PostgreSQL, which has a tree of each.

statements! {
    pub(super) BY_THUMBPRINT = "SELECT certificate_id, der FROM certificate WHERE thumbprint = $1";
    pub(super) ID_BY_SERIAL = "
        SELECT certificate_id FROM certificate WHERE issuer_key = $1 AND serial_number = $2";
    /// The candidates with one number, `$16`, with the parameters of `among`.
    pub(super) OF_SERIAL_NUMBER = rows_where!("serial_number");
    /// The candidates with one thumbprint, likewise.
    pub(super) OF_THUMBPRINT = rows_where!("thumbprint");
}
