//! Certificates from elsewhere: taken in as records, whoever signed them.

mod certificate_text;
mod duplicate;
mod origin;
mod read;
mod recipient;
mod revocation;

pub use revocation::{Revocation, RevocationFields};

use chancery_shared::id::{CertIssuerId, CertificateId};

use self::origin::Origin;
use self::read::Read;
use self::recipient::Recipient;
use super::permission::{Caller, begin_giving};
use super::visibility::Sight;
use crate::app::AppState;
use crate::certificate::history::HistoryEvent;
use crate::error::{ApiError, Code};
use crate::inventory::view::InventoryView;
use crate::issuance::extra;
use crate::reference::{Field, agreed};
use crate::store::Write;
use crate::store::cert_issuer::CertIssuer;
use crate::store::certificate::{
    Certificate, HistoryEntry, Inserted, NewCertificate, StoredCertificate,
};

/// A certificate that someone brings, with what they say of it; what was empty is absent.
#[derive(Clone, Debug, Default)]
pub struct Import<'a> {
    /// PEM, or base64 of the DER.
    pub certificate: &'a str,
    /// The request that it was made for.
    pub csr: Option<&'a str>,
    /// Id of the user who will own it; absent: whoever brings it.
    pub owner: Option<&'a str>,
    /// Id of the team; absent: the owner's only one.
    pub team: Option<&'a str>,
    /// Id of the Certificate Issuer that it came through.
    pub issuer: Option<&'a str>,
    /// Free text.
    pub extra_info: Option<&'a str>,
    /// Whether it is revoked.
    pub revocation: Option<Revocation>,
    /// Template of a Microsoft CA, where the certificate does not say.
    pub ms_template_name: Option<&'a str>,
}

/// Takes in a certificate. One that is here already and comes with a newer revocation is revoked, if
/// `caller` may do that.
///
/// # Errors
///
/// [`Code::DuplicateCertificate`] where it is here already, and refusals that name the field.
/// Nothing was recorded then.
pub async fn import(
    state: &AppState,
    inventory: &InventoryView,
    caller: &Caller,
    import: &Import<'_>,
) -> Result<StoredCertificate, ApiError> {
    // 1. What: the certificate, the request, the texts.
    let read = Read::new(import.certificate, import.csr)?;
    check_texts(import)?;

    // 2. Whose it will be, and which team's.
    let recipient = Recipient::find(state, inventory, caller, import).await?;

    // 3. Who signed it.
    let id = state.new_id();
    let fields = read.fields()?;
    let origin = origin::find(&state.store, &fields, &read.facts, &read.der, id).await?;
    let issuer = cert_issuer(inventory, caller, import, &origin, &recipient).await?;

    // 4. Record it, or say which record it has.
    let sight = Sight::of(inventory, caller.actor()).await?;
    let serial = &read.facts.serial_number;
    let by_der = state.store.certificate_id_by_der(&read.facts.thumbprint, &read.der).await?;
    let known = match by_der {
        None => state.store.certificate_id_by_serial(&origin.issuer_key, serial).await?,
        known => known,
    };
    if let Some(known) = known {
        return duplicate::revoke_or_refuse(state, caller, &sight, import.revocation, known).await;
    }
    check_may_bring(caller, &origin)?;
    let mut new = row(state, id, read, origin, &recipient, import);
    new.certificate.cert_issuer_id = issuer;
    let (team, owner) = (recipient.team_id, recipient.user_id);
    let mut write = begin_giving(state, Some(team), Some(owner)).await?;
    raise(&mut write, caller, &mut new.certificate).await?;
    new.history = vec![HistoryEntry {
        id: state.new_id(),
        happened_at: state.clock.now(),
        event: HistoryEvent::Imported,
        details: details(caller, &new.certificate),
    }];
    if let Inserted::AlreadyThere(known) = write.insert_certificate(&new).await? {
        drop(write);
        return duplicate::revoke_or_refuse(state, caller, &sight, import.revocation, known).await;
    }
    write.commit_beside_inventory(new.audit).await?;
    tracing::info!(certificate.id = %id, user = caller.actor().username(), "imported a certificate");
    let stored = state.store.certificate(id).await?;
    stored.ok_or_else(|| ApiError::not_found("certificate"))
}

/// A certificate of a Local CA has its record from issuance on; one without is a matter for an
/// administrator: whoever brings it would own what someone else asked for.
fn check_may_bring(caller: &Caller, origin: &Origin) -> Result<(), ApiError> {
    if origin.local_ca_id.is_none() || caller.actor().is_administrator() {
        return Ok(());
    }
    Err(for_administrators())
}

/// One answer for all that an ordinary user may not bring, so that it tells nobody of a record that
/// they don't see: whether there is one, or there was, or a Local CA signed what has none.
fn for_administrators() -> ApiError {
    ApiError::refused(
        Code::NotPermitted,
        "only an administrator may import this certificate: a CA of this service signed it, or it has \
         or had a record that you don't see; ask an administrator",
    )
}

