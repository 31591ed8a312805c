//! Certificate Issuers: a Local CA and a profile under one name, which requests refer to.

use chancery_shared::id::{CertIssuerId, LocalCaId, ProfileId};
use time::OffsetDateTime;

use super::row::At;
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "cert_issuer";

statements! {
    LIVE = select!(cert_issuer "WHERE deleted_at IS NULL ORDER BY name, cert_issuer_id");
    BY_ID = select!(cert_issuer "WHERE cert_issuer_id = $1");
    OF_PROFILE = select!(cert_issuer "WHERE profile_id = $1 ORDER BY name, cert_issuer_id");
    IDS_BY_NAME = "SELECT cert_issuer_id FROM cert_issuer WHERE name = $1";
    LIVE_BY_NAME = select!(cert_issuer "WHERE name = $1 AND deleted_at IS NULL");
    INSERT = "
        INSERT INTO cert_issuer (cert_issuer_id, name, local_ca_id, profile_id, allow_dn_requests,
                                 allow_csr_requests, allowed_generators, created_at, created_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    UPDATE = "
        UPDATE cert_issuer
           SET name = $2, profile_id = $3, allow_dn_requests = $4, allow_csr_requests = $5,
               allowed_generators = $6
         WHERE cert_issuer_id = $1 AND deleted_at IS NULL";
    SET_GENERATORS = "
        UPDATE cert_issuer SET allowed_generators = $2 WHERE cert_issuer_id = $1";
}

/// A Certificate Issuer, as stored. Which teams may use it stands in [`super::authorised_ca`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertIssuer {
    /// Its id.
    pub id: CertIssuerId,
    /// Its name, unique among the live ones.
    pub name: String,
    /// The CA that signs for it.
    pub local_ca_id: LocalCaId,
    /// What its certificates contain.
    pub profile_id: ProfileId,
    /// Whether keys may be made here for those who ask.
    pub allow_dn_requests: bool,
    /// Whether requests with a CSR are taken.
    pub allow_csr_requests: bool,
    /// Names of the CSR Generators for requests with a DN; empty: all.
    pub allowed_generators: Vec<String>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// Who made it.
    pub created_by: String,
    /// When it was deleted, if it was.
    pub deleted_at: Option<OffsetDateTime>,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    cert_issuer_id: String,
    name: String,
    local_ca_id: String,
    profile_id: String,
    allow_dn_requests: i16,
    allow_csr_requests: i16,
    allowed_generators: String,
    created_at: i64,
    created_by: String,
    deleted_at: Option<i64>,
}

impl TryFrom<Row> for CertIssuer {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.cert_issuer_id };
        Ok(Self {
            id: at.parse("cert_issuer_id", &row.cert_issuer_id)?,
            local_ca_id: at.parse("local_ca_id", &row.local_ca_id)?,
            profile_id: at.parse("profile_id", &row.profile_id)?,
            allowed_generators: serde_json::from_str(&row.allowed_generators)
                .map_err(|_| at.unreadable("allowed_generators"))?,
            name: row.name,
            allow_dn_requests: row.allow_dn_requests != 0,
            allow_csr_requests: row.allow_csr_requests != 0,
            created_at: from_millis(row.created_at),
            created_by: row.created_by,
            deleted_at: row.deleted_at.map(from_millis),
        })
    }
}

impl Store {
    /// The live Certificate Issuers, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn cert_issuers(&self) -> Result<Vec<CertIssuer>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(LIVE).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(CertIssuer::try_from).collect()
    }

    /// The Certificate Issuer of this id, live or deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn cert_issuer(&self, id: CertIssuerId) -> Result<Option<CertIssuer>, StoreError> {
        self.one_cert_issuer(BY_ID, &id.to_string()).await
    }

    /// The live Certificate Issuer of this name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn live_cert_issuer_named(
        &self,
        name: &str,
    ) -> Result<Option<CertIssuer>, StoreError> {
        self.one_cert_issuer(LIVE_BY_NAME, name).await
    }

    /// The ids of all Certificate Issuers that are or were called so.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn cert_issuers_named(&self, name: &str) -> Result<Vec<CertIssuerId>, StoreError> {
        let ids: Vec<String> = sqlx::query_scalar(IDS_BY_NAME)
            .bind(name)
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        ids.iter().map(|id| At { table: TABLE, row: id }.parse("cert_issuer_id", id)).collect()
    }

    /// The Certificate Issuers with this profile, deleted ones too, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn cert_issuers_with_profile(
        &self,
        id: ProfileId,
    ) -> Result<Vec<CertIssuer>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(OF_PROFILE)
            .bind(id.to_string())
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(CertIssuer::try_from).collect()
    }

    async fn one_cert_issuer(
        &self,
        sql: &'static str,
        key: &str,
    ) -> Result<Option<CertIssuer>, StoreError> {
        let row: Option<Row> = sqlx::query_as(sql)
            .bind(key)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(CertIssuer::try_from).transpose()
    }
}

impl Write {
    /// Inserts a live Certificate Issuer that is open to every team.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails, or has no such
    /// Local CA or profile.
    pub async fn insert_cert_issuer(&mut self, issuer: &CertIssuer) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT)
            .bind(issuer.id.to_string())
            .bind(&issuer.name)
            .bind(issuer.local_ca_id.to_string())
            .bind(issuer.profile_id.to_string())
            .bind(i16::from(issuer.allow_dn_requests))
            .bind(i16::from(issuer.allow_csr_requests))
            .bind(serde_json::json!(issuer.allowed_generators).to_string())
            .bind(to_millis(issuer.created_at))
            .bind(&issuer.created_by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Writes what may change of a live issuer; says whether it is live.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn update_cert_issuer(&mut self, issuer: &CertIssuer) -> Result<bool, StoreError> {
        let done = sqlx::query(UPDATE)
            .bind(issuer.id.to_string())
            .bind(&issuer.name)
            .bind(issuer.profile_id.to_string())
            .bind(i16::from(issuer.allow_dn_requests))
            .bind(i16::from(issuer.allow_csr_requests))
            .bind(serde_json::json!(issuer.allowed_generators).to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Sets which CSR Generators an issuer is restricted to.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_allowed_generators(
        &mut self,
        id: CertIssuerId,
        names: &[String],
    ) -> Result<(), StoreError> {
        let done = sqlx::query(SET_GENERATORS)
            .bind(id.to_string())
            .bind(serde_json::json!(names).to_string())
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
