//! Searches of every kind, at random.

use std::collections::BTreeSet;

use chancery_shared::id::{CertIssuerId, TeamId, UserId};
use proptest::prelude::*;
use proptest::sample::select;

use super::fixtures::NOW;
use super::search::DAY;
use crate::certificate::text_filter::{TextFilter, TextKind};
use crate::store::certificate::search::{Search, Span, States, Viewer};
use crate::timestamp::to_millis;

fn texts(kind: TextKind, of: &'static [&'static str]) -> impl Strategy<Value = Option<TextFilter>> {
    let filter = select(of).prop_map(move |value| TextFilter::new(kind, value).unwrap());
    prop::option::weighted(0.25, filter)
}

fn span() -> impl Strategy<Value = Span> {
    let day = || prop::option::weighted(0.3, -320_i64..320);
    (day(), day()).prop_map(|(from, to)| {
        let moment = |day: i64| to_millis(NOW) + day * DAY;
        Span { from: from.map_or(i64::MIN, moment), to: to.map_or(i64::MAX, moment) }
    })
}

pub(super) fn searches() -> impl Strategy<Value = Search> {
    const DNS: &[&str] = &[
        "www",
        "example",
        "MÜLL-3",
        "berlin",
        "R&D\\, Berlin,O=",
        "R&D\\, Berlin, O=ex",
        "cn",
        "C",
        "OU=株式",
        "*-1",
        "nothing",
        "(?i)^CN=db-\\d+1\\.",
        "^CN=.*Sales,O=Example$",
        "(a|b)$",
        "CN=www-60\\.example",
        "test, ou",
        "%",
        "_",
        "e\\",
    ];
    let dn = || texts(TextKind::DistinguishedName, DNS);
    let issuers =
        texts(TextKind::DistinguishedName, &["first", "CA, O=", "^CN=(Second|Third)", "x"]);
    let names =
        texts(TextKind::CommonName, &["www-1", "MAIL", "m", "mü", "-10", "*", ".example.", "q"]);
    let alternative = texts(
        TextKind::AlternativeNames,
        &["dns:db", "10.0.0.1", "ip", "1", "ww", "DNS:mail", "d", "zz", "zzz"],
    );
    let details = texts(TextKind::Free, &["rack", "22\nsh", "50%", "f_i", "ra", "x", "RACK 1"]);
    let id = |of: u8| prop::option::weighted(0.2, (1..=of).prop_map(|number| [number; 12]));
    let states = select(
        &[
            States::ALL,
            States::ALL,
            States::UNTOUCHED,
            States::RENEWED,
            States::NOT_REVOKED,
            States::REVOKED,
        ][..],
    );
    let viewer =
        (1_u8..=5, prop::collection::vec(1_u8..=4, 0..3)).prop_map(|(user, teams)| Viewer {
            user_id: UserId::from_bytes([user; 12]),
            team_ids: teams.into_iter().map(|team| TeamId::from_bytes([team; 12])).collect(),
        });
    let number = || prop::option::weighted(0.05, 1_u64..400);
    (
        (dn(), issuers, names, alternative, details),
        (id(4), id(5), prop::option::weighted(0.2, prop::collection::vec(1_u8..4, 0..3))),
        (span(), span(), states, number(), number()),
        prop::option::weighted(0.3, viewer),
    )
        .prop_map(|(texts, ids, rest, viewer)| Search {
            subject_dn: texts.0,
            issuer_dn: texts.1,
            common_name: texts.2,
            subject_alt_names: texts.3,
            extra_details: texts.4,
            team_id: ids.0.map(TeamId::from_bytes),
            owner_user_id: ids.1.map(UserId::from_bytes),
            cert_issuer_ids: ids.2.map(|ids| {
                let ids: BTreeSet<_> = ids.into_iter().collect();
                ids.into_iter().map(|id| CertIssuerId::from_bytes([id; 12])).collect()
            }),
            not_before: rest.0,
            not_after: rest.1,
            states: rest.2,
            serial_number: rest.3.map(|number| format!("{number:040x}")),
            thumbprint: rest.4.map(|number| format!("{number:040x}")),
            viewer,
        })
}
