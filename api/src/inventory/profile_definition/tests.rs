//! Profiles: what is sound, what goes beyond a policy, which names pass.

use chancery_shared::wire::policy::Policy;

use serde_json::json;

use super::*;
use crate::inventory::profile_names::ProfileViolation;
use crate::inventory::subject_rules::SubjectRuleBroken;
use crate::issuance::subject_key::SubjectKeyKind;
use crate::name::{DistinguishedName, SubjectAltName, dn_text};

fn dn(text: &str) -> DistinguishedName {
    dn_text::parse(text).unwrap()
}

fn sans(texts: &[&str]) -> Vec<SubjectAltName> {
    texts.iter().map(|text| SubjectAltName::parse(text).unwrap()).collect()
}

fn shown(names: &[SubjectAltName]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn the_first_profile_is_sound_within_the_shipped_policy_and_has_the_fields_of_the_contract() {
    let first = ProfileDefinition::first();

    assert_eq!(first.check(), Ok(()));
    assert_eq!(first.beyond(&Policy::shipped()), None);
    let json = serde_json::json!({
        "lifetimeInMinutes": 571_680,
        "keyUsages": ["Digital Signature", "Key Encipherment"],
        "enhancedKeyUsages": ["Server Authentication", "Client Authentication"],
        "includeSansFromCsr": true,
        "addCnAsDnsSan": false,
        "allowWildcards": true,
        "allowedSanTypes": ["DNS", "IP", "EMAIL", "URI", "UPN", "OTHER", "DIRNAME", "RID"],
        "allowedKeyAlgorithms":
            ["RSA 2048", "ECDSA P-256", "ECDSA P-384", "ECDSA P-521", "Ed25519"],
        "subjectRules": {
            "required": [], "allowed": [], "allowedDomains": [], "includeSubDomains": true,
            "allowedOrganizations": [], "allowedCountries": [], "denyOrganizationalUnits": false,
        },
        "policies": [],
        "customExtensions": [],
        "ocspNoCheck": false,
        "backdateMinutes": 5,
    });
    assert_eq!(serde_json::to_value(&first).unwrap(), json);
    assert_eq!(serde_json::from_value::<ProfileDefinition>(json).unwrap(), first);
}

#[test]
fn usages_are_read_by_any_of_their_names() {
    let profile: ProfileDefinition = serde_json::from_str(
        r#"{"lifetimeInMinutes": 60, "keyUsages": ["digitalSignature", "KEY ENCIPHERMENT"],
            "enhancedKeyUsages": ["serverAuth", "1.3.6.1.5.5.7.3.2", "1.2.3.4"]}"#,
    )
    .unwrap();

    let value = serde_json::to_value(&profile).unwrap();

    assert_eq!(value["keyUsages"], serde_json::json!(["Digital Signature", "Key Encipherment"]));
    let usages = serde_json::json!(["Server Authentication", "Client Authentication", "1.2.3.4"]);
    assert_eq!(value["enhancedKeyUsages"], usages);
}

#[test]
fn unsound_profiles_are_refused_by_the_name_of_the_field() {
    let first = ProfileDefinition::first;
    let extension = |oid: &str, value: &[u8]| CustomExtension {
        oid: oid.to_owned(),
        critical: false,
        value: value.to_vec().into(),
    };
    for (profile, field) in [
        (ProfileDefinition { lifetime_in_minutes: 5, ..first() }, "lifetimeInMinutes"),
        (ProfileDefinition { lifetime_in_minutes: u32::MAX, ..first() }, "lifetimeInMinutes"),
        (ProfileDefinition { key_usages: vec![], ..first() }, "keyUsages"),
        (ProfileDefinition { enhanced_key_usages: vec![], ..first() }, "enhancedKeyUsages"),
        (ProfileDefinition { key_usages: vec![KeyUsage::CrlSign], ..first() }, "keyUsages"),
        (
            ProfileDefinition { enhanced_key_usages: vec![ExtendedKeyUsage::ANY], ..first() },
            "enhancedKeyUsages",
        ),
        (ProfileDefinition { allowed_key_algorithms: vec![], ..first() }, "allowedKeyAlgorithms"),
        (ProfileDefinition { ocsp_no_check: true, ..first() }, "ocspNoCheck"),
        (
            ProfileDefinition {
                custom_extensions: vec![extension("2.5.29.19", &[5, 0])],
                ..first()
            },
            "customExtensions",
        ),
        (
            ProfileDefinition { custom_extensions: vec![extension("1.2.3", &[5])], ..first() },
            "customExtensions",
        ),
        (
            ProfileDefinition {
                subject_rules: SubjectRules {
                    allowed_domains: vec![".example.test".into()],
                    ..SubjectRules::default()
                },
                ..first()
            },
            "subjectRules",
        ),
    ] {
        assert_eq!(profile.check().unwrap_err().field(), field);
    }
}

