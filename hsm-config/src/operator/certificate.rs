//! A certificate, or what is to become one, in plain words.

use std::fmt::Write as _;
use std::net::IpAddr;

use chancery_shared::hexadecimal;
use chancery_shared::text::plain;
use const_oid::db::DB;
use const_oid::{AssociatedOid as _, ObjectIdentifier};
use der::{Decode as _, Encode as _};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::constraints::name::GeneralSubtrees;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints, SubjectAltName,
};
use x509_cert::{Certificate, TbsCertificate};

/// A TBSCertificate, line by line.
pub(super) fn to_be_signed(der: &[u8]) -> String {
    let fingerprint = format!("SHA-256 of what is signed: {}\n", fingerprint(der));
    TbsCertificate::from_der(der).map_or_else(not_read, |tbs| words(&tbs)) + &fingerprint
}

/// A certificate, line by line.
pub(super) fn whole(der: &[u8]) -> String {
    let fingerprint = format!("SHA-256 of the certificate: {}\n", fingerprint(der));
    let read = Certificate::from_der(der);
    read.map_or_else(not_read, |certificate| words(certificate.tbs_certificate())) + &fingerprint
}

fn not_read(error: der::Error) -> String {
    format!("the certificate can't be read ({error}): do not approve what is not shown\n")
}

fn words(tbs: &TbsCertificate) -> String {
    let validity = tbs.validity();
    let mut lines = vec![
        format!("subject: {}", plain(&tbs.subject().to_string(), ROOM)),
        format!("issuer: {}", plain(&tbs.issuer().to_string(), ROOM)),
        format!("valid from {} until {}", validity.not_before, validity.not_after),
        format!("serial number: {}", hexadecimal::encode(tbs.serial_number().as_bytes())),
        format!("signature algorithm: {}", name_of(tbs.signature().oid)),
    ];
    let key = tbs.subject_public_key_info();
    lines.push(match key.to_der() {
        Ok(der) => format!(
            "public key: {}, SHA-256 of its SubjectPublicKeyInfo: {}",
            name_of(key.algorithm.oid),
            fingerprint(&der)
        ),
        Err(error) => format!("the public key can't be read ({error})"),
    });
    let extensions = tbs.extensions().map(Vec::as_slice).unwrap_or_default();
    if !extensions.iter().any(|extension| extension.extn_id == BasicConstraints::OID) {
        lines.push("CA: no".to_owned());
    }
    lines.extend(extensions.iter().map(extension));
    lines.into_iter().fold(String::new(), |text, line| text + &line + "\n")
}

fn extension(extension: &Extension) -> String {
    let value = extension.extn_value.as_bytes();
    let critical = if extension.critical { " (critical)" } else { "" };
    let known = match extension.extn_id {
        BasicConstraints::OID => BasicConstraints::from_der(value).map(|constraints| {
            match (constraints.ca, constraints.path_len_constraint) {
                (false, _) => "CA: no".to_owned(),
                (true, None) => "CA: yes, with any number of CAs below it".to_owned(),
                (true, Some(0)) => "CA: yes, with no CA below it".to_owned(),
                (true, Some(length)) => format!("CA: yes, with at most {length} CAs below it"),
            }
        }),
        KeyUsage::OID => KeyUsage::from_der(value).map(|usage| {
            let usages: Vec<_> = usage.0.into_iter().map(|usage| format!("{usage:?}")).collect();
            format!("key usage: {}", usages.join(", "))
        }),
        ExtendedKeyUsage::OID => ExtendedKeyUsage::from_der(value).map(|ExtendedKeyUsage(list)| {
            let usages: Vec<_> = list.into_iter().map(name_of).collect();
            format!("extended key usage: {}", usages.join(", "))
        }),
        SubjectAltName::OID => SubjectAltName::from_der(value)
            .map(|SubjectAltName(names)| format!("alternative names: {}", list(&names))),
        NameConstraints::OID => NameConstraints::from_der(value).map(|constraints| {
            let NameConstraints { permitted_subtrees, excluded_subtrees } = constraints;
            let both = [("permitted", permitted_subtrees), ("excluded", excluded_subtrees)];
            let both = both.into_iter().filter_map(|(what, trees)| Some(subtrees(what, trees?)));
            format!("names below it: {}", both.collect::<Vec<_>>().join("; "))
        }),
        other => Ok(format!("extension {}: {}", name_of(other), short(value))),
    };
    known.unwrap_or_else(|error| format!("extension {}: {error}", extension.extn_id)) + critical
}

fn subtrees(what: &str, subtrees: GeneralSubtrees) -> String {
    let bases: Vec<_> = subtrees.into_iter().map(|subtree| subtree.base).collect();
    format!("{what} {}", list(&bases))
}

fn list(names: &[GeneralName]) -> String {
    let names: Vec<_> = names.iter().map(general_name).collect();
    plain(&names.join(", "), ROOM)
}

fn general_name(name: &GeneralName) -> String {
    match name {
        GeneralName::DnsName(name) => format!("DNS {name}"),
        GeneralName::Rfc822Name(name) => format!("e-mail {name}"),
        GeneralName::UniformResourceIdentifier(name) => format!("URI {name}"),
        GeneralName::DirectoryName(name) => format!("name {name}"),
        GeneralName::RegisteredId(id) => format!("id {id}"),
        GeneralName::IpAddress(octets) => format!("IP {}", address(octets.as_bytes())),
        GeneralName::OtherName(other) => format!("other name of type {}", other.type_id),
        GeneralName::EdiPartyName(_) => "EDI party".to_owned(),
    }
}

