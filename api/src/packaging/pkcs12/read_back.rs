//! Reads a file as its reader will, through types that did not write it, and compares what is in it.
//! The keys are those of the writing: deriving them again would double what a package costs.

use aws_lc_rs::hmac;
use der::asn1::{OctetString, OctetStringRef};
use der::{Decode as _, Encode as _};
use pkcs12::pfx::Pfx;
use pkcs12::safe_bag::{SafeBag, SafeContents};
use pkcs12::{AuthenticatedSafe, CertBag};
use sha1::{Digest as _, Sha1};

use super::{CERT_BAG, FRIENDLY_NAME, KEY_BAG, Keys, LOCAL_KEY_ID, shown_name};
use crate::asn1::Tlv;
use crate::packaging::{Contents, PackagingError};

/// Whether `file` holds exactly `contents`.
pub(super) fn compare(
    file: &[u8],
    contents: &Contents<'_>,
    keys: &Keys,
) -> Result<(), PackagingError> {
    let pfx = Pfx::from_der(file)?;
    let mac = pfx.mac_data.ok_or(PackagingError::ReadBack("MAC"))?;
    let safe: OctetString = pfx.auth_safe.content.decode_as()?;
    hmac::verify(&keys.mac.key, safe.as_bytes(), mac.mac.digest.as_bytes())
        .map_err(|_| PackagingError::ReadBack("MAC"))?;

    let infos = AuthenticatedSafe::from_der(safe.as_bytes())?;
    let [certificates, key] = infos.as_slice() else {
        return Err(PackagingError::ReadBack("AuthenticatedSafe"));
    };

    // Version, then contentType, algorithm and [0] content.
    let data = certificates.content.to_der()?;
    let data = Tlv::read(&data)?.children()?;
    let [_, info] = data.as_slice() else {
        return Err(PackagingError::ReadBack("EncryptedData"));
    };
    let info = info.children()?;
    let encrypted = info.last().ok_or(PackagingError::ReadBack("EncryptedContentInfo"))?.content;
    let bags = SafeContents::from_der(&keys.certificates.decrypt(encrypted)?)?;
    if bags.len() != contents.certificates().count() {
        return Err(PackagingError::ReadBack("chain"));
    }
    for (bag, certificate) in bags.iter().zip(contents.certificates()) {
        let held = CertBag::from_der(value_of(bag, CERT_BAG)?)?;
        if held.cert_value.as_bytes() != certificate {
            return Err(PackagingError::ReadBack("certificate"));
        }
    }

    let data: OctetString = key.content.decode_as()?;
    let keys_held = SafeContents::from_der(data.as_bytes())?;
    let [key] = keys_held.as_slice() else { return Err(PackagingError::ReadBack("key")) };
    let encrypted = Tlv::read(value_of(key, KEY_BAG)?)?.children()?;
    let encrypted = encrypted.last().ok_or(PackagingError::ReadBack("key"))?;
    let encrypted = <&OctetStringRef>::from_der(encrypted.der)?;
    if keys.key.decrypt(encrypted.as_bytes())?.as_slice() != contents.pkcs8 {
        return Err(PackagingError::ReadBack("key"));
    }

    let leaf = bags.first().ok_or(PackagingError::ReadBack("chain"))?;
    for bag in [leaf, key] {
        // A letter that a BMPString lacks is another one in the file.
        let name = attribute(bag, FRIENDLY_NAME)?;
        let units = name.chunks(2).map(|unit| unit.try_into().map_or(0, u16::from_be_bytes));
        let name = char::decode_utf16(units).map(Result::unwrap_or_default);
        if !name.eq(shown_name(contents.name)) {
            return Err(PackagingError::ReadBack("friendlyName"));
        }
        if attribute(bag, LOCAL_KEY_ID)? != Sha1::digest(contents.leaf).as_slice() {
            return Err(PackagingError::ReadBack("localKeyID"));
        }
    }
    Ok(())
}

/// What stands in a bag of this kind, without its tag.
fn value_of(bag: &SafeBag, id: der::asn1::ObjectIdentifier) -> Result<&[u8], PackagingError> {
    if bag.bag_id != id {
        return Err(PackagingError::ReadBack("bag"));
    }
    Ok(Tlv::read(&bag.bag_value)?.content)
}

/// The one value of an attribute, without its tag.
fn attribute(bag: &SafeBag, id: der::asn1::ObjectIdentifier) -> Result<Vec<u8>, PackagingError> {
    const BROKEN: PackagingError = PackagingError::ReadBack("attributes");
    let attributes = bag.bag_attributes.as_ref();
    let found = attributes.and_then(|all| all.iter().find(|attribute| attribute.oid == id));
    let values = found.ok_or(BROKEN)?.values.to_der()?;
    match Tlv::read(&values)?.children()?.as_slice() {
        [value] => Ok(value.content.to_vec()),
        _ => Err(BROKEN),
    }
}
