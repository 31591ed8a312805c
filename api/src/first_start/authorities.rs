//! Key Store, Local CAs, profile and issuer of the first start, and the root for clients.

use std::io::{self, Write as _};
use std::path::Path;

use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};

use super::owner::{id_in, owner};
use super::{hold, remember};
use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::inventory::cert_issuer::{self, NewCertIssuer};
use crate::inventory::key_store::{self, NewKeyStore};
use crate::inventory::local_ca::{self, LocalCaDefinition, Maker, NewLocalCa};
use crate::inventory::profile;
use crate::inventory::profile_definition::ProfileDefinition;
use crate::lease::Lease;
use crate::name::dn_text;
use crate::packaging::pem;
use crate::signer_client::SignerError;
use crate::store::key_store::KeyStore;
use crate::store::local_ca::{LocalCa, LocalCaStatus};

/// How long the root's certificate lasts: 20 years.
const ROOT_DAYS: u32 = 7_305;

/// How long the issuing CA's lasts: 10 years.
const ISSUING_DAYS: u32 = 3_652;

const MAKER: &str = "first start";

/// The fact that names the Key Store.
const KEY_STORE: &str = "first-start-key-store";

/// The fact that names the root.
const ROOT: &str = "first-start-root-ca";

/// Makes what is missing, in the order in which one stands on the other.
pub(super) async fn make(state: &AppState, lease: &Lease<'_>) -> Result<(), ApiError> {
    hold(lease).await?;
    let maker = maker(state).await?;

    // 1. The Key Store, on the first token that the signer offers.
    let key_store = first_key_store(state).await?;

    // 2. The root, and 3. the CA below it that issues.
    hold(lease).await?;
    let key_store = &key_store;
    let root = FirstCa {
        fact: ROOT,
        name: "Chancery Root CA",
        lifetime_in_days: ROOT_DAYS,
        key_store,
        parent: None,
    };
    let root = ca(state, &maker, root).await?;
    hold(lease).await?;
    let issuing = FirstCa {
        fact: "first-start-issuing-ca",
        name: "Chancery Issuing CA",
        lifetime_in_days: ISSUING_DAYS,
        key_store,
        parent: Some(root),
    };
    let issuing = ca(state, &maker, issuing).await?;

    // 4. The profile, and 5. the issuer that joins it with the CA.
    hold(lease).await?;
    let name = "TLS Server and Client";
    let profile = if let Some(profile) = state.store.profile_named(name).await? {
        profile
    } else {
        profile::create(state, MAKER, name.into(), ProfileDefinition::first()).await?
    };
    let name = "Chancery Issuer";
    if state.store.live_cert_issuer_named(name).await?.is_none() {
        let new = NewCertIssuer {
            name: name.into(),
            local_ca_id: issuing.id,
            profile_id: profile.id,
            allow_dn_requests: true,
            allow_csr_requests: true,
            allowed_generators: Vec::new(),
            teams: Vec::new(),
        };
        cert_issuer::create(state, MAKER, new).await?;
    }
    Ok(())
}

/// `root-ca.pem` in the home, which clients trust. Written again where it is missing.
pub(super) async fn write_root(state: &AppState) -> Result<(), ApiError> {
    let path = state.config.home.join("root-ca.pem");
    if path.exists() {
        return Ok(());
    }
    let Some(id) = id_in(state, ROOT).await? else { return Ok(()) };
    let Some(ca) = state.store.local_ca(id).await? else { return Ok(()) };
    let Some(certificate_id) = ca.certificate_id else { return Ok(()) };
    let Some(stored) = state.store.certificate(certificate_id).await? else { return Ok(()) };
    let text = pem::certificate(&stored.certificate.der).replace('\r', "");
    tokio::task::spawn_blocking(move || publish(&path, &text))
        .await
        .map_err(ApiError::internal)?
        .map_err(ApiError::internal)
}

/// Writes a file that everyone may read, whole or not at all.
fn publish(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = tempfile::Builder::new().prefix(".root-ca").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(readable)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

async fn first_key_store(state: &AppState) -> Result<KeyStore, ApiError> {
    if let Some(id) = id_in(state, KEY_STORE).await? {
        return state.store.key_store(id).await?.ok_or_else(|| gone("Key Store"));
    }
    let new = NewKeyStore { name: "Local Token".into(), token: first_token(state)? };
    let made = if let Some(made) = state.store.live_key_store_named(&new.name).await? {
        made
    } else {
        key_store::create(state, MAKER, new).await?
    };
    remember(state, KEY_STORE, &made.id.to_string()).await?;
    Ok(made)
}

/// A CA of the first start that is to be made.
struct FirstCa<'a> {
    fact: &'static str,
    name: &'static str,
    lifetime_in_days: u32,
    key_store: &'a KeyStore,
    parent: Option<LocalCa>,
}

async fn ca(state: &AppState, maker: &Maker, first: FirstCa<'_>) -> Result<LocalCa, ApiError> {
    let (fact, name) = (first.fact, first.name);
    let ca = if let Some(id) = id_in(state, fact).await? {
        state.store.local_ca(id).await?.ok_or_else(|| gone("Local CA"))?
    } else if let Some(made) = state.store.live_local_ca_named(name).await? {
        made
    } else {
        let subject = dn_text::parse(&format!("CN={name}")).map_err(ApiError::internal)?;
        let new = NewLocalCa {
            name: name.into(),
            key_store_id: first.key_store.id,
            token: first.key_store.token.clone(),
            parent: first.parent,
            subject_dn: subject.to_string(),
            subject,
            definition: definition(maker, first.lifetime_in_days),
        };
        local_ca::create(state, maker.clone(), new).await?
    };
    if ca.status != LocalCaStatus::Live {
        let message = format!("{name} waits for its certificate");
        return Err(ApiError::refused(Code::CaNotLive, message));
    }
    remember(state, fact, &ca.id.to_string()).await?;
    Ok(ca)
}

fn definition(maker: &Maker, lifetime_in_days: u32) -> LocalCaDefinition {
    LocalCaDefinition {
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        lifetime_in_days,
        path_length: None,
        name_constraints: None,
        policies: Vec::new(),
        cdps: Vec::new(),
        aia_ocsp_urls: Vec::new(),
        aia_issuer_urls: Vec::new(),
        policy: None,
        maker_user_id: maker.user_id,
        begun_after: None,
        awaiting: None,
    }
}

fn first_token(state: &AppState) -> Result<String, ApiError> {
    let signer = state.signer.state();
    signer.check_signer()?;
    let token = signer.tokens().first().map(|token| token.name.clone());
    token.ok_or_else(|| SignerError::Unreachable.into())
}

async fn maker(state: &AppState) -> Result<Maker, ApiError> {
    let owner = owner(state).await?.ok_or_else(|| gone("administrator"))?;
    let request_id = format!("first-start-{}", state.new_id::<chancery_shared::id::kind::Row>());
    Ok(Maker { user_id: owner.user_id, username: owner.username, request_id })
}

fn gone(kind: &str) -> ApiError {
    ApiError::not_found(kind)
}
