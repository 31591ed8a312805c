//! A batch whose transaction is one text, for SQLite: the engine's thread is asked once and answers
//! once, where a statement at a time would change hands some ten times.

use std::sync::OnceLock;

use chancery_shared::wire::JournalHead;
use sqlx::AssertSqlSafe;

use super::rows::{Csr, History, once};
use super::{Certificate, NewCertificate, TABLE};
use crate::store::audit::{self, ChainedEntry};
use crate::store::engine::EngineName;
use crate::store::journal_head::{bind_raise, raise_among_others};
use crate::store::many_rows::Row;
use crate::store::{Store, StoreError};

/// A text is made for so many certificates: the connection keeps each prepared, and a text for every
/// number would fill memory for nothing.
const COUNTS: [usize; 18] = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, MOST];

/// So many certificates are recorded by one text at most.
pub(super) const MOST: usize = 64;

/// How many of so many certificates share the next transaction: as many as one text records, and
/// all where the engine takes no such text.
pub(super) fn at_a_time(engine: EngineName, certificates: usize) -> usize {
    match engine {
        EngineName::Sqlite => {
            let fitting = COUNTS.iter().rev().find(|count| **count <= certificates);
            fitting.copied().unwrap_or(certificates)
        }
        EngineName::Postgres => certificates,
    }
}

/// The text for so many certificates, each with a request and an entry in its history and without a
/// kept key, of one signer.
fn text(certificates: usize) -> Option<&'static str> {
    static TEXTS: [OnceLock<String>; COUNTS.len()] = [const { OnceLock::new() }; COUNTS.len()];
    let made = TEXTS.get(COUNTS.iter().position(|count| *count == certificates)?)?;
    Some(made.get_or_init(|| {
        let mut statements = vec!["BEGIN IMMEDIATE".to_owned(), none_from_elsewhere(certificates)];
        statements.extend(inserts::<&Certificate>(certificates));
        statements.extend(inserts::<Csr<'_>>(certificates));
        statements.extend(inserts::<History<'_>>(certificates));
        statements.push(raise_among_others());
        // As everywhere last: the entry of each in the audit, and the end of their chain.
        statements.extend(inserts::<ChainedEntry<'_>>(certificates));
        statements.extend([audit::among_others(), "COMMIT".to_owned()]);
        statements.join(";\n")
    }))
}

/// Takes the whole transaction back where one of so many came from elsewhere before: its request, a
/// NULL, has no place in the table. Their other records stand in the way of the rows themselves.
fn none_from_elsewhere(certificates: usize) -> String {
    let rows = vec!["(?, ?)"; certificates].join(", ");
    format!(
        "INSERT OR ROLLBACK INTO csr (csr_id, der)
         SELECT certificate_id, NULL FROM (VALUES {rows}) AS one
                CROSS JOIN certificate INDEXED BY certificate_from_elsewhere
          WHERE signer_id IS NULL AND serial_number = one.column1 AND issuer_key = one.column2"
    )
}

/// One at fault, or one that is there already, takes the whole transaction back: what goes with it
/// must not come to the record that there is. A statement that may be taken back alone has to
/// keep a copy of each page that it changes, and nobody would go on after it.
fn inserts<T: Row>(rows: usize) -> Vec<String> {
    let (mut rest, mut statements) = (rows, Vec::new());
    for (size, sql) in T::inserts().of(EngineName::Sqlite) {
        while rest >= *size {
            let sql = sql.trim_end_matches(once(EngineName::Sqlite));
            statements.push(sql.replacen("INSERT INTO", "INSERT OR ROLLBACK INTO", 1));
            rest -= size;
        }
    }
    statements
}

impl Store {
    /// Records all of `new` in one transaction and raises the known head of their journal. `false`,
    /// and nothing recorded, where it takes more than one text, or one of them is there already.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub(super) async fn record_whole(
        &self,
        new: &[&NewCertificate],
        heads: &[JournalHead],
    ) -> Result<bool, StoreError> {
        let (EngineName::Sqlite, [head], Some(text)) = (self.engine(), heads, text(new.len()))
        else {
            return Ok(false);
        };
        let certificates: Vec<_> = new.iter().map(|new| &new.certificate).collect();
        let csrs: Vec<_> = new.iter().filter_map(|new| Csr::of(new)).collect();
        let histories: Vec<_> = new.iter().flat_map(|new| History::of(new)).collect();
        // Of these alone the statements tell where one is there already.
        let is_plain =
            |new: &&NewCertificate| new.key_data.is_none() && new.certificate.names_its_entry();
        if csrs.len() != new.len() || histories.len() != new.len() || !new.iter().all(is_plain) {
            return Ok(false);
        }
        let query = sqlx::query(AssertSqlSafe(text));
        let query = certificates
            .iter()
            .fold(query, |query, row| query.bind(&row.serial_number).bind(&row.issuer_key));
        let query = certificates.iter().fold(query, |query, row| row.bind(query));
        let query = csrs.iter().fold(query, |query, row| row.bind(query));
        let query = histories.iter().fold(query, |query, row| row.bind(query));
        let query = bind_raise(head, query);
        let write = self.before_begin().await?;
        let Some(mut chain) = write.chain().take_known().await else {
            write.leave();
            return Ok(false);
        };
        let entries = chain.chain(new.iter().map(|new| &new.audit));
        let query = entries.iter().fold(query, |query, row| row.bind(query));
        let query = audit::bind_head(&chain, query);
        match write.run_whole(TABLE, query).await {
            Ok(()) => {
                chain.end();
                Ok(true)
            }
            // One is there already, or at fault.
            Err(
                error @ (StoreError::Taken { .. }
                | StoreError::Reference { .. }
                | StoreError::Statement { .. }),
            ) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(certificates = new.len(), error, "not recorded together");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