/// An address, or in a constraint an address with its mask (RFC 5280, section 4.2.1.10).
fn address(octets: &[u8]) -> String {
    let one = |octets: &[u8]| {
        let v4 = <[u8; 4]>::try_from(octets).map(IpAddr::from);
        v4.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from)).map(|ip| ip.to_string())
    };
    let with_mask = || {
        let (address, mask) = octets.split_at_checked(octets.len() / 2)?;
        Some(format!("{}/{}", one(address).ok()?, one(mask).ok()?))
    };
    one(octets).ok().or_else(with_mask).unwrap_or_else(|| short(octets))
}

fn name_of(oid: ObjectIdentifier) -> String {
    DB.by_oid(&oid).map_or_else(|| oid.to_string(), |name| format!("{name} ({oid})"))
}

fn short(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes.iter().take(SHORT) {
        let _ = write!(text, "{byte:02x}");
    }
    if bytes.len() > SHORT {
        let _ = write!(text, "… ({} bytes)", bytes.len());
    }
    text
}

fn fingerprint(bytes: &[u8]) -> String {
    hexadecimal::encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes))
}

/// Longer than any honest name.
const ROOM: usize = 4096;

/// Bytes of a value that this tool does not read.
const SHORT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// A CA's own certificate with one of each extension that is shown in words, and a policy.
    const CA: &str = "-----BEGIN CERTIFICATE-----
MIIB5DCCAZagAwIBAgICQUIwBQYDK2VwMDExFjAUBgNVBAoMDUV4YW1wbGUgVHJ1
c3QxFzAVBgNVBAMMDkV4YW1wbGUgU3ViIENBMB4XDTI2MTEyODA2MjQ1OVoXDTM2
MTEyNTA2MjQ1OVowMTEWMBQGA1UECgwNRXhhbXBsZSBUcnVzdDEXMBUGA1UEAwwO
RXhhbXBsZSBTdWIgQ0EwKjAFBgMrZXADIQCQ1Qavmec3c7svcGGwiqf3us/KEnHt
F0g5YhEWOBW9caOB0TCBzjASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQE
AwIBBjAYBgNVHSUEETAPBggrBgEFBQcDAQYDKgMEMCAGA1UdEQQZMBeCD2NhLmV4
YW1wbGUudGVzdIcEwAACATA4BgNVHR4BAf8ELjAsoBwwDoIMZXhhbXBsZS50ZXN0
MAqHCMAAAgD///8AoQwwCoEIYmFkLnRlc3QwEwYDVR0gBAwwCjAIBgZngQwBAgEw
HQYDVR0OBBYEFLZPHo/MW1h3N70dwC4jwC9I9VxtMAUGAytlcANBABmhSJH1ufyB
+x3kOKn0xtrwYwAEKZyb0JXDcQhJLyp5DYCKKABPNONb4DvM/IQsd4pKE57prQNz
GfOi1APW8Q0=
-----END CERTIFICATE-----
";

    #[test]
    fn all_that_a_certificate_allows_is_said() {
        let (_, der) = der::pem::decode_vec(CA.as_bytes()).unwrap();

        let text = whole(&der);

        let expected = [
            "subject: CN=Example Sub CA,O=Example Trust",
            "issuer: CN=Example Sub CA,O=Example Trust",
            "valid from 2026-11-28T06:24:59Z until 2036-11-25T06:24:59Z",
            "serial number: 4142",
            "signature algorithm: id-Ed25519 (1.3.101.112)",
            "public key: id-Ed25519 (1.3.101.112), SHA-256 of its SubjectPublicKeyInfo: \
             92885132e7eaace0f6620c9e804c4b5dac307edf1bbb1fa006f462bd0884c66b",
            "CA: yes, with no CA below it (critical)",
            "key usage: KeyCertSign, CRLSign (critical)",
            "extended key usage: id-kp-serverAuth (1.3.6.1.5.5.7.3.1), 1.2.3.4",
            "alternative names: DNS ca.example.test, IP 192.0.2.1",
            "names below it: permitted DNS example.test, IP 192.0.2.0/255.255.255.0; \
             excluded e-mail bad.test (critical)",
            "extension id-ce-certificatePolicies (2.5.29.32): 300a3008060667810c010201",
            "extension id-ce-subjectKeyIdentifier (2.5.29.14): \
             0414b64f1e8fcc5b587737bd1dc02e23c02f48f55c6d",
            "SHA-256 of the certificate: \
             9c5672fdaa596e00c23171aad1ff2d37361753a6a400b29ed9158e86744d5a65",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_tbs_is_shown_as_its_certificate_with_a_hash_of_what_is_signed() {
        let (_, der) = der::pem::decode_vec(CA.as_bytes()).unwrap();
        let certificate = Certificate::from_der(&der).unwrap();
        let tbs = certificate.tbs_certificate().to_der().unwrap();

        let (text, whole) = (to_be_signed(&tbs), whole(&der));

        let same = whole.lines().count() - 1;
        assert!(text.lines().take(same).eq(whole.lines().take(same)), "{text}{whole}");
        let last = format!("SHA-256 of what is signed: {}", fingerprint(&tbs));
        assert_eq!(text.lines().last(), Some(last.as_str()));
    }

    #[test]
    fn what_can_not_be_read_is_said_to_be_so() {
        assert!(to_be_signed(b"\x30\x01").contains("do not approve"));
    }
}
