//! What a later reading of the audit brings.

use super::*;

fn known(heads: &[(i64, i64)]) -> AuditHeads {
    AuditHeads::new(heads.to_vec())
}

fn piece(chain_no: i64, after: i64, last: i64) -> Piece {
    Piece { chain_no, after, last }
}

#[test]
fn what_came_since_is_brought_of_every_chain_and_nothing_twice() {
    let progress = known(&[(2, 5), (1, 7)]).progress();

    assert_eq!(known(&[(2, 5), (1, 7)]).since(&progress), []);
    let later = known(&[(3, 1), (1, 9), (2, 5)]);
    assert_eq!(later.since(&progress), [piece(1, 7, 9), piece(3, 0, 1)]);
    assert_eq!(known(&[(1, 3)]).since(&AuditProgress::default()), [piece(1, 0, 3)]);
}

#[test]
fn chains_beyond_those_that_are_listed_are_known_to_stand_still_or_come_again() {
    let most = i64::try_from(MOST_LISTED).unwrap();
    // The higher the number, the later it grew.
    let heads: Vec<_> = (1..=most + 3).rev().map(|chain_no| (chain_no, 10)).collect();
    let progress = known(&heads).progress();
    let grown = |grown: i64| {
        let heads = heads.iter().map(|&(chain_no, last)| match chain_no {
            it if it == grown => (chain_no, last + 1),
            _ => (chain_no, last),
        });
        known(&heads.collect::<Vec<_>>())
    };

    assert_eq!(known(&heads).since(&progress), []);
    assert_eq!(grown(most).since(&progress), [piece(most, 10, 11)]);
    let again = [piece(1, 0, 10), piece(2, 0, 11), piece(3, 0, 10)];
    assert_eq!(grown(2).since(&progress), again);
}

#[test]
fn an_older_copy_of_the_database_is_read_anew_where_it_has_less() {
    let progress = known(&[(1, 7)]).progress();

    assert_eq!(known(&[(1, 4)]).since(&progress), [piece(1, 0, 4)]);
}

#[test]
fn its_text_is_read_back_and_no_other() {
    let progress = known(&[(2, 5), (1, 7)]).progress();

    assert_eq!(progress.to_string(), "2.0.2.5.1.7");
    assert_eq!(progress.to_string().parse(), Ok(progress));
    assert_eq!("0.0".parse(), Ok(AuditProgress::default()));
    let long = "1.2".to_owned() + &".1.2".repeat(MOST_LISTED + 1);
    for text in ["", "x", "1", "1.2.3", "1.-2", "1.2.3.x", "99999999999999999999.0", &long] {
        assert_eq!(text.parse::<AuditProgress>(), Err(NoAuditProgress), "{text}");
    }
}
