//! The making of a Local CA, in steps that can each be found half-done and finished.

use chancery_shared::bytes::Bytes;
use chancery_shared::id::{CertificateId, KeyId, RowId};
use chancery_shared::wire::v1::{CreateCaKey, KeyRole, SignCaCertificate, SignOwnCertificate};
use serde_json::json;

use super::claim;
use super::definition::{Awaiting, LocalCaDefinition};
use super::undo::{is_unknown, key_context, remove, take_back_key};
use super::{Maker, NewLocalCa, issuing_ca};
use crate::app::AppState;
use crate::error::ApiError;
use crate::first_start;
use crate::issuance::ca_certificate::{CaSubject, draft_own, draft_subordinate};
use crate::issuance::context::IssuanceContext;
use crate::issuance::name_constraints::NameConstraintsText;
use crate::issuance::new_record::{MadeBy, new_record};
use crate::issuance::signing::SignedTbs;
use crate::issuance::tbs::Draft;
use crate::name::{DistinguishedName, dn_text};
use crate::retention;
use crate::signer_client::{SignerError, Signing};
use crate::store::Unaudited;
use crate::store::local_ca::{LocalCa, LocalCaClaim, LocalCaStatus};
use crate::store::retention::ItemId;

/// How often a draft whose connection was lost is made again.
const ATTEMPTS: usize = 3;

/// Makes the CA from nothing.
pub(super) async fn make(
    state: &AppState,
    maker: &Maker,
    new: NewLocalCa,
) -> Result<LocalCa, ApiError> {
    // 1. The row, before anything exists that only it could explain. It says from where on the
    // journal may speak of its key, and that this request works on it.
    let begun_after = state.signer.state().journal_head();
    let definition = LocalCaDefinition { begun_after, ..new.definition };
    let ca = LocalCa {
        id: state.new_id(),
        name: new.name,
        key_store_id: new.key_store_id,
        parent_local_ca_id: new.parent.as_ref().map(|parent| parent.id),
        key_id: None,
        signer_id: None,
        subject_dn: new.subject_dn,
        definition: definition.to_text()?,
        status: LocalCaStatus::AwaitingCertificate,
        approval_id: None,
        certificate_id: None,
        created_at: state.clock.now(),
        created_by: maker.username.clone(),
        deleted_at: None,
        transition: None,
    };
    let claim = LocalCaClaim { local_ca_id: ca.id, holder: state.new_id() };
    let mut ground = vec![ItemId::KeyStore(ca.key_store_id)];
    ground.extend(ca.parent_local_ca_id.map(ItemId::LocalCa));
    let mut write = state.store.begin_in_turn().await?;
    if let Err(error) = retention::hold_live(state, &mut write, &ground).await {
        write.let_go().await?;
        return Err(error);
    }
    write.insert_local_ca(&ca).await?;
    write.claim_local_ca(claim, state.clock.now(), claim::until(state)).await?;
    write.commit(state.audited("create", "localca").made(&ca)).await?;

    // 2. The rest. A CA that the signer refuses leaves nothing behind.
    match finish(state, maker, claim, &ca, &new.token).await {
        Ok(()) => {
            let made = state.store.local_ca(ca.id).await?;
            made.ok_or_else(|| ApiError::not_found("Local CA"))
        }
        Err(error) => {
            if !is_unknown(&error) {
                remove(state, maker, claim, &ca).await;
                claim::release(state, claim).await;
            }
            Err(error)
        }
    }
}

/// Brings a CA whose row exists to its key and its certificate.
async fn finish(
    state: &AppState,
    maker: &Maker,
    claim: LocalCaClaim,
    ca: &LocalCa,
    token: &str,
) -> Result<(), ApiError> {
    let mut definition = LocalCaDefinition::of(ca)?;

    // 3. Its key, in the token.
    let (key_id, spki) = create_key(state, maker, claim, ca, token, &definition).await?;

    // 4. Its certificate, drafted, kept with the row, and signed.
    let parent = match ca.parent_local_ca_id {
        Some(id) => state.store.local_ca(id).await?,
        None => None,
    };
    let subject = dn_text::parse(&ca.subject_dn).map_err(ApiError::internal)?;
    let context = context(state, maker, ca, parent.as_ref()).await?;
    for _ in 0..ATTEMPTS {
        let (nonce, connection) = state.signer.serial_nonce().await?;
        let draft = draft(state, &definition, parent.as_ref(), &subject, &spki, nonce).await?;
        definition.awaiting =
            Some(Awaiting { tbs: Bytes(draft.tbs.clone()), context: context.clone() });
        keep(state, claim, ca, &definition).await?;
        let tbs = Bytes(draft.tbs.clone());
        let wire = context.to_wire().map_err(ApiError::internal)?;
        let asked = match parent.as_ref().and_then(|parent| parent.key_id) {
            None => {
                let request =
                    SignOwnCertificate { key_id, tbs, serial_nonce: nonce, context: wire };
                state.signer.sign_own_certificate(connection, request).await
            }
            Some(parent_key) => {
                let request = SignCaCertificate {
                    key_id: parent_key,
                    tbs,
                    csr: None,
                    serial_nonce: nonce,
                    context: wire,
                };
                state.signer.sign_ca_certificate(connection, request).await
            }
        };
        match asked {
            Err(SignerError::RetryDraft) => {}
            Err(error) => return Err(error.into()),
            Ok(answer) => {
                return match (answer.value, answer.head) {
                    (Signing::Signed(signature), Some(journal)) => {
                        let signed = SignedTbs { tbs: draft.tbs, signature, journal };
                        record(state, ca, &context, &signed).await
                    }
                    (Signing::Pending(approval_id), _) => {
                        let mut write = state.store.begin().await?;
                        let is_held = write.set_local_ca_awaiting(claim, approval_id).await?;
                        write.commit_unaudited(Unaudited::LocalCaStep).await?;
                        claim::check(is_held, ca)
                    }
                    (Signing::Signed(_), None) => Err(SignerError::Protocol.into()),
                };
            }
        }
    }
    Err(SignerError::Unreachable.into())
}

