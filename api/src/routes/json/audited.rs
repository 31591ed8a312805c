//! What the audit says of each kind of thing: its fields one by one, and so never a password, a hash
//! of one, a token or a key.

use chancery_shared::id::{CertIssuerId, TeamId, UserId};
use serde_json::{Value, json};

use crate::audit::Item;
use crate::inventory::local_ca::LocalCaDefinition;
use crate::store::account::Account;
use crate::store::api_token::ApiToken;
use crate::store::cert_issuer::CertIssuer;
use crate::store::certificate::Certificate;
use crate::store::csr_generator::CsrGenerator;
use crate::store::key_store::KeyStore;
use crate::store::local_ca::LocalCa;
use crate::store::profile::Profile;
use crate::store::team::Team;
use crate::timestamp::with_offset;

/// A team with its issuers and members.
impl Item for (&Team, &[CertIssuerId], &[UserId]) {
    fn id(&self) -> String {
        self.0.id.to_string()
    }

    fn name(&self) -> &str {
        &self.0.name
    }

    fn fields(&self) -> Value {
        let (team, issuers, members) = self;
        json!({
            "name": team.name,
            "description": team.description,
            "internalGroup": team.internal_group.as_str(),
            "dontSendEmailsOnIssue": team.dont_send_emails_on_issue,
            "dontSendReminderEmails": team.dont_send_reminder_emails,
            "ipWhiteList": team.ip_white_list,
            "authorisedCas": issuers.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "members": members.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

/// A user with their teams.
impl Item for (&Account, &[TeamId]) {
    fn id(&self) -> String {
        self.0.id.to_string()
    }

    fn name(&self) -> &str {
        &self.0.username
    }

    fn fields(&self) -> Value {
        let (account, teams) = self;
        json!({
            "username": account.username,
            "email": account.email,
            "group": account.group.as_str(),
            "enabled": account.enabled,
            "mustChangePassword": account.must_change_password,
            "locked": account.locked,
            "teamsIds": teams.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

impl Item for ApiToken {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn fields(&self) -> Value {
        json!({
            "name": self.name,
            "userId": self.user_id.to_string(),
            "createdBy": self.created_by,
            "expiresAt": with_offset(self.expires_at),
        })
    }
}

impl Item for Profile {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn fields(&self) -> Value {
        json!({"name": self.name, "definition": self.definition})
    }
}

impl Item for CsrGenerator {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn fields(&self) -> Value {
        json!({"name": self.name, "key": self.key, "signature": self.signature})
    }
}

impl Item for KeyStore {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn fields(&self) -> Value {
        json!({"name": self.name, "token": self.token})
    }
}

impl Item for LocalCa {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn fields(&self) -> Value {
        let definition = LocalCaDefinition::of(self).ok();
        json!({
            "name": self.name,
            "keyStoreId": self.key_store_id.to_string(),
            "parentLocalCaId": self.parent_local_ca_id.map(|id| id.to_string()),
            "subjectDn": self.subject_dn,
            "cdps": definition.as_ref().map(|it| &it.cdps),
            "aiaOcspUrls": definition.as_ref().map(|it| &it.aia_ocsp_urls),
            "aiaIssuerUrls": definition.as_ref().map(|it| &it.aia_issuer_urls),
            "status": self.status.as_str(),
            "certId": self.certificate_id.map(|id| id.to_string()),
        })
    }
}

/// A Certificate Issuer with its teams.
impl Item for (&CertIssuer, &[TeamId]) {
    fn id(&self) -> String {
        self.0.id.to_string()
    }

    fn name(&self) -> &str {
        &self.0.name
    }

    fn fields(&self) -> Value {
        let (issuer, teams) = self;
        json!({
            "caName": issuer.name,
            "localCaId": issuer.local_ca_id.to_string(),
            "certProfileId": issuer.profile_id.to_string(),
            "allowDnRequests": issuer.allow_dn_requests,
            "allowCsrRequests": issuer.allow_csr_requests,
            "allowedGenerators": issuer.allowed_generators,
            "teams": teams.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

/// A certificate stays to be seen after its record is deleted.
impl Item for Certificate {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.subject_dn
    }

    fn fields(&self) -> Value {
        json!({
            "subjectDn": self.subject_dn,
            "issuerDn": self.issuer_dn,
            "serialNumber": self.serial_number,
            "validTo": with_offset(self.not_after),
            "ownerUsername": self.owner_username,
            "teamId": self.team_id.to_string(),
            "extraDetails": self.extra_details,
            "extraEmails": self.extra_emails,
            "trackExpiry": self.track_expiry,
            "renewed": self.renewed,
            "revoked": self.revoked,
            "revocationTime": self.revoked_at.map(with_offset),
            "revocationReason": self.revocation_reason,
        })
    }
}
