//! Records after their issuance, through the real service: downloaded and read by OpenSSL, imported,
//! deleted; and previews before it.

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chancery_tests::openssl::{Workbench, run};
use chancery_tests::{Client, ISSUER, Installation, Plan, on_both_engines};
use serde_json::{Value, json};

const P256: &[&str] = &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];

/// A record's certificate, chain or request in one of its forms.
fn download(client: &Client, id: &str, form: &str) -> anyhow::Result<Vec<u8>> {
    Ok(client.get(&format!("/api/certs/{id}/{form}"))?.expect_status(200)?.body)
}

fn download_text(client: &Client, id: &str, form: &str) -> anyhow::Result<String> {
    Ok(String::from_utf8(download(client, id, form)?)?)
}

fn import(client: &Client, body: &Value) -> anyhow::Result<Value> {
    client.post("/api/certs/import", body)?.expect_status(200)?.json()
}

/// A CA that OpenSSL made, and a certificate below it: both as PEM.
fn foreign(bench: &Workbench) -> anyhow::Result<(String, String)> {
    let ca_key = bench.key(P256)?;
    let ca = bench.path("ca.pem");
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-subj", "/CN=Foreign CA", "-days", "100", "-out"]).arg(&ca);
    run(command.arg("-key").arg(&ca_key))?;
    let kept = bench.path("ca-key.pem");
    std::fs::rename(ca_key, &kept)?;
    let csr = bench.fresh_request("/CN=foreign.example.test", "")?;
    let csr = bench.write("foreign.csr", csr.as_bytes())?;
    let mut command = Command::new("openssl");
    command.args(["x509", "-req", "-days", "50", "-in"]).arg(csr);
    let leaf = run(command.arg("-CA").arg(&ca).arg("-CAkey").arg(kept))?;
    Ok((std::fs::read_to_string(ca)?, leaf))
}

/// What OpenSSL finds in a PKCS #7 bag.
fn print_certs(bag: &Path, form: &str) -> anyhow::Result<String> {
    run(Command::new("openssl").args(["pkcs7", "-print_certs", "-inform", form, "-in"]).arg(bag))
}

