//! Forged: the subject's key and the proof that the requester holds it.

use num_bigint::BigUint;

use super::{Forgery, assert_refused, forgery};
use crate::policy::fixture::keys::{self, Key};
use crate::policy::fixture::{Case, CsrOfDraft, asn1::*, csr};

#[test]
fn a_forged_key_or_csr_is_refused_by_its_rule() {
    assert_refused(Case::certificate, FORGERIES);
}

/// Certifies the key of `spki`, to be refused before its CSR is read.
fn certify(case: &mut Case, spki: Vec<u8>) {
    case.tbs.spki = spki;
}

fn ec(curve: &str, point: &[u8]) -> Vec<u8> {
    sequence(&[&sequence(&[&oid("1.2.840.10045.2.1"), &oid(curve)]), &bit_string(point)])
}

fn ed25519(point: &[u8]) -> Vec<u8> {
    sequence(&[&sequence(&[&oid("1.3.101.112")]), &bit_string(point)])
}

fn rsa_key(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let unsigned = |bytes: &[u8]| match bytes.first() {
        Some(0x80..) => tlv(2, &[&[0], bytes].concat()),
        _ => tlv(2, bytes),
    };
    sequence(&[&unsigned(modulus), &unsigned(exponent)])
}

/// An RSA key whose numbers are these, big-endian.
pub(super) fn rsa(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let algorithm = sequence(&[&oid("1.2.840.113549.1.1.1"), &[5, 0]]);
    sequence(&[&algorithm, &bit_string(&rsa_key(modulus, exponent))])
}

/// Odd, of this many bits, and divided by no small number: 2^n − d.
pub(super) fn modulus(bits: usize) -> Vec<u8> {
    let key = &keys::RSA.bits();
    // SEQUENCE, INTEGER, a leading zero, then 256 octets.
    let sound = &key[9..9 + 256];
    match bits {
        2048 => sound.to_vec(),
        bits => {
            let mut modulus = vec![0xff; bits / 8];
            *modulus.last_mut().unwrap() = 0x01;
            modulus
        }
    }
}

const P256: &str = "1.2.840.10045.3.1.7";
const EXPONENT: &[u8] = &[1, 0, 1];

