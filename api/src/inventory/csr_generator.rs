//! CSR Generators: which key pairs the service makes for those who ask with a DN.

use chancery_shared::id::CsrGeneratorId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use serde_json::json;

use super::local_ca::algorithm::{key_name, signature_algorithm};
use crate::app::AppState;
use crate::error::{ApiError, Code, Dependant};
use crate::reference::name_taken;
use crate::retention;
use crate::store::StoreError;
use crate::store::cert_issuer::CertIssuer;
use crate::store::csr_generator::CsrGenerator;

/// A CSR Generator that an administrator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCsrGenerator {
    /// Its name among the CSR Generators.
    pub name: String,
    /// The kind of key it makes.
    pub key: KeyAlgorithm,
    /// How that key signs its CSR; from [`csr_signature`].
    pub signature: SignatureAlgorithm,
}

/// How a generated key signs its CSR with this hash; without one, with what suits the key. An EC
/// key has the hash of its curve, which is what its certificate is used with too.
pub fn csr_signature(key: KeyAlgorithm, hash: Option<&str>) -> Option<SignatureAlgorithm> {
    use KeyAlgorithm as K;
    let found = signature_algorithm(key, hash, false)?;
    let suits = signature_algorithm(key, None, false)?;
    let is_free = matches!(key, K::Rsa2048 | K::Rsa3072 | K::Rsa4096);
    (is_free || found == suits).then_some(found)
}

/// Makes the ones of the first start, each called after its kind of key.
///
/// # Errors
///
/// Only if the database fails.
pub(crate) async fn make_first(state: &AppState, by: &str) -> Result<(), StoreError> {
    let mut write = state.store.begin().await?;
    let mut made = Vec::new();
    for key in KeyAlgorithm::ALL {
        let name = key_name(key);
        let Some(signature) = csr_signature(key, None) else { continue };
        if state.store.csr_generator_named(name).await?.is_none() {
            let new = NewCsrGenerator { name: name.to_owned(), key, signature };
            let generator = row(state, by, new);
            write.insert_csr_generator(&generator).await?;
            made.push(json!({"id": generator.id, "name": generator.name}));
        }
    }
    write.commit(state.audited("create", "generators").after(made)).await
}

/// Makes a CSR Generator. `by` is the user who does.
///
/// # Errors
///
/// [`Code::NameTaken`]; nothing is stored then.
pub async fn create(
    state: &AppState,
    by: &str,
    new: NewCsrGenerator,
) -> Result<CsrGenerator, ApiError> {
    check_free(state, &new.name).await?;
    let generator = row(state, by, new);
    let mut write = state.store.begin().await?;
    write.insert_csr_generator(&generator).await?;
    write.commit(state.audited("create", "generators").made(&generator)).await?;
    tracing::info!(username = by, csr_generator.id = %generator.id, "made a CSR Generator");
    Ok(generator)
}

fn row(state: &AppState, by: &str, new: NewCsrGenerator) -> CsrGenerator {
    CsrGenerator {
        id: state.new_id(),
        name: new.name,
        key: new.key,
        signature: new.signature,
        created_at: state.clock.now(),
        created_by: by.to_owned(),
    }
}

/// Changes a CSR Generator; the issuers that are restricted to it know it by its new name.
///
/// # Errors
///
/// [`Code::NotFound`] or [`Code::NameTaken`]; nothing is changed then.
pub async fn change(
    state: &AppState,
    by: &str,
    id: CsrGeneratorId,
    new: NewCsrGenerator,
) -> Result<CsrGenerator, ApiError> {
    let checks = async {
        let before = find(state, id).await?;
        if before.name != new.name {
            check_free(state, &new.name).await?;
        }
        let issuers = issuers_with(state, &before.name).await?;
        Ok((before, issuers))
    };
    let (mut write, (before, issuers)) = retention::holding(state, checks).await?;
    let old_name = before.name.clone();
    let NewCsrGenerator { name, key, signature } = new;
    let after = CsrGenerator { name, key, signature, ..before.clone() };
    for mut issuer in issuers {
        for name in &mut issuer.allowed_generators {
            if *name == old_name {
                name.clone_from(&after.name);
            }
        }
        write.set_allowed_generators(issuer.id, &issuer.allowed_generators).await?;
    }
    write.update_csr_generator(&after).await?;
    write.commit(state.audited("change", "generators").changed(&before, &after)).await?;
    tracing::info!(username = by, csr_generator.id = %id, "changed a CSR Generator");
    Ok(after)
}

/// Deletes a CSR Generator; answers it as it was.
///
/// # Errors
///
/// [`Code::NotFound`], or [`Code::InUse`] where an issuer is restricted to it: without it, that
/// issuer might take every one.
pub async fn delete(
    state: &AppState,
    by: &str,
    id: CsrGeneratorId,
) -> Result<CsrGenerator, ApiError> {
    let checks = async { unused(state, find(state, id).await?).await };
    let (mut write, generator) = retention::holding(state, checks).await?;
    write.delete_csr_generator(id).await?;
    write.commit(state.audited("delete", "generators").removed(&generator)).await?;
    tracing::info!(username = by, csr_generator.id = %id, "deleted a CSR Generator");
    Ok(generator)
}

async fn unused(state: &AppState, generator: CsrGenerator) -> Result<CsrGenerator, ApiError> {
    let dependants: Vec<_> = issuers_with(state, &generator.name)
        .await?
        .into_iter()
        .map(|issuer| Dependant {
            kind: "ca".to_owned(),
            id: issuer.id.to_string(),
            name: issuer.name,
        })
        .collect();
    if dependants.is_empty() {
        return Ok(generator);
    }
    let message = format!(
        "Certificate Issuers are restricted to the CSR Generator {}; restrict them to others first",
        generator.name
    );
    Err(ApiError::refused(Code::InUse, message).with_dependants(dependants))
}

/// The CSR Generator of this id.
///
/// # Errors
///
/// [`Code::NotFound`].
pub async fn find(state: &AppState, id: CsrGeneratorId) -> Result<CsrGenerator, ApiError> {
    state.store.csr_generator(id).await?.ok_or_else(|| ApiError::not_found("CSR Generator"))
}

async fn check_free(state: &AppState, name: &str) -> Result<(), ApiError> {
    match state.store.csr_generator_named(name).await? {
        Some(_) => Err(name_taken::<CsrGenerator>("name", name)),
        None => Ok(()),
    }
}

async fn issuers_with(state: &AppState, name: &str) -> Result<Vec<CertIssuer>, StoreError> {
    let mut issuers = state.store.cert_issuers().await?;
    issuers.retain(|issuer| issuer.allowed_generators.iter().any(|allowed| allowed == name));
    Ok(issuers)
}
