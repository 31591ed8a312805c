//! The SQL of searches: for each source how far its next candidates reach, and those of them that
//! all exact filters hold for.

use super::source::Kind;
use super::{postgres_numbers, sqlite_numbers, sqlite_text};

/// The rows among the candidates, which are of `$1` (not included) to `$2`, that pass the exact
/// filters, `$3` of them at most.
macro_rules! among {
    ($candidates:expr) => {
        among!("", $candidates)
    };
    ($before:expr, $candidates:expr) => {
        concat!(
            "WITH RECURSIVE ",
            $before,
            " candidate (record_no) AS MATERIALIZED (",
            $candidates,
            ")
             SELECT c.record_no, c.subject_dn, c.common_name, c.issuer_dn, c.subject_alt_names,
                    c.extra_details
               FROM candidate CROSS JOIN certificate AS c
              WHERE c.record_no = candidate.record_no
                AND ($4 = '' OR c.team_id = $4)
                AND ($5 = '' OR c.owner_user_id = $5)
                AND ($6 = '' OR $6 LIKE '%' || c.cert_issuer_id || '%')
                AND ($7 = '' OR c.thumbprint = $7)
                AND ($8 = '' OR c.serial_number = $8)
                AND c.not_before BETWEEN $9 AND $10
                AND c.not_after BETWEEN $11 AND $12
                AND ((1 << (2 * c.revoked + c.renewed)) & $13) <> 0
                AND ($14 = '' OR c.owner_user_id = $14 OR c.is_ca = 1
                     OR $15 LIKE '%' || c.team_id || '%')
              ORDER BY c.record_no
              LIMIT $3"
        )
    };
}

/// Those where a column has one value, `$16`.
macro_rules! rows_where {
    ($column:literal) => {
        among!(concat!(
            "SELECT record_no FROM certificate WHERE ",
            $column,
            " = $16 AND record_no > $1 AND record_no <= $2"
        ))
    };
}

