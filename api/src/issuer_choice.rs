//! The Certificate Issuer of a request: which one is named, and whether its sender may use it.

use crate::error::{ApiError, Code};
use crate::inventory::view::InventoryView;
use crate::reference::{Field, agreed};
use crate::store::cert_issuer::CertIssuer;
use crate::store::csr_generator::CsrGenerator;
use crate::team::Member;

/// A member together with an issuer that their team may use. Only [`resolve`] makes one.
///
/// ```compile_fail
/// let forged = chancery_api::issuer_choice::Permitted { member: todo!(), issuer: todo!() };
/// ```
#[derive(Clone, Debug)]
pub struct Permitted {
    member: Member,
    issuer: CertIssuer,
}

impl Permitted {
    /// Who asks, and for which team.
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// The issuer.
    pub fn issuer(&self) -> &CertIssuer {
        &self.issuer
    }

    /// Whether the issuer takes requests with a CSR.
    ///
    /// # Errors
    ///
    /// [`Code::PolicyViolation`] where it does not.
    pub fn check_takes_csrs(&self) -> Result<(), ApiError> {
        if self.issuer.allow_csr_requests {
            return Ok(());
        }
        let message = format!(
            "{} takes no requests with a CSR; send a DN request or name another issuer (rule \
             allowCsrRequests)",
            self.issuer.name
        );
        Err(ApiError::refused(Code::PolicyViolation, message))
    }
}

impl Permitted {
    /// Whether keys are made for who asks through the issuer.
    ///
    /// # Errors
    ///
    /// [`Code::PolicyViolation`] where they are not.
    pub fn check_takes_dns(&self) -> Result<(), ApiError> {
        if self.issuer.allow_dn_requests {
            return Ok(());
        }
        let message = format!(
            "{} takes no requests with a DN; send a CSR or name another issuer (rule \
             allowDnRequests)",
            self.issuer.name
        );
        Err(ApiError::refused(Code::PolicyViolation, message))
    }

    /// Whether the issuer takes keys of this CSR Generator.
    ///
    /// # Errors
    ///
    /// [`Code::PolicyViolation`] where it does not.
    pub fn check_generator(&self, generator: &CsrGenerator) -> Result<(), ApiError> {
        let CertIssuer { name, allowed_generators: allowed, .. } = &self.issuer;
        if allowed.is_empty() || allowed.contains(&generator.name) {
            return Ok(());
        }
        let message = format!(
            "{name} takes no keys of the CSR Generator {}; name one of {} (rule \
             allowedGenerators)",
            generator.name,
            allowed.join(", ")
        );
        Err(ApiError::refused_field(Code::PolicyViolation, "csrGeneratorName", message))
    }
}

/// The issuer that a request names, in one way or in several that agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssuerChoice {
    /// `caName`.
    pub ca_name: Option<String>,
    /// `issuerName`.
    pub issuer_name: Option<String>,
    /// `issuerId`.
    pub issuer_id: Option<String>,
}

/// Finds the issuer for a request of `member`. Administrators may use every one; an issuer without
/// any team is open to every team.
///
/// # Errors
///
/// [`Code::UnknownIssuer`] where there is no live one, [`Code::NotPermitted`] where the team may
/// not use it, [`Code::InvalidRequest`] where none is named, or several.
pub async fn resolve(
    inventory: &InventoryView,
    member: Member,
    choice: &IssuerChoice,
) -> Result<Permitted, ApiError> {
    let issuer = named(inventory, choice).await?;
    if !member.actor().is_administrator() {
        let teams = inventory.authorised_teams(issuer.id).await?;
        if !teams.is_empty() && !teams.contains(&member.team().id) {
            let team = &member.team().name;
            let message = format!(
                "the team {team} may not use {}; name another issuer, or a team of yours that may",
                issuer.name
            );
            return Err(ApiError::refused_field(Code::NotPermitted, "caName", message));
        }
    }
    Ok(Permitted { member, issuer })
}

async fn named(inventory: &InventoryView, choice: &IssuerChoice) -> Result<CertIssuer, ApiError> {
    let fields = [
        Field::Either("caName", choice.ca_name.as_deref()),
        Field::Either("issuerName", choice.issuer_name.as_deref()),
        Field::Id("issuerId", choice.issuer_id.as_deref()),
    ];
    let found = agreed(inventory, Code::UnknownIssuer, &fields).await?;
    let (_, issuer) = found.ok_or_else(|| {
        ApiError::invalid_field("caName", "is missing; name the Certificate Issuer")
    })?;
    Ok(issuer)
}
