//! Profiles: what one kind of certificate may contain.

use chancery_shared::id::ProfileId;
use time::OffsetDateTime;

use super::row::At;
use super::{Store, StoreError, Write};
use crate::inventory::profile_definition::ProfileDefinition;
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "profile";

statements! {
    ALL = select!(profile "ORDER BY name, profile_id");
    BY_ID = select!(profile "WHERE profile_id = $1");
    BY_NAME = select!(profile "WHERE name = $1");
    INSERT = "
        INSERT INTO profile (profile_id, name, definition, created_at, created_by)
        VALUES ($1, $2, $3, $4, $5)";
    UPDATE = "UPDATE profile SET name = $2, definition = $3 WHERE profile_id = $1";
    DELETE = "DELETE FROM profile WHERE profile_id = $1";
}

/// A profile, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its id.
    pub id: ProfileId,
    /// Its name, unique.
    pub name: String,
    /// What its certificates contain.
    pub definition: ProfileDefinition,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// Who made it.
    pub created_by: String,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    profile_id: String,
    name: String,
    definition: String,
    created_at: i64,
    created_by: String,
}

impl TryFrom<Row> for Profile {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.profile_id };
        Ok(Self {
            id: at.parse("profile_id", &row.profile_id)?,
            definition: serde_json::from_str(&row.definition)
                .map_err(|_| at.unreadable("definition"))?,
            name: row.name,
            created_at: from_millis(row.created_at),
            created_by: row.created_by,
        })
    }
}

impl Store {
    /// All profiles, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn profiles(&self) -> Result<Vec<Profile>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(ALL).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(Profile::try_from).collect()
    }

    /// The profile of this id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn profile(&self, id: ProfileId) -> Result<Option<Profile>, StoreError> {
        self.one_profile(BY_ID, &id.to_string()).await
    }

    /// The profile of this name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn profile_named(&self, name: &str) -> Result<Option<Profile>, StoreError> {
        self.one_profile(BY_NAME, name).await
    }

    async fn one_profile(
        &self,
        sql: &'static str,
        key: &str,
    ) -> Result<Option<Profile>, StoreError> {
        let row: Option<Row> = sqlx::query_as(sql)
            .bind(key)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(Profile::try_from).transpose()
    }
}

impl Write {
    /// Inserts a profile.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn insert_profile(&mut self, profile: &Profile) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT)
            .bind(profile.id.to_string())
            .bind(&profile.name)
            .bind(serde_json::json!(profile.definition).to_string())
            .bind(to_millis(profile.created_at))
            .bind(&profile.created_by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Writes name and contents of a profile anew.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn update_profile(&mut self, profile: &Profile) -> Result<(), StoreError> {
        let done = sqlx::query(UPDATE)
            .bind(profile.id.to_string())
            .bind(&profile.name)
            .bind(serde_json::json!(profile.definition).to_string())
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Deletes a profile that no issuer refers to.
    ///
    /// # Errors
    ///
    /// Only if the database fails, or an issuer refers to it.
    pub async fn delete_profile(&mut self, id: ProfileId) -> Result<(), StoreError> {
        let done = sqlx::query(DELETE).bind(id.to_string()).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
