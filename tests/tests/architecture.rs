//! What the parts may know of each other.

use std::collections::BTreeSet;
use std::process::Command;

use chancery_tests::openssl::run;
use chancery_tests::programs::project;
use chancery_tests::source::{Source, sources};

/// The places, as `file:line`, where code of `files` names one of `words`.
fn naming(words: &[&str], files: impl Fn(&str) -> bool) -> Vec<String> {
    let named = |source: &Source| {
        let lines = source.code().enumerate();
        let lines = lines.filter(|(_, line)| words.iter().any(|word| names(line, word)));
        lines.map(|(number, _)| format!("{}:{}", source.path, number + 1)).collect::<Vec<_>>()
    };
    sources().iter().filter(|source| files(&source.path)).flat_map(named).collect()
}

/// Whether `word` stands in `line` as a word of its own.
fn names(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}

fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

const NONE: [String; 0] = [];

#[test]
fn only_the_token_module_names_cryptoki() {
    let elsewhere = naming(&["cryptoki", "cryptoki_sys"], |path| {
        !path.starts_with("signer/src/token/") && !is_test(path)
    });

    assert_eq!(elsewhere, NONE);
}

#[test]
fn only_the_store_names_sqlx() {
    let elsewhere = naming(&["sqlx"], |path| !path.starts_with("api/src/store/") && !is_test(path));

    assert_eq!(elsewhere, NONE);
}

/// Each process keeps what it has read of the inventory until a commit says that it changed.
#[test]
fn only_what_is_no_part_of_the_inventory_is_committed_beside_it() {
    let beside = naming(&["commit_beside_inventory", "run_whole"], |path| {
        path.starts_with("api/src/") && !is_test(path)
    });

    let known = [
        "api/src/auth/attempt.rs",
        "api/src/key_data/purge.rs",
        "api/src/key_data/vault.rs",
        "api/src/records/details.rs",
        "api/src/records/import/duplicate.rs",
        "api/src/records/import/mod.rs",
        "api/src/records/removal.rs",
        "api/src/retention/guard.rs",
        "api/src/routes/certs/key_download.rs",
        "api/src/routes/login.rs",
        "api/src/store/certificate/whole.rs",
        "api/src/store/write.rs",
    ];
    let paths: BTreeSet<_> = beside.iter().filter_map(|found| found.split(':').next()).collect();
    assert_eq!(paths, BTreeSet::from(known));
}

#[test]
fn only_the_signer_client_opens_the_signers_socket() {
    let elsewhere = naming(&["UnixStream"], |path| {
        path.starts_with("api/src/") && !path.starts_with("api/src/signer_client") && !is_test(path)
    });

    assert_eq!(elsewhere, NONE);
}

#[test]
fn policy_does_no_input_or_output_and_has_no_clock() {
    let forbidden = [
        "fs",
        "TcpStream",
        "UdpSocket",
        "UnixStream",
        "ToSocketAddrs",
        "env",
        "process",
        "thread",
        "io",
        "tokio",
        "rustix",
        "tracing",
        "Clock",
        "SystemClock",
        "SystemTime",
        "Instant",
        "now_utc",
        "now_local",
    ];
    let named = naming(&forbidden, |path| path.starts_with("signer/src/policy/"));

    assert_eq!(named, NONE);
}

#[test]
fn the_specifications_field_names_stand_in_the_routes_alone() {
    let named = naming(&["p12Data", "pemCert", "validFromStr", "extraDetails"], |path| {
        path.starts_with("api/src/") && !path.starts_with("api/src/routes/") && !is_test(path)
    });

    assert_eq!(named, NONE);
}

#[test]
fn the_signer_has_no_http_tls_sql_or_mail_crate_in_its_tree() {
    let tree = tree_of("chancery-signer").unwrap();
    let forbidden = [
        "axum",
        "hyper",
        "h2",
        "reqwest",
        "tower-http",
        "rustls",
        "native-tls",
        "openssl",
        "sqlx",
        "sqlx-core",
        "libsqlite3-sys",
        "lettre",
        "chancery-api",
    ];

    let found: Vec<_> = tree.iter().filter(|name| forbidden.contains(&name.as_str())).collect();

    assert!(found.is_empty(), "{found:?}");
    assert!(tree.iter().any(|name| name == "cryptoki"), "the tree was not read");
}

#[test]
fn the_api_has_no_pkcs11_crate_and_no_code_of_the_signer_in_its_tree() {
    let tree = tree_of("chancery-api").unwrap();
    let forbidden = ["cryptoki", "cryptoki-sys", "chancery-signer"];

    let found: Vec<_> = tree.iter().filter(|name| forbidden.contains(&name.as_str())).collect();

    assert!(found.is_empty(), "{found:?}");
    assert!(tree.iter().any(|name| name == "axum"), "the tree was not read");
}

/// The names of all crates that end up in a program.
fn tree_of(package: &str) -> anyhow::Result<Vec<String>> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "-p", package]);
    let tree = run(command.current_dir(project()))?;
    Ok(tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}

#[test]
fn no_file_is_longer_than_one_subject() {
    let long = |source: &&Source| source.text.lines().count() > 300;
    let long: Vec<_> = sources().into_iter().filter(|source| long(&source)).collect();

    assert!(long.is_empty(), "{:?}", long.iter().map(|source| &source.path).collect::<Vec<_>>());
}

#[test]
fn every_file_says_first_what_it_is() {
    let silent = sources().into_iter().filter(|source| !source.text.starts_with("//! "));

    assert_eq!(silent.map(|source| source.path).collect::<Vec<_>>(), NONE);
}

#[test]
fn every_dependency_says_why_it_is_here() {
    let manifest = std::fs::read_to_string(project().join("Cargo.toml")).unwrap();
    let (_, dependencies) = manifest.split_once("[workspace.dependencies]").unwrap();
    let (dependencies, _) = dependencies.split_once("\n[").unwrap();
    let lines: Vec<_> = dependencies.lines().collect();

    let unexplained = lines.windows(2).filter(|pair| {
        let is_ours = pair[1].contains("path = ");
        pair[1].contains(" = ")
            && !pair[1].starts_with('#')
            && !is_ours
            && !pair[0].starts_with("# ")
    });

    assert_eq!(unexplained.map(|pair| pair[1]).collect::<Vec<_>>(), Vec::<&str>::new());
}
