//! Every kind of CA key certifies every kind of subject key, and others accept the result.

use chancery_tests::Installation;
use chancery_tests::openssl::{KEY_KINDS, Workbench};
use serde_json::{Value, json};

/// Every algorithm of a CA: name, and its fields in `POST /admin/localca`.
fn ca_algorithms() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (key, _) in KEY_KINDS {
        let hashes = ["SHA-256", "SHA-384", "SHA-512"];
        // A hash each is enough for the larger keys: the mechanism is the same.
        let hashes =
            if matches!(key, "RSA 2048" | "ECDSA P-256") { &hashes[..] } else { &hashes[..1] };
        for hash in hashes {
            if key == "Ed25519" {
                all.push((key.to_owned(), json!({"keyAlgorithm": key})));
                continue;
            }
            for pss in [false, true] {
                if pss && !key.starts_with("RSA") {
                    continue;
                }
                let fields = json!({"keyAlgorithm": key, "hashAlgorithm": hash, "rsaPss": pss});
                let suffix = if pss { " PSS" } else { "" };
                all.push((format!("{key} {hash}{suffix}"), fields));
            }
        }
    }
    all
}

#[test]
fn a_ca_of_every_algorithm_issues_for_every_kind_of_key() -> anyhow::Result<()> {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let bench = Workbench::new()?;
    let mut requests = Vec::new();
    for (kind, options) in KEY_KINDS {
        let key = bench.key(options)?;
        requests.push((kind, bench.request(&key, "/CN=www.example.test", "DNS:www.example.test")?));
    }

    for (name, mut fields) in ca_algorithms() {
        fields["rootCa"] = true.into();
        administrator.create_ca(&name, fields)?;
        let root = administrator.chain(&name)?;
        bench.verify(&root, "", &root)?;
        for (kind, csr) in &requests {
            let issued = administrator.request_with(&json!({"caName": name, "csr": csr}))?;
            let told = |error| anyhow::anyhow!("{kind} by {name}: {error:#}");
            bench.verify(&issued.pem, "", &root).map_err(told)?;
        }
    }
    Ok(())
}

#[test]
fn the_first_issuers_chain_is_accepted_by_openssl_and_pkilint() -> anyhow::Result<()> {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let bench = Workbench::new()?;
    let root = installation.root_pem();
    let chain = administrator.chain("Chancery Issuer")?;

    for (kind, options) in KEY_KINDS {
        let key = bench.key(options)?;
        let names = "DNS:www.example.test,IP:192.0.2.1,IP:2001:db8::1,\
                     email:pki@example.test,URI:https://www.example.test/a";
        let csr = bench.request(&key, "/O=Example/CN=www.example.test", names)?;

        let issued = administrator.request(&csr)?;

        let told = |error| anyhow::anyhow!("{kind}: {error:#}");
        bench.verify(&issued.pem, &chain, &root).map_err(told)?;
        bench.lint(&issued.pem).map_err(told)?;
        assert!(issued.pem.contains("-----\r\n"), "PEM lines end in CRLF");
    }
    // A wildcard is no preferred name in the eyes of pkilint's PKIX rules; TLS clients take it.
    let csr = bench.fresh_request("/CN=www.example.test", "DNS:*.example.test")?;
    bench.verify(&administrator.request(&csr)?.pem, &chain, &root)?;
    bench.lint_chain(&chain)
}

#[test]
fn cas_of_every_algorithm_are_clean_for_pkilint() -> anyhow::Result<()> {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let bench = Workbench::new()?;
    let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test")?;
    let parent = administrator.id_of("/api/admin/localca", "Chancery Root CA")?;

    for (name, mut fields) in ca_algorithms() {
        fields["parentLocalCaId"] = parent.clone().into();
        administrator.create_ca(&name, fields)?;
        let issued = administrator.request_with(&json!({"caName": name, "csr": csr}))?;
        let chain = administrator.chain(&name)?;

        let told = |error| anyhow::anyhow!("{name}: {error:#}");
        bench.verify(&issued.pem, &chain, &installation.root_pem()).map_err(told)?;
        bench.lint(&issued.pem).map_err(told)?;
        bench.lint_chain(&chain).map_err(told)?;
    }
    Ok(())
}
