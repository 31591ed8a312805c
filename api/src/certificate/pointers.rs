//! The URLs in a certificate: where its CRL, OCSP responder and issuer are found.

use der::asn1::ObjectIdentifier;

use crate::asn1::{Tlv, context};

/// The elements of authorityInfoAccess that are URIs, each with its method.
pub(super) fn aias(value: &[u8]) -> Option<Vec<String>> {
    let mut aias = Vec::new();
    for access in Tlv::read(value).ok()?.children().ok()? {
        let parts = access.children().ok()?;
        let [method, location] = parts.as_slice() else { continue };
        let Some(url) = url(location) else { continue };
        let method = ObjectIdentifier::from_bytes(method.content).ok()?.to_string();
        aias.push(match method.as_str() {
            "1.3.6.1.5.5.7.48.1" => format!("OCSP:{url}"),
            "1.3.6.1.5.5.7.48.2" => format!("CAISSUERS:{url}"),
            other => format!("{other}:{url}"),
        });
    }
    Some(aias)
}

/// The URIs of cRLDistributionPoints.
pub(super) fn cdps(value: &[u8]) -> Option<Vec<String>> {
    let mut cdps = Vec::new();
    for point in Tlv::read(value).ok()?.children().ok()? {
        for name in point.children().ok()?.iter().filter(|part| part.tag == context(0, true)) {
            for full_name in name.children().ok()?.iter().filter(|n| n.tag == context(0, true)) {
                cdps.extend(full_name.children().ok()?.iter().filter_map(url));
            }
        }
    }
    Some(cdps)
}

fn url(name: &Tlv<'_>) -> Option<String> {
    let is_uri = name.tag == context(6, false);
    is_uri.then(|| String::from_utf8_lossy(name.content).into_owned())
}
