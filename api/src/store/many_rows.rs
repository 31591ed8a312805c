//! Rows inserted by as few statements as there can be: each is a hand-over to the database and
//! back.

use std::fmt::Write as _;

use sqlx::Any;
use sqlx::any::AnyArguments;
use sqlx::query::Query;

use super::engine::EngineName;
use super::{StoreError, Write};

/// Rows of one statement. Any number of rows is a sum of few of these, and so a connection keeps
/// few statements prepared.
const SIZES: [usize; 5] = [16, 8, 4, 2, 1];

/// The same `INSERT` for each of [`SIZES`].
pub(super) type Sized = [(usize, &'static str); SIZES.len()];

/// The same with the parameters of each engine: SQLite looks for the name of a parameter among all
/// of a statement's, PostgreSQL knows no parameters without one.
pub(super) struct Inserts {
    sqlite: Sized,
    postgres: Sized,
}

impl Inserts {
    pub(super) fn of(&self, engine: EngineName) -> &Sized {
        match engine {
            EngineName::Sqlite => &self.sqlite,
            EngineName::Postgres => &self.postgres,
        }
    }
}

pub(super) type Bound<'q> = Query<'q, Any, AnyArguments>;

/// A row that can be inserted with others.
pub(super) trait Row {
    const TABLE: &'static str;

    fn inserts() -> &'static Inserts;

    /// Binds its values, in the order of the columns.
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q>;
}

pub(super) fn inserts(table: &str, columns: &str) -> Inserts {
    inserts_unless(table, columns, |_| "")
}

/// The same with what each engine is told of rows that meet one that is there.
pub(super) fn inserts_unless(
    table: &str,
    columns: &str,
    unless: impl Fn(EngineName) -> &'static str,
) -> Inserts {
    let sized = |engine| sized(table, columns, unless(engine), engine);
    Inserts { sqlite: sized(EngineName::Sqlite), postgres: sized(EngineName::Postgres) }
}

fn sized(table: &str, columns: &str, end: &str, engine: EngineName) -> Sized {
    let width = columns.split(',').count();
    SIZES.map(|rows| {
        let mut sql = format!("INSERT INTO {table} ({columns}) VALUES ");
        for parameter in 1..=rows * width {
            let before = match (parameter % width == 1, parameter) {
                (true, 1) => "(",
                (true, _) => "), (",
                (false, _) => ", ",
            };
            let _ = match engine {
                EngineName::Sqlite => write!(sql, "{before}?"),
                EngineName::Postgres => write!(sql, "{before}${parameter}"),
            };
        }
        sql.push(')');
        sql.push_str(end);
        // As long as the process, as a constant lives.
        (rows, &*sql.leak())
    })
}

impl Write {
    /// Inserts them in their order; how many rows there are now that there were not.
    pub(super) async fn insert_rows<T: Row>(&mut self, rows: &[T]) -> Result<usize, StoreError> {
        let (mut rest, mut inserted) = (rows, 0);
        for (size, sql) in T::inserts().of(self.engine()) {
            while let Some((some, others)) = rest.split_at_checked(*size) {
                let query = some.iter().fold(sqlx::query(*sql), |query, row| row.bind(query));
                let done = query.execute(self.connection()).await;
                inserted += done.map_err(StoreError::of(T::TABLE))?.rows_affected();
                rest = others;
            }
        }
        Ok(usize::try_from(inserted).unwrap_or(usize::MAX))
    }
}