/// The number of the `$3`th after `$2`, or the highest where there are not so many.
macro_rules! reach {
    ($candidates:expr) => {
        concat!(
            "SELECT CASE WHEN COUNT(*) < $3 THEN 9223372036854775807 ELSE MAX(record_no) END
               FROM (",
            $candidates,
            " LIMIT $3) AS first"
        )
    };
}

macro_rules! reach_where {
    ($column:literal) => {
        reach!(concat!(
            "SELECT record_no FROM certificate WHERE ",
            $column,
            " = $1 AND record_no > $2 ORDER BY record_no"
        ))
    };
}

/// As the index has it.
macro_rules! end {
    () => {
        "(not_after / 2592000000 * 4 + revoked * 2 + renewed)"
    };
}

macro_rules! begin {
    () => {
        "(not_before / 2592000000)"
    };
}

/// The shelves from one to another that there are: as many steps, whatever stands on them.
macro_rules! shelves {
    ($shelf:expr, $from:literal, $to:literal) => {
        concat!(
            "shelf (s) AS (
                 SELECT (SELECT ",
            $shelf,
            " FROM certificate WHERE ",
            $shelf,
            " >= ",
            $from,
            "
                          ORDER BY ",
            $shelf,
            " LIMIT 1)
                  UNION ALL
                 SELECT (SELECT ",
            $shelf,
            " FROM certificate WHERE ",
            $shelf,
            " > shelf.s
                          ORDER BY ",
            $shelf,
            " LIMIT 1)
                   FROM shelf WHERE shelf.s < ",
            $to,
            ")"
        )
    };
}

statements! {
    OF_ALL = among!("SELECT record_no FROM certificate WHERE record_no > $1 AND record_no <= $2");
    OF_TEAM = rows_where!("team_id");
    OF_OWNER = rows_where!("owner_user_id");
    OF_CERT_ISSUER = rows_where!("cert_issuer_id");
    OF_ISSUER = rows_where!("issuer_dn_key");
    OF_CAS = among!(
        "SELECT record_no FROM certificate
          WHERE is_ca = 1 AND $16 = 'CA' AND record_no > $1 AND record_no <= $2"
    );
    OF_END = among!(
        concat!(shelves!(end!(), "$16", "$17"), ","),
        concat!(
            "SELECT certificate.record_no
               FROM shelf CROSS JOIN certificate
              WHERE shelf.s <= $17 AND ((1 << CAST(shelf.s & 3 AS INTEGER)) & $13) <> 0
                AND ", end!(), " = shelf.s
                AND record_no > $1 AND record_no <= $2 AND not_after BETWEEN $11 AND $12"
        )
    );
    OF_BEGIN = among!(
        concat!(shelves!(begin!(), "$16", "$17"), ","),
        concat!(
            "SELECT certificate.record_no
               FROM shelf CROSS JOIN certificate
              WHERE shelf.s <= $17 AND ", begin!(), " = shelf.s
                AND record_no > $1 AND record_no <= $2 AND not_before BETWEEN $9 AND $10"
        )
    );

    REACH_OF_TEAM = reach_where!("team_id");
    REACH_OF_OWNER = reach_where!("owner_user_id");
    REACH_OF_CERT_ISSUER = reach_where!("cert_issuer_id");
    REACH_OF_ISSUER = reach_where!("issuer_dn_key");
    REACH_OF_CAS = reach!(
        "SELECT record_no FROM certificate
          WHERE is_ca = 1 AND $1 = 'CA' AND record_no > $2 ORDER BY record_no"
    );
    /// On each shelf the `$3`th after `$2`: the first of them.
    REACH_OF_END = concat!(
        "WITH RECURSIVE ", shelves!(end!(), "$4", "$5"), "
         SELECT COALESCE(MIN((
                    SELECT record_no FROM certificate
                     WHERE ", end!(), " = shelf.s AND record_no > $2
                       AND not_after BETWEEN $6 AND $7
                     ORDER BY record_no LIMIT 1 OFFSET $3)), 9223372036854775807)
           FROM shelf
          WHERE shelf.s <= $5 AND ((1 << CAST(shelf.s & 3 AS INTEGER)) & $1) <> 0"
    );
    REACH_OF_BEGIN = concat!(
        "WITH RECURSIVE ", shelves!(begin!(), "$3", "$4"), "
         SELECT COALESCE(MIN((
                    SELECT record_no FROM certificate
                     WHERE ", begin!(), " = shelf.s AND record_no > $1
                       AND not_before BETWEEN $5 AND $6
                     ORDER BY record_no LIMIT 1 OFFSET $2)), 9223372036854775807)
           FROM shelf
          WHERE shelf.s <= $4"
    );
}

/// The candidates of a source among the rows, with the parameters of [`among`].
pub(super) fn of(kind: Kind) -> &'static str {
    match kind {
        Kind::All => OF_ALL,
        Kind::Team => OF_TEAM,
        Kind::Owner => OF_OWNER,
        Kind::CertIssuer => OF_CERT_ISSUER,
        Kind::Issuer => OF_ISSUER,
        Kind::SerialNumber => postgres_numbers::OF_SERIAL_NUMBER,
        Kind::Thumbprint => postgres_numbers::OF_THUMBPRINT,
        Kind::Cas => OF_CAS,
        Kind::End => OF_END,
        Kind::Begin => OF_BEGIN,
        Kind::Numbers => sqlite_numbers::OF_NUMBERS,
        Kind::Text(texts) => sqlite_text::of(texts),
    }
}

/// How far the next candidates reach; `None` where it needs no asking.
pub(super) fn reach_of(kind: Kind) -> Option<&'static str> {
    match kind {
        // There are few, or they are what is left.
        Kind::All | Kind::SerialNumber | Kind::Thumbprint | Kind::Numbers => None,
        Kind::Team => Some(REACH_OF_TEAM),
        Kind::Owner => Some(REACH_OF_OWNER),
        Kind::CertIssuer => Some(REACH_OF_CERT_ISSUER),
        Kind::Issuer => Some(REACH_OF_ISSUER),
        Kind::Cas => Some(REACH_OF_CAS),
        Kind::End => Some(REACH_OF_END),
        Kind::Begin => Some(REACH_OF_BEGIN),
        Kind::Text(texts) => Some(sqlite_text::reach_of(texts)),
    }
}
