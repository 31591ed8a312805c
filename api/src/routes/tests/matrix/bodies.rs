//! A body for each operation that takes one, which passes where the caller may do it.

use serde_json::{Value, json};

use super::super::certs::CSR;
use crate::testing::PASSWORD;

/// The body that `caller` sends.
pub(super) fn body(method: &str, path: &str, caller: &str) -> Value {
    let name = format!("Of {caller}");
    let profile = json!({
        "name": name, "lifetimeInMinutes": 60, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication"],
    });
    let key = json!({"name": name, "signatureAlgorithm": "RSA", "keySize": "2048"});
    match (method, path) {
        ("post", "/api/login") => json!({"username": "member", "password": PASSWORD}),
        // A right one would end the tokens of the other calls.
        ("post", "/api/currentuser/password") => {
            json!({"oldPassword": "not the password", "newPassword": "another horse, battery"})
        }
        ("post", path) if path.ends_with("/apitokens") => json!({"name": name}),
        ("post", "/api/certs/request") => json!({
            "caName": "Chancery Issuer", "dn": format!("CN={caller}.example.test"),
            "csrGeneratorName": "ECDSA P-256", "p12Password": "secret of mine",
        }),
        ("post", "/api/certs/requestp10") => json!({"caName": "Chancery Issuer", "csr": CSR}),
        ("post", "/api/certs/import") => json!({"certData": certificate(caller)}),
        ("post", "/api/certs/search") => json!({"commonName": "www"}),
        ("patch", "/api/certs/{id}") => json!({"extraDetails": name}),
        ("post", "/api/admin/ca") => json!({
            "caName": name, "localCaName": "Chancery Issuing CA",
            "certProfileName": "TLS Server and Client",
        }),
        ("put", "/api/admin/ca/{id}") => json!({"allowDnRequests": true}),
        ("post", "/api/admin/generators") => key,
        ("put", "/api/admin/generators/{id}") => json!({
            "name": "Spare", "signatureAlgorithm": "RSA", "keySize": "3072",
        }),
        ("post", "/api/admin/keystores") => json!({"name": name, "token": "local"}),
        ("put", "/api/admin/keystores/{id}") => json!({"name": "Local Token"}),
        ("put", "/api/admin/localca/{id}") => json!({"cdps": []}),
        ("post", "/api/admin/localca") => json!({
            "name": name, "keyStoreName": "Vault", "rootCa": true,
            "subjectDn": "CN=Another Root", "lifetimeInDays": 700, "keyAlgorithm": "ECDSA P-256",
        }),
        ("post", "/api/admin/profiles") => profile,
        ("put", "/api/admin/profiles/{id}") => {
            let mut profile = profile;
            profile["name"] = json!("TLS Server and Client");
            profile
        }
        ("put", "/api/admin/settings") => json!({"visibility": "team"}),
        ("post", "/api/admin/teams") => json!({"name": name}),
        ("put", "/api/admin/teams/{id}") => json!({"description": name}),
        ("post", "/api/admin/users") => json!({"username": name, "password": PASSWORD}),
        ("put", "/api/admin/users/{id}") => json!({"email": "stranger@example.test"}),
        _ => json!({}),
    }
}

/// One of its own for each caller: it is in the system once.
fn certificate(caller: &str) -> &'static str {
    match caller {
        "stranger" => include_str!("../../../../../tests/cases/crt/crt-014.cert.pem"),
        "mate" => include_str!("../../../../../tests/cases/crt/crt-016.cert.pem"),
        "owner" => include_str!("../../../../../tests/cases/crt/crt-012.cert.pem"),
        _ => include_str!("../../../../../tests/cases/crt/crt-009.cert.pem"),
    }
}
