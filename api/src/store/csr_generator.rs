//! CSR Generators: which key pairs the service makes for those who ask with a DN.

use chancery_shared::id::CsrGeneratorId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use serde::Serialize;
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use time::OffsetDateTime;

use super::row::At;
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "csr_generator";

statements! {
    ALL = select!(csr_generator "ORDER BY created_at, csr_generator_id");
    BY_ID = select!(csr_generator "WHERE csr_generator_id = $1");
    BY_NAME = select!(csr_generator "WHERE name = $1");
    INSERT = "
        INSERT INTO csr_generator (csr_generator_id, name, key_algorithm, signature_algorithm,
                                   created_at, created_by)
        VALUES ($1, $2, $3, $4, $5, $6)";
    UPDATE = "
        UPDATE csr_generator SET name = $2, key_algorithm = $3, signature_algorithm = $4
         WHERE csr_generator_id = $1";
    DELETE = "DELETE FROM csr_generator WHERE csr_generator_id = $1";
}

/// A CSR Generator, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsrGenerator {
    /// Its id.
    pub id: CsrGeneratorId,
    /// Its name, unique.
    pub name: String,
    /// The kind of key it makes.
    pub key: KeyAlgorithm,
    /// How that key signs its CSR.
    pub signature: SignatureAlgorithm,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// Who made it.
    pub created_by: String,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    csr_generator_id: String,
    name: String,
    key_algorithm: String,
    signature_algorithm: String,
    created_at: i64,
    created_by: String,
}

impl TryFrom<Row> for CsrGenerator {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.csr_generator_id };
        Ok(Self {
            id: at.parse("csr_generator_id", &row.csr_generator_id)?,
            key: named(&row.key_algorithm).ok_or_else(|| at.unreadable("key_algorithm"))?,
            signature: named(&row.signature_algorithm)
                .ok_or_else(|| at.unreadable("signature_algorithm"))?,
            name: row.name,
            created_at: from_millis(row.created_at),
            created_by: row.created_by,
        })
    }
}

/// The algorithm of this name on the wire.
fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    let name: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
        name.into_deserializer();
    T::deserialize(name).ok()
}

/// The name of an algorithm on the wire.
fn name(algorithm: impl Serialize) -> Option<String> {
    serde_json::to_value(algorithm).ok()?.as_str().map(str::to_owned)
}

impl Store {
    /// All CSR Generators, oldest first.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn csr_generators(&self) -> Result<Vec<CsrGenerator>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(ALL).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(CsrGenerator::try_from).collect()
    }

    /// The CSR Generator of this id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn csr_generator(
        &self,
        id: CsrGeneratorId,
    ) -> Result<Option<CsrGenerator>, StoreError> {
        self.one_csr_generator(BY_ID, &id.to_string()).await
    }

    /// The CSR Generator of this name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn csr_generator_named(
        &self,
        name: &str,
    ) -> Result<Option<CsrGenerator>, StoreError> {
        self.one_csr_generator(BY_NAME, name).await
    }

    async fn one_csr_generator(
        &self,
        sql: &'static str,
        key: &str,
    ) -> Result<Option<CsrGenerator>, StoreError> {
        let row: Option<Row> = sqlx::query_as(sql)
            .bind(key)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(CsrGenerator::try_from).transpose()
    }
}

impl Write {
    /// Inserts a CSR Generator.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn insert_csr_generator(&mut self, new: &CsrGenerator) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT)
            .bind(new.id.to_string())
            .bind(&new.name)
            .bind(name(new.key))
            .bind(name(new.signature))
            .bind(to_millis(new.created_at))
            .bind(&new.created_by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Writes name and algorithms of a CSR Generator anew.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn update_csr_generator(&mut self, new: &CsrGenerator) -> Result<(), StoreError> {
        let done = sqlx::query(UPDATE)
            .bind(new.id.to_string())
            .bind(&new.name)
            .bind(name(new.key))
            .bind(name(new.signature))
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Deletes a CSR Generator.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn delete_csr_generator(&mut self, id: CsrGeneratorId) -> Result<(), StoreError> {
        let done = sqlx::query(DELETE).bind(id.to_string()).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