async fn create_key(
    state: &AppState,
    maker: &Maker,
    claim: LocalCaClaim,
    ca: &LocalCa,
    token: &str,
    definition: &LocalCaDefinition,
) -> Result<(KeyId, Vec<u8>), ApiError> {
    let request = CreateCaKey {
        token: token.to_owned(),
        key_algorithm: definition.key_algorithm,
        signature_algorithm: definition.signature_algorithm,
        role: KeyRole::Ca,
        policy: definition.policy.clone(),
        context: key_context(maker, ca),
    };
    let created = state.signer.create_ca_key(request).await?;
    let signer_id = created.head.map(|head| head.signer_id).ok_or(SignerError::Protocol)?;
    let mut write = state.store.begin().await?;
    let is_held = write.set_local_ca_key(claim, created.value.key_id, signer_id).await?;
    write.commit_unaudited(Unaudited::LocalCaStep).await?;
    if !is_held {
        // Whoever took the CA back meanwhile may not have known of this key.
        take_back_key(state, maker, ca, created.value.key_id).await;
    }
    claim::check(is_held, ca)?;
    Ok((created.value.key_id, created.value.spki.0))
}

async fn draft(
    state: &AppState,
    definition: &LocalCaDefinition,
    parent: Option<&LocalCa>,
    name: &DistinguishedName,
    spki: &[u8],
    nonce: chancery_shared::bytes::SerialNonce,
) -> Result<Draft, ApiError> {
    let constraints = definition.name_constraints.as_ref();
    let constraints = constraints.map(NameConstraintsText::parse).transpose();
    let constraints = constraints.map_err(ApiError::internal)?.flatten();
    let subject = CaSubject {
        name,
        spki,
        lifetime_in_days: definition.lifetime_in_days,
        path_length: definition.path_length,
        name_constraints: constraints.as_ref(),
        policies: &definition.policies,
    };
    let now = state.clock.now();
    let drafted = match parent {
        None => draft_own(&subject, definition.signature_algorithm, nonce, now),
        Some(parent) => {
            let issuer = issuing_ca(&state.store, parent).await?;
            draft_subordinate(&subject, &issuer, nonce, now)
        }
    };
    drafted
        .map_err(|error| ApiError::refused(crate::error::Code::PolicyViolation, error.to_string()))
}

async fn context(
    state: &AppState,
    maker: &Maker,
    ca: &LocalCa,
    parent: Option<&LocalCa>,
) -> Result<IssuanceContext, ApiError> {
    let certificate_id: CertificateId = state.new_id();
    let team_id = first_start::administrators(state).await?;
    let team_id = team_id.ok_or_else(|| ApiError::not_found("team of administrators"))?;
    let history_id: RowId = state.new_id();
    Ok(IssuanceContext {
        request_id: maker.request_id.clone(),
        requested_at: state.clock.now(),
        actor_user_id: maker.user_id,
        actor_username: maker.username.clone(),
        owner_user_id: maker.user_id,
        owner_username: maker.username.clone(),
        team_id,
        cert_issuer_id: None,
        local_ca_id: Some(parent.map_or(ca.id, |parent| parent.id)),
        issuer_certificate_id: parent.map_or(Some(certificate_id), |parent| parent.certificate_id),
        certified_local_ca_id: Some(ca.id),
        certificate_id,
        csr_id: None,
        history_id,
        csr_generator_name: None,
        renews_certificate_id: None,
        extra_info: None,
        extra_emails: Vec::new(),
        track_expiry: true,
        departures: Vec::new(),
    })
}

/// From here on the signer may sign: nobody else may be taking the CA back.
async fn keep(
    state: &AppState,
    claim: LocalCaClaim,
    ca: &LocalCa,
    definition: &LocalCaDefinition,
) -> Result<(), ApiError> {
    let mut write = state.store.begin().await?;
    let text = definition.to_text()?;
    let is_held = write.set_local_ca_definition(claim, &text, claim::until(state)).await?;
    write.commit_unaudited(Unaudited::LocalCaStep).await?;
    claim::check(is_held, ca)
}

/// 5. The record of the certificate, then the CA is live.
async fn record(
    state: &AppState,
    ca: &LocalCa,
    context: &IssuanceContext,
    signed: &SignedTbs,
) -> Result<(), ApiError> {
    let record = new_record(context, signed, None, MadeBy::Request).map_err(ApiError::internal)?;
    let inserted = state.store.insert_certificate(record).await?;
    go_live(state, ca, inserted.id()).await
}

/// Says that the CA's certificate is recorded and the CA can sign.
pub(super) async fn go_live(
    state: &AppState,
    ca: &LocalCa,
    certificate_id: CertificateId,
) -> Result<(), ApiError> {
    let mut write = state.store.begin().await?;
    if write.set_local_ca_live(ca.id, certificate_id).await? {
        let entry = state.audited("go live", "localca").on(&ca.id, &ca.name);
        let entry = entry.after(json!({"certId": certificate_id.to_string()}));
        write.commit(entry).await?;
        tracing::info!(local_ca.id = %ca.id, local_ca.name = ca.name, "a Local CA is live");
        return Ok(());
    }
    write.commit_unaudited(Unaudited::Nothing).await?;
    // Request and resumer may both find the record.
    let row = state.store.local_ca(ca.id).await?;
    let is_live = row.is_some_and(|row| row.certificate_id == Some(certificate_id));
    claim::check(is_live, ca)
}
