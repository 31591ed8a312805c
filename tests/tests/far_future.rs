//! Certificates without a well-defined end (RFC 5280, section 4.1.2.5): the signer signs them where
//! its operator lets certificates last so long, and Java and OpenSSL read them.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chancery_shared::bytes::Bytes;
use chancery_shared::wire::Context;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::v1::{Request, SignCertificate};
use chancery_tests::clock::now;
use chancery_tests::forge::Forged;
use chancery_tests::forge::der::tlv;
use chancery_tests::forge::subject::{SubjectKey, common_name};
use chancery_tests::openssl::{Workbench, run};
use chancery_tests::peer::Peer;
use chancery_tests::signer_ca::own_tbs;
use chancery_tests::signer_home::SignerHome;

const NO_END: &[u8] = b"99991231235959Z";

fn pem(der: &[u8]) -> String {
    let digits = STANDARD.encode(der);
    let lines: Vec<_> = digits.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    let label = "CERTIFICATE-----\n";
    format!("-----BEGIN {label}{}\n-----END {label}", lines.join("\n"))
}

#[test]
fn a_certificate_without_an_end_is_signed_under_such_a_policy_and_read_by_others()
-> anyhow::Result<()> {
    let mut home = SignerHome::create(&[
        ("maxValidityDays = 398", "maxValidityDays = 3000000"),
        ("maxValidityDays = 9200", "maxValidityDays = 3000000"),
    ])?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let (key, signature) = (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256);
    let mut ca = home.create_key(&mut peer, "Endless Root", key, signature, None)?;
    let own = Forged { not_after: tlv(0x18, NO_END), ..own_tbs(&ca, now()) };
    home.certify_itself_with(&mut peer, &mut ca, &own)?;
    let subject = SubjectKey::generate()?;
    let ordinary = Forged::ordinary(&ca.issuer(), &subject, now());
    let serial_nonce = peer.fresh_nonce();
    let tbs = Forged { not_after: tlv(0x18, NO_END), ..ordinary }.der(&serial_nonce.0);
    let request = Request::SignCertificate(SignCertificate {
        key_id: ca.key_id,
        tbs: Bytes(tbs.clone()),
        csr: Bytes(subject.csr(&common_name("www.example.test"))?),
        serial_nonce,
        context: Context::default(),
    });

    let leaf = pem(&home.signed(&mut peer, &request, &tbs)?);

    let (bench, root) = (Workbench::new()?, pem(&ca.certificate));
    bench.verify(&leaf, "", &root)?;
    for certificate in [&leaf, &root] {
        let end = bench.about(certificate, &["-enddate", "-dateopt", "iso_8601"])?;
        assert_eq!(end, "notAfter=9999-12-31 23:59:59Z");
        bench.lint(certificate)?;
        let path = bench.write("endless.pem", certificate.as_bytes())?;
        let mut keytool = Command::new("keytool");
        let read = run(keytool.env("TZ", "UTC").args(["-printcert", "-file"]).arg(path))?;
        let until = read.lines().find(|line| line.contains("until: ")).unwrap_or_default();
        assert!(until.contains("Dec 31 23:59:59") && until.ends_with("9999"), "{until}");
    }
    Ok(())
}