fn check_texts(import: &Import<'_>) -> Result<(), ApiError> {
    extra::check_info("extraInfo", import.extra_info.unwrap_or_default())
        .map_err(|no| ApiError::invalid_field(no.field(), no.to_string()))?;
    let template = import.ms_template_name.unwrap_or_default();
    if template.chars().count() > MAX_TEMPLATE || template.contains(char::is_control) {
        let message =
            format!("must have at most {MAX_TEMPLATE} characters and no control character");
        return Err(ApiError::invalid_field("msTemplateName", message));
    }
    Ok(())
}

/// A Certificate Issuer says something of certificates of its own CA alone, and to teams that may
/// use it.
async fn cert_issuer(
    inventory: &InventoryView,
    caller: &Caller,
    import: &Import<'_>,
    origin: &Origin,
    recipient: &Recipient,
) -> Result<Option<CertIssuerId>, ApiError> {
    let fields = [Field::Id("certIssuerId", import.issuer)];
    let found = agreed::<CertIssuer>(inventory, Code::UnknownIssuer, &fields).await?;
    let Some((field, issuer)) = found else { return Ok(None) };
    if origin.local_ca_id != Some(issuer.local_ca_id) {
        let message = format!(
            "names {}, whose CA did not sign this certificate; name the one it came through, or none",
            issuer.name
        );
        return Err(ApiError::invalid_field(field, message));
    }
    let teams = inventory.authorised_teams(issuer.id).await?;
    let is_open = teams.is_empty() || teams.contains(&recipient.team_id);
    if !is_open && !caller.actor().is_administrator() {
        let message = format!("the team may not use {}; leave it out", issuer.name);
        return Err(ApiError::refused_field(Code::NotPermitted, field, message));
    }
    Ok(Some(issuer.id))
}

fn row(
    state: &AppState,
    id: CertificateId,
    read: Read,
    origin: Origin,
    recipient: &Recipient,
    import: &Import<'_>,
) -> NewCertificate {
    let Read { der, facts, csr } = read;
    let now = state.clock.now();
    let revocation = import.revocation;
    let template = import.ms_template_name.map(str::to_owned).or(facts.ms_template_name);
    let certificate = Certificate {
        id,
        issuer_key: origin.issuer_key,
        serial_number: facts.serial_number,
        der,
        thumbprint: facts.thumbprint,
        common_name: storable(&facts.common_name),
        subject_dn: facts.subject_dn,
        issuer_dn: facts.issuer_dn,
        subject_alt_names: facts.subject_alt_names.iter().map(|name| storable(name)).collect(),
        not_before: facts.not_before,
        not_after: facts.not_after,
        is_ca: facts.is_ca,
        cert_issuer_id: None,
        local_ca_id: origin.local_ca_id,
        issuer_certificate_id: origin.issuer_certificate_id,
        csr_id: csr.is_some().then(|| state.new_id()),
        owner_user_id: recipient.user_id,
        owner_username: recipient.username.clone(),
        team_id: recipient.team_id,
        extra_details: import.extra_info.map(str::to_owned),
        extra_emails: None,
        track_expiry: true,
        renewed: false,
        renewed_by_certificate_id: None,
        renews_certificate_id: None,
        revoked: revocation.is_some(),
        revoked_at: revocation.map(|revocation| revocation.at),
        revocation_reason: revocation.map(|revocation| revocation.reason.to_string()),
        has_key_data: false,
        imported_at: Some(now),
        ms_template_name: template.as_deref().map(storable),
        journal: None,
        created_at: now,
    };
    let audit = state.audited("import", "certs").made(&certificate).into();
    NewCertificate { certificate, csr, history: Vec::new(), key_data: None, audit }
}

/// PostgreSQL has no NUL in a text; the record reads the name from the certificate itself.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// An administrator may bring back a record that an administrator deleted. What was revoked then
/// still is.
async fn raise(write: &mut Write, caller: &Caller, new: &mut Certificate) -> Result<(), ApiError> {
    let tombstone = write.tombstone(&new.issuer_key, &new.serial_number).await?;
    let Some(tombstone) = tombstone else { return Ok(()) };
    if !caller.actor().is_administrator() {
        return Err(for_administrators());
    }
    if let Some(at) = tombstone.revoked_at {
        new.revoked = true;
        new.revoked_at = Some(at);
        new.revocation_reason = tombstone.revocation_reason;
    }
    write.delete_tombstone(&new.issuer_key, &new.serial_number).await?;
    Ok(())
}

fn details(caller: &Caller, new: &Certificate) -> String {
    let user = caller.actor().username();
    let signer = match new.local_ca_id {
        Some(_) => "a Local CA of this service signed it",
        None => "no CA of this service signed it",
    };
    match (new.revoked_at, &new.revocation_reason) {
        (Some(at), Some(reason)) => {
            let at = crate::timestamp::plain(at);
            format!("User {user} imported the certificate; {signer}; revoked since {at} ({reason})")
        }
        _ => format!("User {user} imported the certificate; {signer}"),
    }
}

/// Characters of a template's name.
const MAX_TEMPLATE: usize = 256;
