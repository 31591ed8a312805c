//! Which users belong to which teams.

use chancery_shared::id::{TeamId, UserId};

use super::row::At;
use super::{Store, StoreError, Write};

const TABLE: &str = "membership";

statements! {
    MEMBERSHIPS = select!(membership "ORDER BY team_id, user_id");
    OF_TEAM = select!(membership "WHERE team_id = $1 ORDER BY user_id");
    OF_USER = select!(membership "WHERE user_id = $1 ORDER BY team_id");
    ADD = "
        INSERT INTO membership (team_id, user_id) VALUES ($1, $2)
        ON CONFLICT (team_id, user_id) DO NOTHING";
    REMOVE_ALL = "DELETE FROM membership WHERE team_id = $1";
}

/// One user in one team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The team.
    pub team_id: TeamId,
    /// The user.
    pub user_id: UserId,
}

impl Store {
    /// Every membership.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn memberships(&self) -> Result<Vec<Membership>, StoreError> {
        let rows = sqlx::query_as(MEMBERSHIPS).fetch_all(self.pool()).await;
        read(rows.map_err(StoreError::of(TABLE))?)
    }

    /// The memberships of one team.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn members_of(&self, team: TeamId) -> Result<Vec<Membership>, StoreError> {
        let rows = sqlx::query_as(OF_TEAM).bind(team.to_string()).fetch_all(self.pool()).await;
        read(rows.map_err(StoreError::of(TABLE))?)
    }

    /// The memberships of one user.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        let rows = sqlx::query_as(OF_USER).bind(user.to_string()).fetch_all(self.pool()).await;
        read(rows.map_err(StoreError::of(TABLE))?)
    }
}

impl Write {
    /// The teams of one user, as this transaction sees them.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn teams_of(&mut self, user: UserId) -> Result<Vec<TeamId>, StoreError> {
        let rows =
            sqlx::query_as(OF_USER).bind(user.to_string()).fetch_all(self.connection()).await;
        let memberships = read(rows.map_err(StoreError::of(TABLE))?)?;
        Ok(memberships.into_iter().map(|membership| membership.team_id).collect())
    }

    /// Makes `user` a member of `team`; nothing changes if it is one.
    ///
    /// # Errors
    ///
    /// Only if the database fails, or one of the two does not exist.
    pub async fn add_member(&mut self, team: TeamId, user: UserId) -> Result<(), StoreError> {
        let done = sqlx::query(ADD)
            .bind(team.to_string())
            .bind(user.to_string())
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}

impl Write {
    /// Leaves a team without members.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn remove_members(&mut self, team: TeamId) -> Result<(), StoreError> {
        let done = sqlx::query(REMOVE_ALL).bind(team.to_string()).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}

fn read(rows: Vec<(String, String)>) -> Result<Vec<Membership>, StoreError> {
    let each = |(team, user): (String, String)| {
        let at = At { table: TABLE, row: &team };
        Ok(Membership {
            team_id: at.parse("team_id", &team)?,
            user_id: at.parse("user_id", &user)?,
        })
    };
    rows.into_iter().map(each).collect()
}
