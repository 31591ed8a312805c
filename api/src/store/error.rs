//! What can go wrong between the service and its database.

use sqlx::error::{DatabaseError, ErrorKind};

use super::loss;

/// A failed store operation, sorted by what the caller should do next.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Wrong address, or a database that this build does not support; only at start.
    #[error("the database can't be opened")]
    Open(#[source] sqlx::Error),
    /// The schema is not what this build needs; only at start.
    #[error("the database's schema can't be brought up to date")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// PostgreSQL lacks its trigrams, and this role may not add them; only at start.
    #[error(
        "PostgreSQL's extension pg_trgm is needed and can't be made: let a superuser say CREATE \
         EXTENSION pg_trgm in this database once, or give the service's role CREATE on the \
         database; the extension comes with PostgreSQL's contrib package"
    )]
    NoTrigrams(#[source] sqlx::migrate::MigrateError),
    /// The database has no schema; only where none is made.
    #[error("this is no database of the service")]
    NoSchema(#[source] sqlx::Error),
    /// The schema is not that of this build; only where it is left as it is.
    #[error(
        "the database's schema is of another version of the service; start this one on it first"
    )]
    OtherSchema,
    /// The engine is away, busy or full: the same call may pass later.
    #[error("the database is not available (table {table})")]
    Unavailable {
        /// Which table was asked.
        table: &'static str,
        /// What the engine said.
        #[source]
        source: sqlx::Error,
    },
    /// A row with the same unique value is there.
    #[error("table {table} already has such a row")]
    Taken {
        /// Which table.
        table: &'static str,
    },
    /// A row that this one refers to is not there any more, or others refer to the one that was to go:
    /// what was looked at before has changed meanwhile.
    #[error("table {table}: a row that another refers to was deleted meanwhile")]
    Reference {
        /// Which table.
        table: &'static str,
    },
    /// The engine refused the statement: a fault of ours.
    #[error("a statement on table {table} failed")]
    Statement {
        /// Which table.
        table: &'static str,
        /// What the engine said.
        #[source]
        source: sqlx::Error,
    },
    /// A stored value is not what this service writes.
    #[error("table {table}, row {row}: {column} can't be read")]
    Unreadable {
        /// Which table.
        table: &'static str,
        /// Primary key of the row.
        row: String,
        /// The value that makes no sense.
        column: &'static str,
    },
    /// The task that groups writes has ended; only while the process stops.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Sorts what the engine said about a statement on `table`.
    pub(super) fn of(table: &'static str) -> impl Fn(sqlx::Error) -> Self + Copy {
        move |source| match source.as_database_error().map(DatabaseError::kind) {
            Some(ErrorKind::UniqueViolation) => Self::Taken { table },
            Some(ErrorKind::ForeignKeyViolation) => Self::Reference { table },
            _ if may_pass_later(&source) => {
                if is_loss(&source) {
                    loss::note();
                }
                Self::Unavailable { table, source }
            }
            _ => Self::Statement { table, source },
        }
    }
}

fn may_pass_later(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        // A server that ends while a connection is made answers half a sentence.
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| is_passing(&code)),
        _ => false,
    }
}

/// Whether the connection is gone, and perhaps all others with it.
fn is_loss(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            code.len() == 5 && (code.starts_with("08") || code.starts_with("57P"))
        }),
        _ => false,
    }
}

/// PostgreSQL: connection (08), resources (53), operator (57), serialisation and deadlock (40).
/// SQLite: its result code's low byte says busy, locked, I/O error, full or can't open.
fn is_passing(code: &str) -> bool {
    if code.len() == 5 {
        return ["08", "40", "53", "57"].iter().any(|class| code.starts_with(class));
    }
    code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 10 | 13 | 14))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_conversation_goes_away_by_itself() {
        let broken = sqlx::Error::Protocol("unexpected response".into());

        let error = StoreError::of("account")(broken);

        assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    }

    #[test]
    fn only_what_goes_away_by_itself_counts_as_passing() {
        for code in ["08006", "40001", "40P01", "53300", "57P01", "5", "517", "13", "266"] {
            assert!(is_passing(code), "{code}");
        }
        for code in ["23503", "42601", "22021", "1", "19", "1299"] {
            assert!(!is_passing(code), "{code}");
        }
    }
}
