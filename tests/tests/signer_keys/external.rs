//! A CA of the signer below a root from outside.

use std::path::Path;
use std::process::Command;

use chancery_shared::wire::v1::InstallCaCertificate;
use chancery_tests::openssl::{Workbench, run};

use super::*;

const KIND: [&str; 4] = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];

/// A root that OpenSSL makes, in `root.pem` and `root.key`, which permits names below `domain`.
fn make_root(bench: &Workbench, domain: &str) -> anyhow::Result<()> {
    let key = bench.key(&KIND)?;
    std::fs::rename(key, bench.path("root.key"))?;
    let constraints = format!("nameConstraints=critical,permitted;DNS:{domain}");
    run(Command::new("openssl")
        .args(["req", "-x509", "-new", "-utf8", "-subj", "/CN=Outside Root", "-days", "3650"])
        .args(["-addext", "keyUsage=critical,keyCertSign,cRLSign", "-addext", &constraints])
        .arg("-key")
        .arg(bench.path("root.key"))
        .arg("-out")
        .arg(bench.path("root.pem")))?;
    Ok(())
}

/// DER of a CA certificate by the root for that key.
fn certify(bench: &Workbench, ca: &Ca, name: &str) -> anyhow::Result<Vec<u8>> {
    // The request is for another key: only its subject counts.
    let request = bench.write("request.pem", bench.fresh_request(name, "")?.as_bytes())?;
    let spki = bench.write("spki.der", &ca.spki)?;
    let extensions = "basicConstraints=critical,CA:TRUE\n\
        keyUsage=critical,keyCertSign,cRLSign\n\
        subjectKeyIdentifier=hash\n\
        authorityKeyIdentifier=keyid\n";
    let extensions = bench.write("extensions.cnf", extensions.as_bytes())?;
    let pem = run(Command::new("openssl")
        .args(["x509", "-req", "-days", "3000", "-in"])
        .arg(request)
        .arg("-force_pubkey")
        .arg(spki)
        .arg("-extfile")
        .arg(extensions)
        .args([Path::new("-CA"), &bench.path("root.pem")])
        .args([Path::new("-CAkey"), &bench.path("root.key")]))?;
    bench.der(&pem)
}

#[test]
fn what_the_root_forbids_is_not_signed_also_where_the_api_leaves_the_root_out() -> anyhow::Result<()>
{
    for (domain, is_permitted) in [("example.test", true), ("elsewhere.test", false)] {
        let bench = Workbench::new()?;
        make_root(&bench, domain)?;
        let mut home = SignerHome::create(&[("anchors = []", "anchors = [\"config/root.pem\"]")])?;
        std::fs::copy(bench.path("root.pem"), home.path().join("config/root.pem"))?;
        home.start()?;
        let (mut peer, _) = Peer::connect(&home.socket())?;
        let (key, signature) = (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256);
        let ca = home.create_key(&mut peer, "Inside", key, signature, None)?;
        let own = certify(&bench, &ca, "/CN=Inside")?;

        let install = Request::InstallCaCertificate(InstallCaCertificate {
            key_id: ca.key_id,
            chain: vec![Bytes(own)],
            context: Context::default(),
        });
        assert_eq!(state(&mut peer, &install)?, KeyState::Live);

        // The root binds the key after a restart too, when only the keyring file is read.
        for _ in 0..2 {
            let (mut peer, _) = Peer::connect(&home.socket())?;
            let request = certificate(&mut peer, &ca)?;
            if is_permitted {
                let answer = peer.ask(&request)?.outcome;
                assert!(matches!(answer, Outcome::Done(Reply::Signed(_))), "{answer:?}");
            } else {
                let refused = peer.refused(&request)?;
                assert_eq!(refused.rule.as_deref(), Some("name-constraints.permitted"));
            }
            home.stop()?;
            home.start()?;
        }
    }
    Ok(())
}
