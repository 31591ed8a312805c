//! Extensions of drafted certificates (RFC 5280, section 4.2), each with its right criticality.

use const_oid::AssociatedOid;
use const_oid::db::rfc5280::{ID_AD_CA_ISSUERS, ID_AD_OCSP};
use der::Encode;
use der::asn1::{Ia5String, ObjectIdentifier, OctetString};
use sha1::{Digest as _, Sha1};
use spki::SubjectPublicKeyInfoRef;
use x509_cert::der::flagset::FlagSet;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::crl::dp::DistributionPoint;
use x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use x509_cert::ext::pkix::{
    AccessDescription, AuthorityInfoAccessSyntax, AuthorityKeyIdentifier, BasicConstraints,
    CrlDistributionPoints, ExtendedKeyUsage as ExtendedKeyUsageSyntax, KeyUsage as KeyUsageBits,
    KeyUsages, SubjectKeyIdentifier,
};

use crate::certificate::{CertificatePolicy, ExtendedKeyUsage, KeyUsage};
use crate::name::SubjectAltName;

const SUBJECT_ALT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");
const CERTIFICATE_POLICIES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.32");
pub(crate) const OCSP_NO_CHECK: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.5");

/// Where the CA's CRL, OCSP responder and certificate are found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointers {
    /// URLs of the CRL.
    pub cdps: Vec<String>,
    /// URLs of OCSP responders.
    pub aia_ocsp_urls: Vec<String>,
    /// URLs of the CA's certificate.
    pub aia_issuer_urls: Vec<String>,
}

/// A list that grows in the order in which extensions stand in the certificate.
#[derive(Debug, Default)]
pub(crate) struct Extensions(Vec<Extension>);

impl Extensions {
    /// An extension of any kind, its value as DER.
    pub(crate) fn add(
        &mut self,
        extn_id: ObjectIdentifier,
        critical: bool,
        value: &[u8],
    ) -> der::Result<()> {
        self.0.push(Extension { extn_id, critical, extn_value: OctetString::new(value)? });
        Ok(())
    }

    fn add_typed<T: AssociatedOid + Encode>(
        &mut self,
        critical: bool,
        value: &T,
    ) -> der::Result<()> {
        self.add(T::OID, critical, &value.to_der()?)
    }

    /// The issuer's key, by its identifier.
    pub(crate) fn authority_key_identifier(&mut self, identifier: &[u8]) -> der::Result<()> {
        let key_identifier = Some(OctetString::new(identifier)?);
        let value = AuthorityKeyIdentifier { key_identifier, ..Default::default() };
        self.add_typed(false, &value)
    }

    /// The certified key, by its identifier.
    pub(crate) fn subject_key_identifier(&mut self, spki: &[u8]) -> der::Result<()> {
        let value = SubjectKeyIdentifier(OctetString::new(key_identifier(spki)?)?);
        self.add_typed(false, &value)
    }

    /// At least one usage.
    pub(crate) fn key_usage(&mut self, usages: &[KeyUsage]) -> der::Result<()> {
        let flags = usages.iter().map(|usage| match usage {
            KeyUsage::DigitalSignature => KeyUsages::DigitalSignature,
            KeyUsage::NonRepudiation => KeyUsages::NonRepudiation,
            KeyUsage::KeyEncipherment => KeyUsages::KeyEncipherment,
            KeyUsage::DataEncipherment => KeyUsages::DataEncipherment,
            KeyUsage::KeyAgreement => KeyUsages::KeyAgreement,
            KeyUsage::CertificateSign => KeyUsages::KeyCertSign,
            KeyUsage::CrlSign => KeyUsages::CRLSign,
            KeyUsage::EncipherOnly => KeyUsages::EncipherOnly,
            KeyUsage::DecipherOnly => KeyUsages::DecipherOnly,
        });
        let bits = flags.fold(FlagSet::default(), |bits: FlagSet<KeyUsages>, flag| bits | flag);
        self.add_typed(true, &KeyUsageBits(bits))
    }

    /// Nothing where the list is empty. Time stamping stands alone and is critical (RFC 3161,
    /// section 2.3).
    pub(crate) fn extended_key_usage(&mut self, usages: &[ExtendedKeyUsage]) -> der::Result<()> {
        if usages.is_empty() {
            return Ok(());
        }
        let oids: Vec<ObjectIdentifier> = usages.iter().map(|usage| usage.0).collect();
        let critical = oids.as_slice() == [ExtendedKeyUsage::TIME_STAMPING.0];
        self.add_typed(critical, &ExtendedKeyUsageSyntax(oids))
    }

    /// Nothing where there is no name. Critical exactly where the subject is empty (RFC 5280,
    /// section 4.2.1.6).
    pub(crate) fn subject_alt_name(
        &mut self,
        names: &[SubjectAltName],
        subject_is_empty: bool,
    ) -> der::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        self.add(SUBJECT_ALT_NAME, subject_is_empty, &SubjectAltName::all_to_der(names)?)
    }

    /// Of a CA.
    pub(crate) fn basic_constraints(&mut self, path_length: Option<u8>) -> der::Result<()> {
        let value = BasicConstraints { ca: true, path_len_constraint: path_length };
        self.add_typed(true, &value)
    }

    /// cRLDistributionPoints and authorityInfoAccess, as far as there are URLs.
    pub(crate) fn pointers(&mut self, pointers: &Pointers) -> der::Result<()> {
        if !pointers.cdps.is_empty() {
            let names = pointers.cdps.iter().map(|url| uri(url)).collect::<der::Result<_>>()?;
            let point = DistributionPoint {
                distribution_point: Some(DistributionPointName::FullName(names)),
                reasons: None,
                crl_issuer: None,
            };
            self.add_typed(false, &CrlDistributionPoints(vec![point]))?;
        }
        let mut accesses = Vec::new();
        for (access_method, urls) in
            [(ID_AD_OCSP, &pointers.aia_ocsp_urls), (ID_AD_CA_ISSUERS, &pointers.aia_issuer_urls)]
        {
            for url in urls {
                accesses.push(AccessDescription { access_method, access_location: uri(url)? });
            }
        }
        if accesses.is_empty() {
            return Ok(());
        }
        self.add_typed(false, &AuthorityInfoAccessSyntax(accesses))
    }

    /// Nothing where the list is empty.
    pub(crate) fn policies(&mut self, policies: &[CertificatePolicy]) -> der::Result<()> {
        if policies.is_empty() {
            return Ok(());
        }
        self.add(CERTIFICATE_POLICIES, false, &CertificatePolicy::all_to_der(policies)?)
    }

    /// NULL: who relies on this responder's certificate need not ask for its state.
    pub(crate) fn ocsp_no_check(&mut self) -> der::Result<()> {
        self.add(OCSP_NO_CHECK, false, &[0x05, 0x00])
    }

    pub(crate) fn into_vec(self) -> Vec<Extension> {
        self.0
    }
}

/// SHA-1 of the key's bits (RFC 5280, section 4.2.1.2, method 1).
pub(crate) fn key_identifier(spki: &[u8]) -> der::Result<Vec<u8>> {
    let info = <SubjectPublicKeyInfoRef<'_> as der::Decode<'_>>::from_der(spki)?;
    Ok(Sha1::digest(info.subject_public_key.raw_bytes()).to_vec())
}

fn uri(url: &str) -> der::Result<GeneralName> {
    Ok(GeneralName::UniformResourceIdentifier(Ia5String::new(url)?))
}