pub(super) const FORGERIES: &[Forgery] = &[
    forgery("public-key.algorithm", "DSA", |case| {
        let key = sequence(&[&sequence(&[&oid("1.2.840.10040.4.1")]), &bit_string(&[2, 1, 5])]);
        certify(case, key);
    }),
    forgery("public-key.algorithm", "id-RSASSA-PSS", |case| {
        let algorithm = sequence(&[&oid("1.2.840.113549.1.1.10")]);
        let key = rsa_key(&modulus(2048), EXPONENT);
        certify(case, sequence(&[&algorithm, &bit_string(&key)]));
    }),
    forgery("public-key.algorithm", "secp256k1", |case| {
        certify(case, ec("1.3.132.0.10", &keys::SUBJECT.bits()));
    }),
    forgery("public-key.algorithm", "P-192", |case| {
        certify(case, ec("1.2.840.10045.3.1.1", &[4; 49]));
    }),
    forgery("public-key.algorithm", "Ed448", |case| {
        certify(case, sequence(&[&sequence(&[&oid("1.3.101.113")]), &bit_string(&[1; 57])]));
    }),
    forgery("public-key.parameters", "RSA without NULL", |case| {
        let algorithm = sequence(&[&oid("1.2.840.113549.1.1.1")]);
        let key = rsa_key(&modulus(2048), EXPONENT);
        certify(case, sequence(&[&algorithm, &bit_string(&key)]));
    }),
    forgery("public-key.parameters", "a curve that is implied", |case| {
        let algorithm = sequence(&[&oid("1.2.840.10045.2.1"), &[5, 0]]);
        certify(case, sequence(&[&algorithm, &bit_string(&keys::SUBJECT.bits())]));
    }),
    forgery("public-key.parameters", "a curve that is spelled out", |case| {
        let algorithm = sequence(&[&oid("1.2.840.10045.2.1"), &sequence(&[&[2, 1, 1]])]);
        certify(case, sequence(&[&algorithm, &bit_string(&keys::SUBJECT.bits())]));
    }),
    forgery("public-key.parameters", "Ed25519 with NULL", |case| {
        let algorithm = sequence(&[&oid("1.3.101.112"), &[5, 0]]);
        certify(case, sequence(&[&algorithm, &bit_string(&[9; 32])]));
    }),
    forgery("public-key.malformed", "an RSA key that is no SEQUENCE", |case| {
        let algorithm = sequence(&[&oid("1.2.840.113549.1.1.1"), &[5, 0]]);
        certify(case, sequence(&[&algorithm, &bit_string(&[2, 1, 5])]));
    }),
    forgery("public-key.malformed", "a negative modulus", |case| {
        let algorithm = sequence(&[&oid("1.2.840.113549.1.1.1"), &[5, 0]]);
        let key = sequence(&[&tlv(2, &[0x81; 256]), &tlv(2, EXPONENT)]);
        certify(case, sequence(&[&algorithm, &bit_string(&key)]));
    }),
    forgery("public-key.malformed", "an RSA key of three numbers", |case| {
        let algorithm = sequence(&[&oid("1.2.840.113549.1.1.1"), &[5, 0]]);
        let three = [tlv(2, &modulus(2048)[1..]), tlv(2, EXPONENT), tlv(2, &[1])].concat();
        certify(case, sequence(&[&algorithm, &bit_string(&tlv(0x30, &three))]));
    }),
    forgery("public-key.malformed", "Ed25519 of 31 octets", |case| {
        certify(case, ed25519(&[9; 31]));
    }),
    forgery("public-key.malformed", "a key with unused bits", |case| {
        let algorithm = sequence(&[&oid("1.3.101.112")]);
        certify(case, sequence(&[&algorithm, &tlv(3, &[&[1], [8; 32].as_slice()].concat())]));
    }),
    forgery("public-key.point", "a point beside the curve", |case| {
        let mut point = keys::SUBJECT.bits();
        *point.last_mut().unwrap() ^= 1;
        certify(case, ec(P256, &point));
    }),
    forgery("public-key.point", "the point at infinity", |case| certify(case, ec(P256, &[0]))),
    forgery("public-key.point", "a compressed point", |case| {
        let point = keys::SUBJECT.bits();
        certify(case, ec(P256, &[&[2 | point[64] & 1], &point[1..33]].concat()));
    }),
    forgery("public-key.point", "the hybrid form of a point", |case| {
        let mut point = keys::SUBJECT.bits();
        point[0] = 6 | point[64] & 1;
        certify(case, ec(P256, &point));
    }),
    forgery("public-key.point", "a point of another curve", |case| {
        certify(case, ec("1.3.132.0.34", &keys::SUBJECT.bits()));
    }),
    forgery("public-key.point", "Ed25519: the neutral element", |case| {
        let mut point = [0; 32];
        point[0] = 1;
        certify(case, ed25519(&point));
    }),
    forgery("public-key.point", "Ed25519: order 4, with the sign bit", |case| {
        let mut point = [0; 32];
        point[31] = 0x80;
        certify(case, ed25519(&point));
    }),
    forgery("public-key.point", "Ed25519: not canonical", |case| {
        let mut point = [0xff; 32];
        (point[0], point[31]) = (0xee, 0x7f);
        certify(case, ed25519(&point));
    }),
    forgery("public-key.rsa-size", "512 bits", |case| certify(case, rsa(&modulus(512), EXPONENT))),
    forgery("public-key.rsa-size", "2047 bits", |case| {
        let mut modulus = modulus(2048);
        modulus[0] &= 0x7f;
        certify(case, rsa(&modulus, EXPONENT));
    }),
    forgery("public-key.rsa-size", "8200 bits", |case| {
        certify(case, rsa(&modulus(8200), EXPONENT));
    }),
    forgery("public-key.rsa-modulus", "even", |case| {
        let mut modulus = modulus(2048);
        *modulus.last_mut().unwrap() &= 0xfe;
        certify(case, rsa(&modulus, EXPONENT));
    }),
    forgery("public-key.rsa-exponent", "1", |case| certify(case, rsa(&modulus(2048), &[1]))),
    forgery("public-key.rsa-exponent", "3", |case| certify(case, rsa(&modulus(2048), &[3]))),
    forgery("public-key.rsa-exponent", "even", |case| {
        certify(case, rsa(&modulus(2048), &[1, 0, 2]));
    }),
    forgery("public-key.rsa-exponent", "80 bits", |case| {
        certify(case, rsa(&modulus(2048), &[0x41; 10]));
    }),
    forgery("public-key.small-factor", "divisible by 743", |case| {
        let cofactor: BigUint = (BigUint::from(1_u32) << 2038) + 1_u32;
        let modulus: BigUint = cofactor * 743_u32;
        let bytes = modulus.to_bytes_be();
        certify(case, rsa(&bytes, EXPONENT));
    }),
    forgery("public-key.roca", "made as Infineon's library made them", |case| {
        // The product of the first 39 primes, and numbers that are powers of 65537 modulo it.
        let primes = (2_u32..168).filter(|n| (2..*n).all(|divisor| n % divisor != 0));
        let m: BigUint = primes.map(BigUint::from).product();
        let power = BigUint::from(65_537_u32).modpow(&BigUint::from(12_345_u32), &m);
        let mut number: BigUint = (BigUint::from(3_u32) << 2046) / &m * &m + power;
        while (3..752_u32).step_by(2).any(|n| &number % n == BigUint::ZERO) {
            number += &m;
        }
        certify(case, rsa(&number.to_bytes_be(), EXPONENT));
    }),
    forgery("public-key.close-primes", "two factors that are almost the same", |case| {
        // Neither factor has a small divisor, and both lie close to 2^1100.
        let factor = |above: u32| -> BigUint { (BigUint::from(1_u32) << 1100) + above };
        let product = factor(13) * factor(25);
        certify(case, rsa(&product.to_bytes_be(), EXPONENT));
    }),
    forgery("public-key.not-allowed", "P-256 where policy has RSA only", |case| {
        case.policy.subject_keys = vec![chancery_shared::wire::policy::SubjectKey::Rsa2048];
    }),
    forgery("public-key.not-allowed", "RSA 2048 where policy wants 3072", |case| {
        case.policy.subject_keys = vec![chancery_shared::wire::policy::SubjectKey::Rsa3072];
        certify(case, keys::RSA.spki.clone());
    }),
    forgery("public-key.known", "a key of the operator's list", |case| {
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &case.tbs.spki);
        case.bad_keys.extend(&hex::encode(hash)).unwrap();
    }),
    forgery("public-key.ca-key", "the issuing key itself", |case| {
        certify(case, keys::CA.spki.clone());
        case.ca_keys.clear();
    }),
    forgery("public-key.ca-key", "another CA key of this signer", |case| {
        case.ca_keys.push(keys::SUBJECT.spki.clone());
    }),
    forgery("csr.missing", "no CSR", |case| case.csr = CsrOfDraft::Absent),
    forgery("csr.size", "more than 48 KiB", |case| {
        case.csr = CsrOfDraft::Bytes(vec![0x30; 50_000]);
    }),
    forgery("csr.malformed", "no CSR but text", |case| {
        case.csr = CsrOfDraft::Bytes(b"-----BEGIN CERTIFICATE REQUEST-----".to_vec());
    }),
    forgery("csr.malformed", "a byte behind the CSR", |case| {
        let mut csr = case.csr().unwrap();
        csr.push(0);
        case.csr = CsrOfDraft::Bytes(csr);
    }),
    forgery("csr.key", "another key's good CSR", |case| {
        case.csr = CsrOfDraft::Bytes(csr(&keys::STRANGER.spki, &keys::STRANGER));
    }),
    forgery("csr.key", "the same key, encoded another way", |case| {
        let point = keys::SUBJECT.bits();
        let compressed = ec(P256, &[&[2 | point[64] & 1], &point[1..33]].concat());
        case.csr = CsrOfDraft::Bytes(csr(&compressed, &keys::SUBJECT));
    }),
    forgery("csr.possession", "signed by another key", |case| {
        case.csr = CsrOfDraft::Bytes(csr(&keys::SUBJECT.spki, &keys::STRANGER));
    }),
    forgery("csr.possession", "a bit of the signature turned", |case| {
        let mut csr = case.csr().unwrap();
        *csr.last_mut().unwrap() ^= 1;
        case.csr = CsrOfDraft::Bytes(csr);
    }),
    forgery("csr.possession", "an algorithm that is not the key's", |case| {
        static ED25519: std::sync::LazyLock<Key> = std::sync::LazyLock::new(Key::ed25519);
        case.csr = CsrOfDraft::Bytes(csr(&keys::SUBJECT.spki, &ED25519));
    }),
];