#[test]
fn what_the_signer_refuses_for_every_key_is_refused_before() {
    let profile = |changes: serde_json::Value| -> ProfileDefinition {
        let mut text = serde_json::to_value(ProfileDefinition::first()).unwrap();
        text.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        serde_json::from_value(text).unwrap()
    };
    for (changes, field) in [
        (json!({"keyUsages": ["Encipher Only", "Digital Signature"]}), "keyUsages"),
        (
            json!({"keyUsages": ["Key Agreement"], "allowedKeyAlgorithms": ["RSA 2048"]}),
            "keyUsages",
        ),
        (
            json!({"keyUsages": ["Key Encipherment"], "allowedKeyAlgorithms": ["Ed25519"]}),
            "keyUsages",
        ),
        (json!({"keyUsages": ["Non Repudiation"]}), "keyUsages"),
        (json!({"keyUsages": ["Data Encipherment"]}), "keyUsages"),
        (json!({"enhancedKeyUsages": ["Time Stamping", "Code Signing"]}), "enhancedKeyUsages"),
        (json!({"subjectRules": {"required": ["O"], "allowed": ["CN"]}}), "subjectRules"),
        (
            json!({"subjectRules": {"required": ["OU"], "denyOrganizationalUnits": true}}),
            "subjectRules",
        ),
        (json!({"subjectRules": {"allowedCountries": ["Germany"]}}), "subjectRules"),
        (json!({"subjectRules": {"allowedOrganizations": ["x".repeat(65)]}}), "subjectRules"),
        (
            json!({"customExtensions": [{"oid": "1.3.6.1.5.5.7.1.24", "value": "MAA="}]}),
            "customExtensions",
        ),
    ] {
        let problem = profile(changes.clone()).check().unwrap_err();
        assert_eq!(problem.field(), field, "{changes}: {problem}");
    }
    for changes in [
        json!({"keyUsages": ["Key Encipherment"], "enhancedKeyUsages": ["Server Authentication"]}),
        json!({"keyUsages": ["Non Repudiation"], "enhancedKeyUsages": ["Time Stamping"]}),
        json!({"keyUsages": ["Data Encipherment"], "enhancedKeyUsages": ["1.2.3.4"]}),
        json!({"keyUsages": ["Key Agreement"], "allowedKeyAlgorithms": ["ECDSA P-256"]}),
        json!({"customExtensions": [{"oid": "1.3.6.1.5.5.7.1.24", "value": "MAMCAQU="}]}),
    ] {
        assert_eq!(profile(changes.clone()).check(), Ok(()), "{changes}");
    }
}

#[test]
fn a_profile_beyond_the_policy_of_the_key_names_the_field() {
    let first = ProfileDefinition::first();
    let shipped = Policy::shipped;
    for (policy, field) in [
        (Policy { max_validity_days: 396, ..shipped() }, "lifetimeInMinutes"),
        (Policy { backdate_minutes: 4, ..shipped() }, "backdateMinutes"),
        (Policy { extended_key_usages: vec![], ..shipped() }, "enhancedKeyUsages"),
        (Policy { allow_wildcards: false, ..shipped() }, "allowWildcards"),
        (Policy { san_types: vec![], ..shipped() }, "allowedSanTypes"),
        (Policy { subject_keys: vec![], ..shipped() }, "allowedKeyAlgorithms"),
        (Policy { domains: Some(vec!["example.test".into()]), ..shipped() }, "subjectRules"),
    ] {
        assert_eq!(first.beyond(&policy), Some(field));
    }
    let responder = ProfileDefinition {
        enhanced_key_usages: vec![ExtendedKeyUsage::OCSP_SIGNING],
        ocsp_no_check: true,
        ..first
    };
    let ocsp = Policy {
        extended_key_usages: vec![ExtendedKeyUsage::OCSP_SIGNING.0.to_string()],
        ..shipped()
    };
    let named = vec!["1.3.6.1.5.5.7.48.1.5".to_owned()];
    assert_eq!(responder.beyond(&ocsp), Some("ocspNoCheck"));
    assert_eq!(responder.beyond(&Policy { other_extensions: named, ..ocsp }), None);
}

#[test]
fn names_of_csr_body_and_cn_merge_as_the_profile_says() {
    let csr = sans(&["DNS:a.test", "DNS:b.test"]);
    let body = sans(&["DNS:B.test", "IP:192.0.2.1"]);
    let all = ProfileDefinition { add_cn_as_dns_san: true, ..ProfileDefinition::first() };
    let none = ProfileDefinition { include_sans_from_csr: false, ..ProfileDefinition::first() };

    let merged = all.names(&dn("CN=münchen.test"), &csr, &body).unwrap();
    let body_alone = none.names(&dn("CN=c.test"), &csr, &body).unwrap();
    let address = all.names(&dn("CN=192.0.2.7"), &[], &[]).unwrap();

    let expected = ["DNS:a.test", "DNS:b.test", "IP:192.0.2.1", "DNS:xn--mnchen-3ya.test"];
    assert_eq!(shown(&merged), expected);
    assert_eq!(shown(&body_alone), ["DNS:B.test", "IP:192.0.2.1"]);
    assert_eq!(shown(&address), ["IP:192.0.2.7"]);
    assert_eq!(
        all.names(&dn("CN=Anna Muster"), &[], &[]),
        Err(ProfileViolation::CommonNameIsNoHost("Anna Muster".into()))
    );
    assert_eq!(all.names(&DistinguishedName::empty(), &[], &[]), Err(ProfileViolation::NoName));
}

