//! What stands in `signer.toml`, and what is refused.

use super::*;

const SOUND: &str = r#"
    api_uid = 7
    operator_uid = 0
    [[token]]
    name = "T"
    module = "/lib/m.so"
    label = "l"
    folder = "signer/token"
    pin_file = "signer/pin"
    environment = { SOFTHSM2_CONF = "signer/softhsm2.conf", LANG = "C" }
"#;

fn load(text: &str) -> Result<Config, ConfigError> {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("config")).unwrap();
    std::fs::write(home.path().join("config/signer.toml"), text).unwrap();
    Config::load(home.path(), Path::new("/bin/signer"))
}

#[test]
fn what_is_not_written_has_the_shipped_value() {
    let config = load(SOUND).unwrap();

    assert_eq!(config.sandbox, Sandbox::Required);
    assert_eq!(config.ca_certificates, CaCertificates::Approve);
    assert_eq!((config.budget_per_minute, config.segment_bytes), (6_000, 16 * 1024 * 1024));
    assert_eq!(config.approvals_per_hour, 30);
    assert_eq!(config.ceiling, Policy::shipped());
}

#[test]
fn a_path_starts_from_the_home_also_in_the_environment() {
    let config = load(SOUND).unwrap();
    let token = config.tokens.first().unwrap();

    assert_eq!(token.folder, config.home.join("signer/token"));
    assert_eq!(token.module, Path::new("/lib/m.so"));
    assert_eq!(
        token.environment["SOFTHSM2_CONF"],
        config.home.join("signer/softhsm2.conf").to_string_lossy()
    );
    assert_eq!(token.environment["LANG"], "C");
}

#[test]
fn a_bad_line_is_named_and_stops_the_start() {
    for (line, said) in [
        ("sandbx = \"optional\"", "sandbx"),
        ("sandbox = \"off\"", "off"),
        ("clock_jump_minutes = 0", "clock_jump_minutes = 0: 1 to 1440"),
        ("journal = { segment_mib = 0 }", "journal.segment_mib = 0: 1 to 1024"),
        ("anchors = [\"nowhere.pem\"]", "nowhere.pem"),
        ("bad_keys_file = \"nowhere.txt\"", "nowhere.txt"),
        ("bad_keys_file = \"config/signer.toml\"", "line 1 is no SHA-256"),
        ("api_uid = \"root\"", "api_uid"),
    ] {
        let text = format!("{line}\n{}", SOUND.replace("api_uid = 7", ""));
        let text = if line.starts_with("api_uid") { text } else { format!("api_uid = 7\n{text}") };

        let error = anyhow::Error::from(load(&text).unwrap_err());

        assert!(format!("{error:#}").contains(said), "{line}: {error:#}");
    }
}

/// `SOUND` with more tokens of these names, each with as many keys.
fn with_tokens(names: &[&str], max_keys: u32) -> String {
    let first = SOUND.split_once("[[token]]").unwrap().1;
    names.iter().fold(SOUND.to_owned(), |text, name| {
        let token = first.replace("\"T\"", &format!("'{name}'"));
        format!("{text}\nmax_keys = {max_keys}\n[[token]]{token}")
    })
}

#[test]
fn there_are_no_more_tokens_and_keys_than_a_greeting_can_name() {
    let numbered: Vec<String> = (1..=16).map(|number| number.to_string()).collect();
    let numbered: Vec<&str> = numbered.iter().map(String::as_str).collect();

    // The last one has the shipped 100.
    assert_eq!(load(&with_tokens(&["A", "B"], 200)).unwrap().tokens.len(), 3);
    assert_eq!(load(&with_tokens(&numbered[..15], 20)).unwrap().tokens.len(), 16);
    for (text, said) in [
        (with_tokens(&["A", "B"], 201), "token.max_keys = 100: 1 to 500, all tokens together"),
        (with_tokens(&["A"], 501), "token.max_keys = 501: 1 to 500, all tokens together"),
        (with_tokens(&numbered, 20), "token = 17 tables: 1 to 16"),
        (with_tokens(&["T"], 20), "token.name = T: a name that no other token has"),
        (with_tokens(&["a\"b"], 20), "token.name = a\"b: a name"),
        ("api_uid = 7\noperator_uid = 0".into(), "token = 0 tables: 1 to 16"),
    ] {
        let error = load(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_ceiling_that_no_greeting_could_carry_is_refused() {
    let policy = Policy { domains: Some(vec!["d".repeat(17_000)]), ..Policy::shipped() };
    let ceiling = toml::to_string(&policy).unwrap().replace("[certifyCas]", "[ceiling.certifyCas]");

    let error = load(&format!("{SOUND}\n[ceiling]\n{ceiling}")).unwrap_err().to_string();

    assert!(error.contains("at most 16384 bytes"), "{error}");
}
