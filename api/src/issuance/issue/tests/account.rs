//! What a preview tells of each part of a request.

use super::fakes::{Signer, body, try_preview};
use crate::inventory::profile_definition::ProfileDefinition;
use crate::issuance::csr_issuance::CsrRequestBody;
use crate::issuance::preview::{Ending, Part, Told};

fn profile() -> ProfileDefinition {
    ProfileDefinition { lifetime_in_minutes: 60 * 24, ..ProfileDefinition::first() }
}

/// `+` added, `=` kept, `~` changed, `-` dropped; what was asked for, what it becomes, the rule.
fn line(told: &Told) -> String {
    let mark = match told.ending {
        Ending::Kept => '=',
        Ending::Changed => '~',
        Ending::Dropped => '-',
        Ending::Added => '+',
    };
    let requested = told.requested.as_deref().unwrap_or("?");
    let becomes = told.becomes.as_deref().map(|to| format!(" -> {to}")).unwrap_or_default();
    format!("{mark} {requested}{becomes} ({})", told.rule)
}

#[test]
fn each_part_has_an_ending_and_a_rule() {
    let typed = [
        "dns:PEM-001.example.test".to_owned(),
        "DNS:b\u{fc}cher.example.test".to_owned(),
        "IP: 2001:DB8::1".to_owned(),
        "ip:2001:db8:0::1".to_owned(),
    ];
    let csr = |csr| CsrRequestBody { csr, ..body() };
    for (request, profile, lines) in [
        (
            CsrRequestBody { subject_alt_names: &typed, ..body() },
            profile(),
            vec![
                "= CN=pem-001.example.test (subject)",
                "= DNS:pem-001.example.test (includeSansFromCsr)",
                "- dns:PEM-001.example.test (duplicates)",
                "~ DNS:b\u{fc}cher.example.test -> DNS:xn--bcher-kva.example.test (subjectAltNames)",
                "~ IP: 2001:DB8::1 -> IP:2001:db8::1 (subjectAltNames)",
                "- ip:2001:db8:0::1 (duplicates)",
            ],
        ),
        (
            CsrRequestBody { subject_alt_names: &typed[..1], ..body() },
            ProfileDefinition { include_sans_from_csr: false, ..profile() },
            vec![
                "= CN=pem-001.example.test (subject)",
                "= DNS:pem-001.example.test (subjectAltNames)",
                "= dns:PEM-001.example.test (subjectAltNames)",
            ],
        ),
        (
            body(),
            ProfileDefinition { include_sans_from_csr: false, ..profile() },
            vec![
                "= CN=pem-001.example.test (subject)",
                "- DNS:pem-001.example.test (includeSansFromCsr)",
            ],
        ),
        (
            csr(include_bytes!("../../../../../tests/cases/attr/attr-013.pem")),
            ProfileDefinition { add_cn_as_dns_san: true, ..profile() },
            vec![
                "= CN=attr-013.example.test (subject)",
                "+ ? -> DNS:attr-013.example.test (addCnAsDnsSan)",
            ],
        ),
        (
            csr(include_bytes!("../../../../../tests/cases/attr/attr-001.pem")),
            profile(),
            vec![
                "= CN=attr-001.example.test (subject)",
                "= DNS:attr-001.example.test (includeSansFromCsr)",
                "- challengePassword (attributes)",
            ],
        ),
        (
            csr(include_bytes!("../../../../../tests/cases/attr/attr-020.pem")),
            profile(),
            vec![
                "= CN=attr-020.example.test (subject)",
                "= DNS:attr-020.example.test (includeSansFromCsr)",
                "- 1.3.6.1.4.1.55555.9.8 (unknownExtension)",
            ],
        ),
        (
            csr(include_bytes!("../../../../../tests/cases/attr/attr-023.pem")),
            ProfileDefinition::first(),
            vec![
                "= CN=attr-023.example.test (subject)",
                "= DNS:attr-023.example.test (includeSansFromCsr)",
                "~ extKeyUsage (enhancedKeyUsages)",
                "~ ? (caCertificate)",
            ],
        ),
        (
            CsrRequestBody {
                reverse_csr_dn: true,
                ..csr(include_bytes!("../../../../../tests/cases/dn/dn-005.pem"))
            },
            profile(),
            vec![
                "= C=DE (subject)",
                "~ CN=*.dn-005.example.test (PrintableString) -> CN=*.dn-005.example.test \
                 (UTF8String) (stringTypes)",
                "~ CN=*.dn-005.example.test, C=DE -> C=DE, CN=*.dn-005.example.test (reverseCsrDn)",
                "= DNS:*.dn-005.example.test (includeSansFromCsr)",
            ],
        ),
    ] {
        let preview = try_preview(&Signer::new(None), profile, request).unwrap();

        assert_eq!(preview.account.iter().map(line).collect::<Vec<_>>(), lines);
        let parts: Vec<Part> = preview.account.iter().map(|told| told.part).collect();
        assert_eq!(parts[0], Part::Subject);
    }
}
