//! Teams: to which every certificate belongs.

use chancery_shared::id::{TeamId, UserId};
use time::OffsetDateTime;

use super::account::Group;
use super::row::At;
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "team";

statements! {
    TEAMS = select!(team "ORDER BY name, team_id");
    BY_ID = select!(team "WHERE team_id = $1");
    BY_NAME = select!(team "WHERE name = $1");
    OF_USER = select!(team "WHERE team_id IN (SELECT team_id FROM membership WHERE user_id = $1)
         ORDER BY name, team_id");
    INSERT = "
        INSERT INTO team (team_id, name, description, internal_group, dont_send_emails_on_issue,
                          dont_send_reminder_emails, ip_white_list, created_at, created_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    UPDATE = "
        UPDATE team
           SET name = $2, description = $3, internal_group = $4, dont_send_emails_on_issue = $5,
               dont_send_reminder_emails = $6, ip_white_list = $7
         WHERE team_id = $1";
    OF_ADMINISTRATORS = "SELECT team_id FROM team WHERE internal_group = 'ADMIN'";
    DELETE = "DELETE FROM team WHERE team_id = $1";
}

/// A team, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Its id.
    pub id: TeamId,
    /// Its name, unique.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether its members are administrators.
    pub internal_group: Group,
    /// No mail to its addresses when a certificate is issued.
    pub dont_send_emails_on_issue: bool,
    /// No mail to its addresses before a certificate expires.
    pub dont_send_reminder_emails: bool,
    /// Addresses its members may come from, as text; empty: any.
    pub ip_white_list: String,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// Who made it.
    pub created_by: String,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    team_id: String,
    name: String,
    description: String,
    internal_group: String,
    dont_send_emails_on_issue: i16,
    dont_send_reminder_emails: i16,
    ip_white_list: String,
    created_at: i64,
    created_by: String,
}

impl TryFrom<Row> for Team {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.team_id };
        Ok(Self {
            id: at.parse("team_id", &row.team_id)?,
            internal_group: at.parse("internal_group", &row.internal_group)?,
            name: row.name,
            description: row.description,
            dont_send_emails_on_issue: row.dont_send_emails_on_issue != 0,
            dont_send_reminder_emails: row.dont_send_reminder_emails != 0,
            ip_white_list: row.ip_white_list,
            created_at: from_millis(row.created_at),
            created_by: row.created_by,
        })
    }
}

impl Store {
    /// All teams, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn teams(&self) -> Result<Vec<Team>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(TEAMS).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(Team::try_from).collect()
    }

    /// The team of this id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn team(&self, id: TeamId) -> Result<Option<Team>, StoreError> {
        self.one_team(BY_ID, &id.to_string()).await
    }

    /// The team of this name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn team_named(&self, name: &str) -> Result<Option<Team>, StoreError> {
        self.one_team(BY_NAME, name).await
    }

    /// The teams that `user` belongs to, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn teams_of(&self, user: UserId) -> Result<Vec<Team>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(OF_USER)
            .bind(user.to_string())
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(Team::try_from).collect()
    }

    async fn one_team(&self, sql: &'static str, key: &str) -> Result<Option<Team>, StoreError> {
        let row: Option<Row> = sqlx::query_as(sql)
            .bind(key)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(Team::try_from).transpose()
    }
}

impl Write {
    /// The team of this id, as this transaction sees it.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn team(&mut self, id: TeamId) -> Result<Option<Team>, StoreError> {
        let row: Option<Row> = sqlx::query_as(BY_ID)
            .bind(id.to_string())
            .fetch_optional(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(Team::try_from).transpose()
    }

    /// Inserts a team without members.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn insert_team(&mut self, team: &Team) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT)
            .bind(team.id.to_string())
            .bind(&team.name)
            .bind(&team.description)
            .bind(team.internal_group.as_str())
            .bind(i16::from(team.dont_send_emails_on_issue))
            .bind(i16::from(team.dont_send_reminder_emails))
            .bind(&team.ip_white_list)
            .bind(to_millis(team.created_at))
            .bind(&team.created_by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Writes all of a team but its members and issuers anew.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name is; otherwise only if the database fails.
    pub async fn update_team(&mut self, team: &Team) -> Result<(), StoreError> {
        let done = sqlx::query(UPDATE)
            .bind(team.id.to_string())
            .bind(&team.name)
            .bind(&team.description)
            .bind(team.internal_group.as_str())
            .bind(i16::from(team.dont_send_emails_on_issue))
            .bind(i16::from(team.dont_send_reminder_emails))
            .bind(&team.ip_white_list)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// The teams whose members are administrators, as this transaction sees them.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn teams_of_administrators(&mut self) -> Result<Vec<TeamId>, StoreError> {
        let ids: Vec<String> = sqlx::query_scalar(OF_ADMINISTRATORS)
            .fetch_all(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        ids.iter().map(|id| At { table: TABLE, row: id }.parse("team_id", id)).collect()
    }

    /// Deletes a team that nothing refers to.
    ///
    /// # Errors
    ///
    /// Only if the database fails, or something refers to it.
    pub async fn delete_team(&mut self, id: TeamId) -> Result<(), StoreError> {
        let done = sqlx::query(DELETE).bind(id.to_string()).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
