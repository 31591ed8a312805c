//! Which teams may use which Certificate Issuers. An issuer without any team is open to every one.

use chancery_shared::id::{CertIssuerId, TeamId, UserId};

use super::row::At;
use super::{Store, StoreError, Write};

const TABLE: &str = "cert_issuer_team";

statements! {
    ALL = select!(
        cert_issuer_team
        "WHERE cert_issuer_id IN (SELECT cert_issuer_id FROM cert_issuer WHERE deleted_at IS NULL)
         ORDER BY team_id, cert_issuer_id"
    );
    OF_TEAM = select!(
        cert_issuer_team
        "WHERE team_id = $1
           AND cert_issuer_id IN (SELECT cert_issuer_id FROM cert_issuer WHERE deleted_at IS NULL)
         ORDER BY cert_issuer_id"
    );
    OF_ISSUER = select!(cert_issuer_team "WHERE cert_issuer_id = $1 ORDER BY team_id");
    ADD = "
        INSERT INTO cert_issuer_team (cert_issuer_id, team_id) VALUES ($1, $2)
        ON CONFLICT (cert_issuer_id, team_id) DO NOTHING";
    EVER_OF_TEAM = select!(cert_issuer_team "WHERE team_id = $1 ORDER BY cert_issuer_id");
    // A deleted issuer keeps its teams: restored without any it would be open to every one.
    REMOVE_OF_TEAM = "
        DELETE FROM cert_issuer_team
         WHERE team_id = $1
           AND cert_issuer_id IN (SELECT cert_issuer_id FROM cert_issuer WHERE deleted_at IS NULL)";
    REMOVE_OF_ISSUER = "DELETE FROM cert_issuer_team WHERE cert_issuer_id = $1";
    ALL_LIVE_NAMES = "SELECT name FROM cert_issuer WHERE deleted_at IS NULL ORDER BY name";
    USABLE_NAMES = "
        SELECT issuer.name
          FROM cert_issuer issuer
         WHERE issuer.deleted_at IS NULL
           AND EXISTS (
                SELECT 1
                  FROM membership
                 WHERE membership.user_id = $1
                   AND (membership.team_id IN (
                            SELECT team_id FROM cert_issuer_team t
                             WHERE t.cert_issuer_id = issuer.cert_issuer_id)
                        OR NOT EXISTS (
                            SELECT 1 FROM cert_issuer_team t
                             WHERE t.cert_issuer_id = issuer.cert_issuer_id)))
         ORDER BY issuer.name";
}

/// One team that may use one issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthorisedCa {
    /// The team.
    pub team_id: TeamId,
    /// The issuer.
    pub cert_issuer_id: CertIssuerId,
}

impl Store {
    /// Every pair of team and live issuer.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn authorised_cas(&self) -> Result<Vec<AuthorisedCa>, StoreError> {
        let rows = sqlx::query_as(ALL).fetch_all(self.pool()).await;
        read(rows.map_err(StoreError::of(TABLE))?)
    }

    /// The issuers of one team, the deleted ones too.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn authorised_cas_ever_of(
        &self,
        team: TeamId,
    ) -> Result<Vec<AuthorisedCa>, StoreError> {
        let rows = sqlx::query_as(EVER_OF_TEAM).bind(team.to_string()).fetch_all(self.pool()).await;
        read(rows.map_err(StoreError::of(TABLE))?)
    }

    /// The live issuers of one team.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn authorised_cas_of(&self, team: TeamId) -> Result<Vec<AuthorisedCa>, StoreError> {
        let rows = sqlx::query_as(OF_TEAM).bind(team.to_string()).fetch_all(self.pool()).await;
        read(rows.map_err(StoreError::of(TABLE))?)
    }

    /// The teams of one issuer; none: it is open to every team.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn authorised_teams_of(
        &self,
        issuer: CertIssuerId,
    ) -> Result<Vec<TeamId>, StoreError> {
        let rows = sqlx::query_as(OF_ISSUER).bind(issuer.to_string()).fetch_all(self.pool()).await;
        let pairs = read(rows.map_err(StoreError::of(TABLE))?)?;
        Ok(pairs.into_iter().map(|pair| pair.team_id).collect())
    }

    /// The names of all live issuers.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn live_issuer_names(&self) -> Result<Vec<String>, StoreError> {
        let names = sqlx::query_scalar(ALL_LIVE_NAMES).fetch_all(self.pool()).await;
        names.map_err(StoreError::of("cert_issuer"))
    }

    /// The names of the live issuers that a team of `user` may use.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn usable_issuer_names(&self, user: UserId) -> Result<Vec<String>, StoreError> {
        let names =
            sqlx::query_scalar(USABLE_NAMES).bind(user.to_string()).fetch_all(self.pool()).await;
        names.map_err(StoreError::of("cert_issuer"))
    }
}

impl Write {
    /// Lets `team` use `issuer`; nothing changes if it may.
    ///
    /// # Errors
    ///
    /// Only if the database fails, or one of the two does not exist.
    pub async fn authorise_ca(
        &mut self,
        team: TeamId,
        issuer: CertIssuerId,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(ADD)
            .bind(issuer.to_string())
            .bind(team.to_string())
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}

impl Write {
    /// Lets `team` use no issuer but those that are open to every team.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn withdraw_cas_of(&mut self, team: TeamId) -> Result<(), StoreError> {
        let done =
            sqlx::query(REMOVE_OF_TEAM).bind(team.to_string()).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Opens `issuer` to every team, until one is authorised.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn withdraw_teams_of(&mut self, issuer: CertIssuerId) -> Result<(), StoreError> {
        let done =
            sqlx::query(REMOVE_OF_ISSUER).bind(issuer.to_string()).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}

fn read(rows: Vec<(String, String)>) -> Result<Vec<AuthorisedCa>, StoreError> {
    let each = |(team, issuer): (String, String)| {
        let at = At { table: TABLE, row: &team };
        Ok(AuthorisedCa {
            team_id: at.parse("team_id", &team)?,
            cert_issuer_id: at.parse("cert_issuer_id", &issuer)?,
        })
    };
    rows.into_iter().map(each).collect()
}
