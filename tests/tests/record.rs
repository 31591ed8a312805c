//! The record of a certificate against what OpenSSL says of it, field by field.

use chancery_tests::openssl::Workbench;
use chancery_tests::{ISSUER, Installation, Plan, on_both_engines};
use serde_json::{Map, Value, json};

/// The fields of a record and their types, as the interface has them, in its order.
const FIELDS: [(&str, &str); 41] = [
    ("id", "id"),
    ("caId", "id"),
    ("localCaId", "id"),
    ("csrId", "id"),
    ("pemCert", "string"),
    ("commonName", "string"),
    ("subjectDn", "string"),
    ("issuerDn", "string"),
    ("issuerCertId", "id"),
    ("serialNumber", "hex"),
    ("signatureAlgorithm", "string"),
    ("hashAlgorithm", "string"),
    ("keyUsages", "strings"),
    ("enhancedKeyUsages", "strings"),
    ("subjectAlternativeNames", "strings"),
    ("validFrom", "time"),
    ("validTo", "time"),
    ("validFromStr", "string"),
    ("validToStr", "string"),
    ("ownerUserId", "id"),
    ("ownerUsername", "string"),
    ("teamId", "id"),
    ("active", "boolean"),
    ("renewed", "boolean"),
    ("renewedByCertId", "null"),
    ("renewsCertId", "null"),
    ("revoked", "boolean"),
    ("history", "objects"),
    ("extraDetails", "string"),
    ("extraEmails", "strings"),
    ("trackExpiry", "boolean"),
    ("isCa", "boolean"),
    ("hasKeyData", "boolean"),
    ("imported", "boolean"),
    ("importTime", "null"),
    ("aias", "strings"),
    ("cdps", "strings"),
    ("thumbprint", "hex"),
    ("policies", "strings"),
    ("keySize", "string"),
    ("eccCurve", "null or string"),
];

fn is_of(kind: &str, value: &Value) -> bool {
    let text = value.as_str();
    let is_hex =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let all = |wanted: fn(&Value) -> bool| value.as_array().is_some_and(|a| a.iter().all(wanted));
    match kind {
        "id" => text.is_some_and(|text| text.len() == 24 && is_hex(text)),
        "hex" => text.is_some_and(|text| !text.is_empty() && text.len() % 2 == 0 && is_hex(text)),
        "time" => text.is_some_and(|text| text.len() == 29 && text.ends_with(".000+00:00")),
        "string" => text.is_some(),
        "null or string" => value.is_null() || text.is_some(),
        "strings" => all(Value::is_string),
        "objects" => all(Value::is_object),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    }
}

/// `2026-11-27T22:37:28.000+00:00` as OpenSSL's `-dateopt iso_8601` and the `…Str` twin have it.
fn spaced(time: &str) -> String {
    time.get(..19).unwrap_or_default().replace('T', " ")
}

