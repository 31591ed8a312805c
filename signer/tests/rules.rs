//! The page of all rules says what the code has.

use std::path::Path;

use chancery_signer::policy::PolicyViolation;
use chancery_signer::policy::rule::Rule;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/RULES.md");

/// The rules as the page shows them: a table for each word that ids begin with.
fn tables() -> String {
    let mut lines = Vec::new();
    let mut last = "";
    for rule in PolicyViolation::RULES {
        let group = rule.id.split('.').next().unwrap_or_default();
        if group != last {
            let heads = ["| Rule | Source | A refusal says |", "|---|---|---|"].map(str::to_owned);
            lines.extend([String::new(), format!("## {group}"), String::new()]);
            lines.extend(heads);
            last = group;
        }
        lines.push(rule.row());
    }
    lines.push(String::new());
    lines.join("\n")
}

/// `CHANCERY_WRITE_GOLDEN=1` puts the tables of the code below the page's introduction.
#[test]
fn the_page_lists_every_rule_with_source_and_sentence() {
    let page = std::fs::read_to_string(Path::new(PAGE)).unwrap();
    let (introduction, shown) = page.split_at(page.find("\n## ").unwrap_or(page.len()));

    if std::env::var_os("CHANCERY_WRITE_GOLDEN").is_some() {
        std::fs::write(PAGE, format!("{introduction}{}", tables())).unwrap();
        return;
    }

    assert_eq!(shown, tables(), "set CHANCERY_WRITE_GOLDEN=1 to write the page anew");
}

#[test]
fn every_rule_has_a_source_and_a_sentence_without_a_full_stop() {
    for Rule { id, source, sentence } in PolicyViolation::RULES {
        assert!(!source.is_empty(), "{id}");
        assert!(!sentence.ends_with('.') && sentence.contains(' '), "{id}: {sentence}");
    }
}

#[test]
fn a_row_shows_what_a_refusal_names_as_dots() {
    let rule = Rule { id: "a.b", source: "policy", sentence: "{0:?} of {1} is not there" };

    assert_eq!(rule.row(), "| `a.b` | policy | … of … is not there |");
}
