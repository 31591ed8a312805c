//! What the record says of odd certificates: case, field, value.

use serde_json::Value;

pub(crate) fn odd_certificates() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("crt-004", "serialNumber", serde_json::json!("aabbccdd")),
        ("crt-005", "serialNumber", serde_json::json!("00")),
        ("crt-008", "validFrom", serde_json::json!("1950-01-01T00:00:00.000+00:00")),
        ("crt-011", "subjectDn", serde_json::json!("")),
        ("crt-011", "commonName", serde_json::json!("")),
        ("crt-012", "signatureAlgorithm", serde_json::json!("Ed25519")),
        ("crt-012", "hashAlgorithm", serde_json::json!("")),
        ("crt-012", "keySize", serde_json::json!("256")),
        (
            "crt-014",
            "keyUsages",
            serde_json::json!([
                "Digital Signature",
                "Non Repudiation",
                "Key Encipherment",
                "Data Encipherment",
                "Key Agreement",
                "Certificate Sign",
                "CRL Sign",
                "Encipher Only",
                "Decipher Only",
            ]),
        ),
        ("crt-009", "validFrom", serde_json::json!("2024-12-31T23:00:00.000+00:00")),
        (
            "crt-016",
            "policies",
            serde_json::json!([
                "CPS|1.3.6.1.4.1.55555.1.1|http://example.test/cps",
                format!("User Notice|1.3.6.1.4.1.55555.1.1|{}", "Nur für Tests ".repeat(14)),
                "2.23.140.1.2.2",
                "2.5.29.32.0",
            ]),
        ),
        (
            "crt-019",
            "subjectAlternativeNames",
            serde_json::json!(["DNS:a.example.test", "DNS:b.example.test"]),
        ),
        ("crt-021", "signatureAlgorithm", serde_json::json!("1.3.6.1.4.1.55555.42")),
        (
            "crt-023",
            "subjectAlternativeNames",
            serde_json::json!([
                "DNS:<b onmouseover=alert(1)>x</b>.example.test",
                "DNS:a\nb.example.test"
            ]),
        ),
        (
            "crt-014",
            "enhancedKeyUsages",
            serde_json::json!([
                "Server Authentication",
                "Client Authentication",
                "Smart Card Logon",
                "Any Extended Key Usage",
                "1.3.6.1.4.1.55555.77"
            ]),
        ),
        ("crt-017", "msTemplateName", serde_json::json!("WebServer")),
        ("crt-018", "isCa", serde_json::json!(false)),
        ("crt-018", "subjectAlternativeNames", serde_json::json!([])),
        ("crt-020", "active", serde_json::json!(false)),
        ("crt-020", "status", serde_json::json!("Expired")),
        ("crt-024", "keySize", serde_json::json!("521")),
        ("crt-024", "eccCurve", serde_json::json!("P-521")),
        ("crt-025", "keySize", serde_json::json!("4096")),
        ("crt-025", "eccCurve", Value::Null),
        ("crt-026", "keySize", serde_json::json!("2047")),
    ]
}
