//! What passes as a configuration, and what is said about one that does not.

use std::path::Path;

use super::*;

/// The file that is copied to `config/application.properties` on the first start.
const SHIPPED: &str = include_str!("../../application.properties");

fn check(text: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
    let variable = |name: &str| {
        let found = environment.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let file = ConfigFile::of(Path::new("application.properties"), text.as_bytes(), variable);
    Config::check(file, "/home".into()).map_err(|error| error.to_string())
}

fn defaults() -> Config {
    Config::with_defaults("/home".into())
}

#[test]
fn an_empty_file_means_the_defaults() {
    assert_eq!(check("", &[]), Ok(defaults()));
}

#[test]
fn the_shipped_file_says_the_defaults_of_every_key_and_documents_each() {
    assert_eq!(check(SHIPPED, &[]), Ok(defaults()));
    let lines: Vec<_> = SHIPPED.lines().collect();
    for Key { name, default } in KEYS {
        let line = format!("{name}={default}");
        let at = lines.iter().position(|found| *found == line);
        let at = at.unwrap_or_else(|| panic!("no line {line}"));
        assert!(at > 0 && lines[at - 1].starts_with("# "), "no comment above {name}");
    }
    assert!(lines.contains(&"deleteditems.purge.afterdays=30"));
    assert!(lines.iter().all(|line| line.len() <= 100));
}

#[test]
fn each_key_can_be_set_in_the_file_or_by_the_environment_which_wins() {
    let text = "port = 9443\naddress:::\nbase.path=/chancery,/certs-old/\nmetrics.port=0\n\
                database.url=postgres://u:p@db/x\nsigner.socket=/run/s.sock\n\
                deleteditems.purge.afterdays = 0 \nproxy.trusted=192.0.2.0/24\n\
                deleteditems.purge.firstafterminutes=0\n\
                request.max.bytes=65536\n\
                request.body.timeout.seconds=3\np12.iterations=20000\nkeys.pool.size=0\n\
                keys.pool.refill.per.minute=10\nlog.level=info,chancery_api=debug\n";
    let expected = Config {
        home: "/home".into(),
        address: "::".parse().unwrap(),
        port: 9443,
        base_paths: vec!["/chancery".to_owned(), "/certs-old".to_owned()],
        metrics_port: None,
        database_url: "postgres://u:p@db/x".to_owned(),
        purge_after_days: 0,
        first_purge_after: Duration::ZERO,
        signer_socket: "/run/s.sock".into(),
        trusted_proxies: IpWhiteList::read("192.0.2.0/24").unwrap(),
        max_body: 65_536,
        body_timeout: Duration::from_secs(3),
        bad_keys: BadKeys::shipped(),
        key_pool: PoolSize { keys: 0, per_minute: 10 },
        p12_iterations: 20_000.try_into().unwrap(),
        log_level: "info,chancery_api=debug".to_owned(),
    };

    assert_eq!(check(text, &[]), Ok(expected.clone()));
    let environment = [
        ("CHANCERY_PORT", "7443"),
        ("CHANCERY_DELETEDITEMS_PURGE_AFTERDAYS", "31"),
        ("CHANCERY_BASE_PATH", ""),
    ];
    let overridden =
        Config { port: 7443, purge_after_days: 31, base_paths: vec![String::new()], ..expected };
    assert_eq!(check(text, &environment), Ok(overridden));
}

#[test]
fn everything_wrong_is_told_at_once_with_its_line() {
    let text = "# comment\nport=0\n\nserver.port=1\nDeletedItems.Purge.AfterDays=30\nport=8443\n\
                address=localhost\ndatabase.url=mysql://u:secret@h/x\nbase.path=/a b\n\
                deleteditems.purge.afterdays=-1\nlog.level=loud=very\n";

    let error = check(text, &[("CHANCERY_P12_ITERATIONS", "forever")]).unwrap_err();

    let expected = "application.properties, line 4: there is no key server.port\n\
        application.properties, line 5: there is no key DeletedItems.Purge.AfterDays; did you mean \
        deleteditems.purge.afterdays?\n\
        application.properties, line 6: port stands in line 2 already\n\
        application.properties, line 7: address is \"localhost\"; expected is an IP address such \
        as 127.0.0.1 or ::\n\
        application.properties, line 8: database.url must begin with postgres:// or sqlite:, or \
        be empty for SQLite below the home\n\
        application.properties, line 9: base.path is \"/a b\"; expected is empty, or paths such \
        as /chancery with commas between them\n\
        application.properties, line 10: deleteditems.purge.afterdays is \"-1\"; expected is a \
        number from 0 to 36500\n\
        application.properties, line 11: log.level is \"loud=very\"; expected is error, warn, \
        info, debug or trace, or module=level\n\
        environment variable CHANCERY_P12_ITERATIONS: p12.iterations is \"forever\"; expected is \
        a number from 10000 to 5000000";
    assert_eq!(error, expected);
}

#[test]
fn the_operators_list_of_bad_keys_is_read_and_what_is_wrong_with_it_told() {
    let home = tempfile::TempDir::new().unwrap();
    let hash = "5cd252fb0ce8932436faf8ccd1040981b89ee4ad6b9fe9e2a2b7e71aacb27cd3";
    std::fs::write(home.path().join("good.txt"), format!("# one\n{hash}\n")).unwrap();
    std::fs::write(home.path().join("bad.txt"), "no hash\n").unwrap();
    let check = |name: &str| {
        let text = format!("csr.bad-keys.file={name}\n");
        let file = ConfigFile::of(Path::new("a.properties"), text.as_bytes(), |_| None);
        Config::check(file, home.path().into()).map_err(|error| error.to_string())
    };

    assert!(check("good.txt").is_ok());
    let bad = check("bad.txt").unwrap_err();
    assert!(
        bad.starts_with("a.properties, line 1: csr.bad-keys.file is \"bad.txt\": line 1 is no")
    );
    assert!(check("none.txt").unwrap_err().contains("\"none.txt\": it can't be read"));
}

#[test]
fn a_line_that_java_could_not_read_is_named() {
    let error = check("port=8443\naddress=\\u12\n", &[]).unwrap_err();

    assert_eq!(error, "application.properties, line 2: is no line of a Java properties file");
}

#[test]
fn a_file_that_is_there_and_cant_be_read_is_an_error() {
    let folder = tempfile::TempDir::new().unwrap();

    let missing = ConfigFile::read(&folder.path().join("none"), |_| None);
    let unreadable = ConfigFile::read(folder.path(), |_| None);

    assert!(missing.unwrap().values.is_empty());
    assert!(matches!(unreadable, Err(ConfigError::Io { .. })));
}