on_both_engines! {
    fn every_field_says_what_openssl_says(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let member = installation.member("owner", &["Default"]);
        let bench = Workbench::new().unwrap();
        let key = bench.key(&["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"]).unwrap();
        let names = "DNS:www.example.test,IP:192.0.2.1,email:pki@example.test,\
                     URI:https://www.example.test/a";
        let csr = bench.request(&key, "/C=CH/O=Exämple, Ltd/CN=www.example.test", names).unwrap();
        let issued = member
            .request_with(&json!({
                "caName": ISSUER,
                "csr": csr,
                "extraInfo": "cost centre 42",
                "extraEmails": ["one@example.test", "two@example.test"],
            }))
            .unwrap();

        let record = member.record(&issued.id).unwrap();

        let object: &Map<String, Value> = record.as_object().unwrap();
        for (field, kind) in FIELDS {
            let value = object.get(field).unwrap_or_else(|| panic!("no {field} in {record:#}"));
            assert!(is_of(kind, value), "{field} is {value}, which is not {kind}");
        }
        let about = |options: &[&str]| bench.about(&issued.pem, options).unwrap();
        let after_equals = |text: String| text.split_once('=').unwrap().1.to_owned();
        let lower = |text: String| text.replace(':', "").to_ascii_lowercase();
        let text = |field: &str| record[field].as_str().unwrap().to_owned();
        let dn = ["-nameopt", "rfc2253,-esc_msb,utf8,sep_comma_plus_space"];
        assert_eq!(text("pemCert"), issued.pem);
        assert_eq!(text("id"), issued.id);
        assert_eq!(text("serialNumber"), lower(after_equals(about(&["-serial"]))));
        assert_eq!(text("thumbprint"), lower(after_equals(about(&["-fingerprint", "-sha1"]))));
        assert_eq!(text("subjectDn"), after_equals(about(&["-subject", dn[0], dn[1]])));
        assert_eq!(text("issuerDn"), after_equals(about(&["-issuer", dn[0], dn[1]])));
        assert_eq!(text("commonName"), "www.example.test");
        let iso = |option| after_equals(about(&[option, "-dateopt", "iso_8601"])).replace('Z', "");
        assert_eq!(text("validFromStr"), iso("-startdate"));
        assert_eq!(text("validToStr"), iso("-enddate"));
        assert_eq!(spaced(&text("validFrom")), text("validFromStr"));
        assert_eq!(spaced(&text("validTo")), text("validToStr"));
        assert_eq!(record["keyUsages"], json!(["Digital Signature", "Key Encipherment"]));
        assert_eq!(
            record["enhancedKeyUsages"],
            json!(["Server Authentication", "Client Authentication"])
        );
        assert_eq!(
            record["subjectAlternativeNames"],
            json!([
                "DNS:www.example.test",
                "IP:192.0.2.1",
                "EMAIL:pki@example.test",
                "URI:https://www.example.test/a"
            ])
        );
        assert_eq!((text("signatureAlgorithm"), text("hashAlgorithm")), ("ECDSA".into(), "SHA-256".into()));
        assert_eq!((text("keySize"), record["eccCurve"].clone()), ("3072".into(), Value::Null));
        assert_eq!(record["extraDetails"], "cost centre 42");
        assert_eq!(record["extraEmails"], json!(["one@example.test", "two@example.test"]));
        for (field, value) in [
            ("active", true), ("renewed", false), ("revoked", false), ("isCa", false),
            ("hasKeyData", false), ("imported", false),
        ] {
            assert_eq!(record[field], value, "{field}");
        }
        assert!(record["daysToExpiry"].as_f64().is_some_and(|days| days > 396.0 && days < 397.1));
        assert!(object.contains_key("msTemplateName"));
        assert_eq!(text("ownerUsername"), "owner");
        let issuer = installation.administrator().record(&text("issuerCertId")).unwrap();
        assert_eq!(issuer["subjectDn"], record["issuerDn"]);
        assert_eq!(issuer["isCa"], true);
        let created = &record["history"][0];
        assert_eq!(created["event"], "created");
        let details = created["details"].as_str().unwrap();
        assert!(details.contains("owner") && details.contains("CSR"), "{details}");
        let stamp = created["timestamp"].as_str().unwrap();
        assert_eq!(created["timestampStr"], stamp.get(..23).unwrap().replace('T', " "));
    }

    fn the_list_holds_every_record_the_first_starts_own_among_them(engine) {
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let administrator = installation.administrator();
        let bench = Workbench::new().unwrap();
        let csr = bench.fresh_request("/CN=www.example.test", "DNS:www.example.test").unwrap();
        let issued = administrator.request(&csr).unwrap();

        let records = administrator.records().unwrap();

        let names: Vec<_> = records.iter().filter_map(|r| r["commonName"].as_str()).collect();
        for name in ["Chancery Root CA", "Chancery Issuing CA", "www.example.test"] {
            assert!(names.contains(&name), "{name} in {names:?}");
        }
        assert_eq!(records.len(), 4, "root, issuing CA, the service's own, and ours: {names:?}");
        assert!(records.iter().any(|record| record["id"] == *issued.id));
    }
}

#[test]
fn an_elliptic_key_has_its_curve_and_a_bare_base64_request_will_do() {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let bench = Workbench::new().unwrap();
    let csr = bench.fresh_request("/CN=ec.example.test", "DNS:ec.example.test").unwrap();
    let bare: String = csr.lines().filter(|line| !line.starts_with("-----")).collect();

    let issued = administrator.request(&bare).unwrap();

    let record = administrator.record(&issued.id).unwrap();
    assert_eq!(record["eccCurve"], "P-256");
    assert_eq!(record["keySize"], "256");
    assert_eq!(record["keyUsages"], json!(["Digital Signature"]));
}
