//! From a DN to a certificate with its private key. The steps carry the numbers of "The way of one
//! certificate" in the architecture.

use std::sync::Arc;

use chancery_shared::fail_point;
use chancery_shared::id::CertificateId;
use time::OffsetDateTime;

use super::asking::Asking;
use super::departures::departures;
use super::dn_issuance::{DnIssuance, IssuedWithKey};
use super::dn_request::{account, circumstances, plan, stand_in, understand};
use super::issue::insert;
use super::issue_error::{IssueError, KeyLoss};
use super::new_record::{MadeBy, Records, new_record};
use super::signing::{Signing, SigningError};
use super::tbs::DraftError;
use crate::key_data::{DataKey, Form};
use crate::key_pair::{KeyMaker, KeyPair};
use crate::log::Chain;
use crate::packaging::{self, Closing, Contents};
use crate::random::Random;
use crate::store::key_data::KeyData;

/// What makes keys and packages.
#[derive(Clone)]
pub struct Workshop {
    /// Makes the key, and finds a processor for the package.
    pub keys: KeyMaker,
    /// For salts and vectors.
    pub random: Arc<dyn Random>,
}

/// What is made of the key.
#[derive(Clone, Debug)]
pub struct Package {
    /// How it is closed.
    pub closing: Closing,
    /// The key that it is sealed under and kept; `None`: not kept.
    pub keep_under: Option<Arc<DataKey>>,
}

/// Issues one certificate for a DN. Steps 1 and 2 are behind: [`DnIssuance`] says so.
///
/// The future must run to its end: where it is dropped after the signature, the record appears
/// only with the next reconciliation, and the private key is lost.
///
/// # Errors
///
/// Before step 5 nothing has left this process. After it the journal knows the certificate, and
/// reconciliation makes its record whatever happens here.
pub async fn issue_for_dn<S: Signing, R: Records>(
    issuance: DnIssuance<'_>,
    package: Package,
    workshop: &Workshop,
    signing: &S,
    records: &R,
) -> Result<IssuedWithKey, IssueError> {
    // 3. What: the DN, the names; what would be refused costs no key.
    let request = understand(&issuance)?;
    check(&issuance, &request.subject(&stand_in(issuance.generator.key).map_err(not_der)?))?;
    // Nor does what could not be signed now.
    signing.check_key(issuance.issuer.key_id).map_err(IssueError::Signing)?;
    let key = workshop.keys.make(issuance.generator.key).await.map_err(IssueError::Key)?;
    let csr = key.csr(&request.subject, request.names(), issuance.generator.signature);
    let csr = csr.map_err(IssueError::OwnCsr)?;
    let subject = request.subject(key.spki());
    let plan = plan(&issuance, &subject)?;
    let told = departures(&account(&issuance, &request, &plan));
    let context = circumstances(&issuance).context(told);
    fail_point::reach("api: understood");

    // 4. Draft. 5. Ask. 6. Sign: as for a CSR, with one of our own.
    let asking =
        Asking { issuer: issuance.issuer, plan: &plan, subject, csr: &csr, context: &context };
    let signed = asking.ask(signing).await?;
    fail_point::reach("api: signed");

    // 7. Record. The package comes first: what is kept of the key is part of the record.
    let mut record = new_record(&context, &signed, Some(&csr), MadeBy::Request)
        .map_err(IssueError::NotACertificate)?;
    let order = Order {
        key,
        leaf: record.certificate.der.clone(),
        chain: issuance.issuer.chain.clone(),
        name: shown_as(&record.certificate.common_name, &record.certificate.subject_dn),
        package,
        random: Arc::clone(&workshop.random),
        certificate_id: record.certificate.id,
        now: issuance.now,
    };
    let packed = match workshop.keys.work(move || order.pack()).await {
        Ok(packed) => packed.map_err(KeyLoss::from),
        Err(cut_off) => Err(cut_off.into()),
    };
    let p12 = packed.map(|(p12, key_data)| {
        record.certificate.has_key_data = key_data.is_some();
        record.key_data = key_data;
        p12
    });
    // Signed it is all the same, and nobody may have to look for it.
    if let (Err(_), [created, ..]) = (&p12, record.history.as_mut_slice()) {
        created.details.push_str("; its private key was lost before it could be packed");
    }
    let record = Arc::new(record);
    let inserted = insert(&record, records).await;
    if let (Err(loss), Err(_)) = (&p12, &inserted) {
        // The answer tells of the record alone.
        tracing::error!(error = %Chain(loss), "a private key was lost before it could be packed");
    }
    let certificate_id = inserted?;
    fail_point::reach("api: recorded");
    let p12 = p12.map_err(|source| IssueError::KeyLost { certificate_id, source })?;

    // 8. Answer.
    let pem = packaging::pem::certificate(&record.certificate.der);
    Ok(IssuedWithKey { certificate_id, pem, p12 })
}

/// What the profile and the CA say to it, before there is a key.
fn check(
    issuance: &DnIssuance<'_>,
    subject: &super::end_entity::Subject<'_>,
) -> Result<(), IssueError> {
    plan(issuance, subject).map(drop)
}

fn not_der(error: der::Error) -> IssueError {
    IssueError::Signing(SigningError::Draft(DraftError::NotDer(error)))
}

/// The CN, or what else there is: an entry without a name is passed over by some readers, and one of
/// blanks alone by people.
fn shown_as(common_name: &str, subject_dn: &str) -> String {
    let name =
        [common_name, subject_dn, "certificate"].into_iter().find(|name| !name.trim().is_empty());
    name.unwrap_or_default().to_owned()
}

/// A package that is to be made where that takes nobody's time. The key is wiped with it.
struct Order {
    key: KeyPair,
    leaf: Vec<u8>,
    chain: Vec<Vec<u8>>,
    name: String,
    package: Package,
    random: Arc<dyn Random>,
    certificate_id: CertificateId,
    now: OffsetDateTime,
}

impl Order {
    /// The PKCS#12 file, and all forms sealed where they are kept.
    fn pack(self) -> Result<(Vec<u8>, Option<KeyData>), packaging::PackagingError> {
        let pkcs8 = self.key.to_pkcs8()?;
        let contents =
            Contents { pkcs8: &pkcs8, leaf: &self.leaf, chain: &self.chain, name: &self.name };
        let Package { closing, keep_under } = &self.package;
        let random = &*self.random;
        let p12 = packaging::to_p12(&contents, closing, random)?;
        let Some(data_key) = keep_under else { return Ok((p12, None)) };
        let jks = packaging::to_jks(&contents, closing, self.now, random)?;
        let pem = packaging::to_pem(&contents, closing, random)?;
        let seal = |form, package: &[u8]| data_key.seal(self.certificate_id, form, package, random);
        let key_data = KeyData {
            data_key_id: data_key.id(),
            p12: seal(Form::P12, &p12)?,
            jks: seal(Form::Jks, &jks)?,
            pem: seal(Form::Pem, &pem)?,
            kept_at: self.now,
        };
        Ok((p12, Some(key_data)))
    }
}
