//! What a request names, on both engines.

use chancery_shared::id::CertIssuerId;

use super::*;
use crate::store::testing::{ISSUERS, both};
use crate::testing::{Api, api_on};

const OPEN: &str = "010101010101010101010101";
const CLOSED: &str = "020202020202020202020202";
/// Of nothing.
const FREE: &str = "040404040404040404040404";
const GONE: &str = "030303030303030303030303";

async fn apis() -> Vec<(&'static str, Api)> {
    let mut all = Vec::new();
    for (engine, store) in both().await {
        for sql in ISSUERS {
            store.store.execute_for_test(sql).await;
        }
        all.push((engine, api_on(store, |_| ()).await));
    }
    all
}

async fn either(api: &Api, text: &str) -> Option<CertIssuerId> {
    let found: Option<CertIssuer> = by_either(&api.state.store, text).await.unwrap();
    found.map(|issuer| issuer.id)
}

#[tokio::test]
async fn an_item_is_found_by_id_and_by_name_unless_it_is_deleted() {
    for (engine, api) in apis().await {
        let closed: CertIssuerId = CLOSED.parse().unwrap();

        assert_eq!(either(&api, CLOSED).await, Some(closed), "{engine}");
        assert_eq!(either(&api, "Closed").await, Some(closed), "{engine}");
        for nothing in [GONE, "Gone", "closed", "", "0"] {
            assert_eq!(either(&api, nothing).await, None, "{engine}, {nothing}");
        }
        let by_name: Option<CertIssuer> = by_id(&api.state.store, "Closed").await.unwrap();
        assert_eq!(by_name, None, "{engine}");
    }
}

#[tokio::test]
async fn an_id_is_never_taken_for_the_name_of_another() {
    for (engine, api) in apis().await {
        let sql = format!("UPDATE cert_issuer SET name = '{CLOSED}' WHERE name = 'Open'");
        api.state.store.execute_for_test(&sql).await;

        assert_eq!(either(&api, CLOSED).await, CLOSED.parse().ok(), "{engine}");
        assert_eq!(either(&api, OPEN).await, OPEN.parse().ok(), "{engine}");
    }
}

#[tokio::test]
async fn what_is_called_like_an_id_that_nothing_has_is_found_by_that_name() {
    for (engine, api) in apis().await {
        let sql = format!("UPDATE cert_issuer SET name = '{FREE}' WHERE name = 'Open'");
        api.state.store.execute_for_test(&sql).await;

        assert_eq!(either(&api, FREE).await, OPEN.parse().ok(), "{engine}");
    }
}

#[test]
fn twenty_four_hexadecimal_digits_look_like_an_id() {
    for (text, expected) in [
        (OPEN, true),
        ("abcdefabcdefabcdefabcdef", true),
        ("ABCDEFABCDEFABCDEFABCDEF", true),
        ("0123456789abcdef01234567", true),
        ("0123456789abcdef0123456", false),
        ("0123456789abcdef012345678", false),
        ("0123456789abcdef0123456g", false),
        ("0123456789abcdef 1234567", false),
        ("", false),
    ] {
        assert_eq!(looks_like_an_id(text), expected, "{text}");
    }
}

#[tokio::test]
async fn fields_that_are_given_must_name_one_item() {
    for (engine, api) in apis().await {
        let ask = async |fields: &[Field<'_>]| {
            let found =
                agreed::<CertIssuer>(&api.state.store, Code::UnknownReference, fields).await;
            match found {
                Ok(found) => found.map_or("nothing".to_owned(), |(field, issuer)| {
                    format!("{} by {field}", issuer.name)
                }),
                Err(refused) => format!("{:?}: {}", refused.code(), refused.message()),
            }
        };
        let (name, id) = (Field::Either("name", Some("Open")), Field::Id("id", Some(OPEN)));

        for (fields, expected) in [
            (vec![], "nothing"),
            (vec![Field::Id("id", None), name], "Open by name"),
            (vec![id, name], "Open by id"),
            (vec![Field::Either("name", Some(OPEN))], "Open by name"),
            (
                vec![Field::Id("id", Some("Open"))],
                "UnknownReference: Open is not the id of a Certificate Issuer",
            ),
            (
                vec![Field::Either("name", Some("Gone"))],
                "UnknownReference: Gone is neither id nor name of a Certificate Issuer",
            ),
            (
                vec![name, Field::Id("id", Some(CLOSED))],
                "InvalidRequest: id: names another Certificate Issuer than name; send one of the \
                 two",
            ),
        ] {
            assert_eq!(ask(&fields).await, expected, "{engine}");
        }
    }
}