#[test]
fn common_name_and_alternative_names_are_held_to_the_same_rules() {
    let rules = SubjectRules {
        required: vec!["CN".parse().unwrap()],
        allowed: vec![
            "CN".parse().unwrap(),
            "O".parse().unwrap(),
            "C".parse().unwrap(),
            "E".parse().unwrap(),
        ],
        allowed_domains: vec!["example.test".into()],
        allowed_organizations: vec!["Example".into()],
        allowed_countries: vec!["DE".into()],
        ..SubjectRules::default()
    };
    let profile = ProfileDefinition {
        subject_rules: rules,
        allow_wildcards: false,
        allowed_san_types: vec![AllowedSanType::Dns, AllowedSanType::Email, AllowedSanType::Uri],
        ..ProfileDefinition::first()
    };
    let domain = |name: &str| {
        let domains = vec!["example.test".into()];
        SubjectRuleBroken::Domain { name: name.into(), domains }.into()
    };
    let nearly = |name: &str| {
        let domains = vec!["example.test".into()];
        SubjectRuleBroken::NearlyHost { name: name.into(), domains }.into()
    };

    for (subject, names, outcome) in [
        ("CN=a.example.test,O=Example,C=de", &["DNS:b.example.test"][..], Ok(())),
        ("CN=Anna Muster", &["EMAIL:a@example.test", "URI:https://x.example.test/"], Ok(())),
        ("O=Example", &[], Err(SubjectRuleBroken::Required("CN".parse().unwrap()).into())),
        ("CN=x,L=y", &[], Err(SubjectRuleBroken::NotAllowed("L".parse().unwrap()).into())),
        ("CN=evilexample.test", &[], Err(domain("CN=evilexample.test"))),
        ("CN=other_x.other.test", &[], Err(domain("CN=other_x.other.test"))),
        ("CN=anna@example.test", &[], Ok(())),
        ("CN=anna@other.test", &[], Err(domain("CN=anna@other.test"))),
        ("CN=www other.test", &[], Err(nearly("www other.test"))),
        ("CN=www.example.test:443", &[], Err(nearly("www.example.test:443"))),
        ("CN=x+O=Example,CN=*.a_b.other.test", &[], Err(nearly("*.a_b.other.test"))),
        ("CN=x", &["DNS:other.test"], Err(domain("DNS:other.test"))),
        ("CN=x", &["EMAIL:a@other.test"], Err(domain("EMAIL:a@other.test"))),
        ("CN=x", &["URI:https://192.0.2.1/"], Err(domain("URI:https://192.0.2.1/"))),
        ("CN=x,E=a@other.test", &[], Err(domain("emailAddress=a@other.test"))),
        ("CN=192.0.2.1", &[], Err(ProfileViolation::SanType { name: "CN=192.0.2.1".into() })),
        ("CN=x", &["IP:192.0.2.1"], Err(ProfileViolation::SanType { name: "IP:192.0.2.1".into() })),
        ("CN=*.example.test", &[], Err(ProfileViolation::Wildcard("CN=*.example.test".into()))),
        (
            "CN=x",
            &["DNS:*.example.test"],
            Err(ProfileViolation::Wildcard("DNS:*.example.test".into())),
        ),
        (
            "CN=x,O=Other",
            &[],
            Err(SubjectRuleBroken::Value {
                attribute: "O".parse().unwrap(),
                value: "Other".into(),
                allowed: vec!["Example".into()],
            }
            .into()),
        ),
    ] {
        let checked = profile.names(&dn(subject), &[], &sans(names)).map(|_| ());
        assert_eq!(checked, outcome, "{subject} {names:?}");
    }
}

#[test]
fn an_rsa_entry_allows_longer_keys_and_nothing_else() {
    let profile = ProfileDefinition {
        allowed_key_algorithms: vec!["RSA 3072".parse().unwrap()],
        ..ProfileDefinition::first()
    };

    for (key, passes) in [
        (SubjectKeyKind::Rsa { bits: 2048 }, false),
        (SubjectKeyKind::Rsa { bits: 3072 }, true),
        (SubjectKeyKind::Rsa { bits: 4096 }, true),
        (SubjectKeyKind::EcP256, false),
    ] {
        assert_eq!(profile.check_key(key).is_ok(), passes, "{key:?}");
    }
}
