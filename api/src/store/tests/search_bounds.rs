//! Searches stay within their bounds, whatever was imported and whatever is asked.

use std::time::Duration;

use super::search::varied;
use crate::certificate::text_filter::{TextFilter, TextKind};
use crate::store::certificate::search::Search;
use crate::store::certificate::search::issuers::{self, Matching};
use crate::store::testing::both;

#[tokio::test]
async fn an_issuer_whose_certificates_each_have_a_place_of_their_own_is_one_issuer() {
    for (engine, test) in both().await {
        // As imports from elsewhere have it, more than a search goes by at once.
        let mut write = test.store.begin().await.unwrap();
        for number in 1..=100 {
            let mut new = varied(number);
            new.certificate.issuer_key = format!("{number:064x}");
            write.insert_certificate(&new).await.unwrap();
        }
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
        let filter = TextFilter::new(TextKind::DistinguishedName, "Second CA").unwrap();

        let mut reading = test.store.begin_reading().await.unwrap();
        let matching = issuers::matching(&filter, &mut reading).await.unwrap();

        assert!(
            matches!(&matching, Matching::These(keys) if keys.len() == 1),
            "{engine}: {matching:?}"
        );
    }
}

#[tokio::test]
async fn an_expression_that_takes_long_lets_others_go_on_and_ends_in_time() {
    for (engine, test) in both().await {
        let mut write = test.store.begin().await.unwrap();
        for number in 1..=300 {
            let mut new = varied(number);
            new.certificate.subject_dn = format!("CN=a, OU={}, O=Example", "x".repeat(4000));
            write.insert_certificate(&new).await.unwrap();
        }
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
        let filter = TextFilter::new(TextKind::DistinguishedName, r"^CN=.*x.{20}(y|z)$").unwrap();
        let search = Search { subject_dn: Some(filter), ..Search::default() };

        let found =
            test.store.search_certificates(&search, None, 10, Duration::ZERO).await.unwrap();

        // It says where to go on, before the end of the first batch.
        assert!(found.next.is_some(), "{engine}");
        assert!(found.certificates.is_empty(), "{engine}");
    }
}