on_both_engines! {
    fn openssl_reads_every_download(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let member = installation.member("reader", &["Default"]);
        let bench = Workbench::new().unwrap();
        let csr = bench.fresh_request("/CN=b\u{fc}cher.example", "DNS:www.example.test").unwrap();
        let issued = member.request(&csr).unwrap();
        let get = |form: &str| download(&member, &issued.id, form).unwrap();

        let cer = bench.write("leaf.cer", &get("cer")).unwrap();
        let chain = download_text(&member, &issued.id, "chain").unwrap();
        let p7b = bench.write("chain.p7b", &get("p7b")).unwrap();
        let p7b_der = bench.write("chain.p7b.der", &get("p7b?form=der")).unwrap();
        let sent = bench.write("request.csr", &get("csr")).unwrap();

        let as_pem = run(Command::new("openssl").args(["x509", "-inform", "der", "-in"]).arg(cer));
        assert_eq!(as_pem.unwrap().replace('\n', "\r\n"), issued.pem);
        assert_eq!(download_text(&member, &issued.id, "pemcert").unwrap(), issued.pem);
        assert!(chain.starts_with(&issued.pem), "{chain}");
        assert!(chain.ends_with(&installation.root_pem().replace("\r\n", "\n").replace('\n', "\r\n")));
        bench.verify(&issued.pem, &chain, &installation.root_pem()).unwrap();
        for (path, form) in [(&p7b, "PEM"), (&p7b_der, "DER")] {
            let printed = print_certs(path, form).unwrap();
            assert_eq!(printed.matches("BEGIN CERTIFICATE").count(), 3, "{form}: {printed}");
        }
        run(Command::new("openssl").args(["req", "-verify", "-noout", "-in"]).arg(sent)).unwrap();
        let head = member.curl(&format!("/api/certs/{}/cer", issued.id)).arg("--head").output();
        let head = String::from_utf8(head.unwrap().stdout).unwrap().to_ascii_lowercase();
        assert!(head.starts_with("http/2 200"), "{head}");
        let name = "filename=\"b_cher.example.cer\"; filename*=utf-8''b%c3%bccher.example.cer";
        assert!(head.contains(name), "{head}");
        assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    }

    fn what_is_imported_is_foreign_unless_a_local_ca_signed_it_and_goes_once_it_is_over(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let administrator = installation.administrator();
        let member = installation.member("importer", &["Default"]);
        let bench = Workbench::new().unwrap();
        let (ca, leaf) = foreign(&bench).unwrap();
        let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test").unwrap();
        let issued = member.request(&csr).unwrap();

        let ca = import(&administrator, &json!({"certData": ca})).unwrap();
        let foreign = import(&member, &json!({"certData": leaf, "extraInfo": "from elsewhere"})).unwrap();
        let mut forged = bench.der(&issued.pem).unwrap();
        *forged.last_mut().unwrap() ^= 1;
        let forged = import(&member, &json!({"certData": STANDARD.encode(forged)})).unwrap();

        assert_eq!((&foreign["issuerCertId"], &foreign["localCaId"]), (&ca["id"], &Value::Null));
        assert_eq!((&ca["issuerCertId"], &ca["isCa"]), (&ca["id"], &json!(true)));
        let id = foreign["id"].as_str().unwrap();
        let chain = download_text(&member, id, "chain").unwrap();
        let [ca_pem, leaf_pem] = [&ca, &foreign].map(|record| record["pemCert"].as_str().unwrap());
        assert_eq!(chain, format!("{leaf_pem}{ca_pem}"));
        let (leaf, ca_path) = (bench.write("l", leaf_pem.as_bytes()), bench.write("c", ca_pem.as_bytes()));
        run(Command::new("openssl").args(["verify", "-CAfile"]).arg(ca_path.unwrap()).arg(leaf.unwrap()))
            .unwrap();
        assert_eq!((&forged["localCaId"], &forged["issuerCertId"]), (&Value::Null, &Value::Null));
        let own = member.record(&issued.id).unwrap();
        assert_eq!(forged["serialNumber"], own["serialNumber"]);

        // Ours comes again: first as it is, then revoked.
        let again = json!({"certData": issued.pem});
        let duplicate = member.post("/api/certs/import", &again).unwrap().expect_status(409).unwrap();
        assert_eq!(duplicate.code().unwrap(), "duplicate_certificate");
        assert_eq!(duplicate.json().unwrap()["certId"], *issued.id);
        let path = format!("/api/certs/{}", issued.id);
        let delete = |client: &Client| client.send("DELETE", &path, &[], None).unwrap();
        assert_eq!(delete(&member).code().unwrap(), "not_administrator");
        assert_eq!(delete(&administrator).code().unwrap(), "wrong_state");
        let revoked = json!({"certData": issued.pem, "revoked": true, "revocationReason": "superceded"});
        assert_eq!(import(&member, &revoked).unwrap()["revocationReason"], "superseded");
        let deleted = delete(&administrator).expect_status(200).unwrap().json().unwrap();
        assert_eq!((&deleted["status"], &deleted["id"]), (&json!("Revoked"), &json!(issued.id)));
        assert_eq!(member.get(&path).unwrap().status, 404);
        let back = import(&administrator, &again).unwrap();
        assert_eq!((&back["revoked"], &back["localCaId"]), (&json!(true), &own["localCaId"]));
    }

    fn a_record_is_changed_by_those_who_may(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let (owner, colleague) =
            (installation.member("owner", &["Default"]), installation.member("colleague", &["Default"]));
        let bench = Workbench::new().unwrap();
        let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test").unwrap();
        let path = format!("/api/certs/{}", owner.request(&csr).unwrap().id);
        let change = |client: &Client, body: Value| {
            let kind = ["Content-Type: application/json"];
            client.send("PATCH", &path, &kind, Some(body.to_string().as_bytes())).unwrap()
        };
        let me = colleague.get("/api/currentuser").unwrap().json().unwrap();

        let details = json!({"extraDetails": "rack 12", "trackExpiry": false});
        let first = change(&colleague, details).expect_status(200).unwrap().json().unwrap();
        let given = json!({"ownerUserId": me["id"], "extraDetails": null});
        let second = change(&owner, given).expect_status(200).unwrap().json().unwrap();

        assert_eq!((&first["extraDetails"], &first["trackExpiry"]), (&json!("rack 12"), &json!(false)));
        assert_eq!((&second["ownerUsername"], &second["extraDetails"]), (&json!("colleague"), &Value::Null));
        let events: Vec<_> = second["history"].as_array().unwrap().iter().map(|it| &it["event"]).collect();
        assert_eq!(events, ["created", "details updated", "details updated", "owner changed"]);
        assert_eq!(owner.get(&path).unwrap().json().unwrap()["history"], second["history"]);
    }

    fn a_preview_is_the_record_that_comes_and_leaves_nothing_behind(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let member = installation.member("asker", &["Default"]);
        let bench = Workbench::new().unwrap();
        let csr = bench.fresh_request("/C=DE/CN=www.example.test", "DNS:www.example.test").unwrap();
        let body = json!({
            "caName": ISSUER, "csr": csr, "extraInfo": "x", "reverseCsrDn": true,
            "subjectAltNames": ["IP: 2001:DB8::1", "DNS:WWW.example.test"],
        });
        let before = member.records().unwrap().len();

        let preview = member.post("/api/certs/requestp10?preview=true", &body).unwrap();
        let preview = preview.expect_status(200).unwrap().json().unwrap();

        assert_eq!(member.records().unwrap().len(), before);
        let mut record = member.record(&member.request_with(&body).unwrap().id).unwrap();
        let mut would_be = preview["certificate"].clone();
        for unknown in ["id", "csrId", "pemCert", "serialNumber", "thumbprint"] {
            assert_eq!(would_be[unknown], Value::Null, "{unknown}");
            record[unknown] = Value::Null;
        }
        // Time goes on between the two.
        for moving in ["validFrom", "validTo", "validFromStr", "validToStr", "daysToExpiry"] {
            record[moving] = Value::Null;
            would_be[moving] = Value::Null;
        }
        for both in [&mut record, &mut would_be] {
            both["history"][0]["timestamp"] = Value::Null;
            both["history"][0]["timestampStr"] = Value::Null;
        }
        assert_eq!(would_be, record);
        let account = preview["account"].as_array().unwrap();
        let told: Vec<_> = account.iter().map(|it| it["outcome"].as_str().unwrap()).collect();
        assert_eq!(told, ["kept", "kept", "changed", "kept", "changed", "dropped"]);
    }
}
