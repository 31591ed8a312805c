//! What a forgery is made from: CAs, keys, and an ordinary TBS to change.

use chancery_tests::forge::der::{integer, oid, sequence};
use chancery_tests::forge::subject::{SubjectKey, spki};
use chancery_tests::forge::{Forged, critical, oids};
use chancery_tests::signer_ca::Ca;
use time::OffsetDateTime;

/// What a forgery has to work with.
pub(crate) struct Scene {
    pub(crate) ca: Ca,
    pub(crate) constrained: Ca,
    pub(crate) key: SubjectKey,
    pub(crate) other: SubjectKey,
    pub(crate) now: OffsetDateTime,
}

impl Scene {
    pub(crate) fn tbs(&self) -> Forged {
        Forged::ordinary(&self.ca.issuer(), &self.key, self.now)
    }

    /// An ordinary TBS of the CA whose name constraints permit only `example.test`.
    pub(crate) fn constrained(&self) -> Forged {
        Forged::ordinary(&self.constrained.issuer(), &self.key, self.now)
    }

    pub(crate) fn san(&self, names: &[Vec<u8>]) -> Forged {
        self.tbs().with(oids::SUBJECT_ALT_NAME, sequence(names))
    }

    pub(crate) fn subject(&self, subject: Vec<u8>) -> Forged {
        Forged { subject, ..self.tbs() }
    }

    pub(crate) fn key(&self, spki: Vec<u8>) -> Forged {
        Forged { spki, ..self.tbs() }
    }
}

pub(crate) fn ca_flag(s: &Scene, content: &[Vec<u8>]) -> Forged {
    s.tbs().and(critical(oids::BASIC_CONSTRAINTS, sequence(content)))
}

pub(crate) fn purposes(s: &Scene, purposes: &[&str]) -> Forged {
    let purposes: Vec<Vec<u8>> = purposes.iter().map(|purpose| oid(purpose)).collect();
    s.tbs().with(oids::EXT_KEY_USAGE, sequence(&purposes))
}

pub(crate) fn other_key(s: &Scene) -> Forged {
    Forged::ordinary(&s.ca.issuer(), &s.other, s.now)
}

pub(crate) fn rsa(octets: usize) -> Vec<u8> {
    rsa_with(octets, &[1, 0, 1])
}

pub(crate) fn rsa_with(octets: usize, exponent: &[u8]) -> Vec<u8> {
    let mut modulus = vec![0];
    modulus.extend(std::iter::repeat_n(0xd5, octets));
    rsa_key(&modulus, exponent)
}

pub(crate) fn rsa_even() -> Vec<u8> {
    let mut modulus = vec![0];
    modulus.extend(std::iter::repeat_n(0xd4, 256));
    rsa_key(&modulus, &[1, 0, 1])
}

pub(crate) fn rsa_key(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let key = sequence(&[integer(modulus), integer(exponent)]);
    spki("1.2.840.113549.1.1.1", &[5, 0], &key)
}

pub(crate) fn off_curve() -> Vec<u8> {
    let mut point = vec![4];
    point.extend([0x55; 64]);
    spki("1.2.840.10045.2.1", &oid("1.2.840.10045.3.1.7"), &point)
}
