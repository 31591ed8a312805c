//! The run contract: `./run.sh` and `./run.sh demo`.

use std::time::Instant;

use chancery_tests::database::PostgresDatabase;
use chancery_tests::installation::END_WITHIN;
use chancery_tests::openssl::Workbench;
use chancery_tests::run_script::Trial;

const PASSWORD: (&str, &str) = ("CHANCERY_ADMIN_PASSWORD", "a password \"with\" \\ marks");

#[test]
fn the_first_start_prints_a_password_that_works_and_the_second_keeps_everything()
-> anyhow::Result<()> {
    let trial = Trial::new(&[])?;
    let mut first = trial.start()?;
    let printed = first.script.output().text();
    let password = printed.split("password: ").nth(1).and_then(|rest| rest.split(' ').next());
    let password = password.expect("a password is printed");
    let bench = Workbench::new()?;
    let csr = bench.fresh_request("/CN=kept.example.test", "DNS:kept.example.test")?;
    let issued = trial.client(&first.address).login("admin", password)?.request(&csr)?;
    let root = std::fs::read(trial.home().join("root-ca.pem"))?;
    assert!(first.script.stop(END_WITHIN)?.success());

    let second = trial.start()?;

    let administrator = trial.client(&second.address).login("admin", password)?;
    assert_eq!(administrator.record(&issued.id)?["pemCert"], *issued.pem);
    assert_eq!(administrator.records()?.len(), 4);
    assert_eq!(std::fs::read(trial.home().join("root-ca.pem"))?, root);
    assert!(!second.script.output().text().contains("password: "));
    assert!(!trial.home().join("config/secrets/admin-password").exists());
    Ok(())
}

#[test]
fn the_demo_issues_a_certificate_and_shows_that_it_verifies() -> anyhow::Result<()> {
    let trial = Trial::new(&[PASSWORD, ("CHANCERY_BASE_PATH", "/chancery,/old")])?;
    let running = trial.start()?;
    assert_eq!(running.address, format!("https://localhost:{}/chancery/", trial.port()));

    let demo = trial.run(&["demo"], &[])?;

    let text = String::from_utf8(demo.stdout)?;
    assert!(demo.status.success(), "{text}{}", String::from_utf8_lossy(&demo.stderr));
    assert!(text.contains("CN = demo.example.test"), "{text}");
    assert!(text.contains("certificate.pem: OK"), "{text}");
    assert!(text.contains("subject=O = Demo, CN = dn.example.test"), "{text}");
    assert!(text.contains("bundle.pem: OK"), "{text}");
    assert!(text.contains("the key is the certificate's"), "{text}");
    Ok(())
}

#[test]
fn it_runs_on_postgres_too() -> anyhow::Result<()> {
    let database = PostgresDatabase::create()?;
    let trial = Trial::new(&[PASSWORD, ("CHANCERY_DATABASE_URL", &database.url())])?;
    let running = trial.start()?;

    let demo = trial.run(&["demo"], &[])?;

    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));
    assert_eq!(database.value("SELECT count(*) FROM certificate")?.trim(), "5");
    assert!(!trial.home().join("data/chancery.db").exists());
    drop(running);
    Ok(())
}

#[test]
fn sigterm_ends_both_programs_in_time_and_in_peace() -> anyhow::Result<()> {
    let trial = Trial::new(&[PASSWORD])?;
    let mut running = trial.start()?;
    let began = Instant::now();

    let status = running.script.stop(END_WITHIN)?;

    assert!(status.success(), "{status}");
    assert!(began.elapsed() < END_WITHIN);
    assert!(!trial.is_listening());
    assert!(!trial.home().join("run/address").exists());
    let sound = trial.home();
    let verify = chancery_tests::programs::folder()?.join("chancery-hsm");
    let mut verify = std::process::Command::new(verify);
    chancery_tests::openssl::run(verify.args(["journal", "verify", "--home"]).arg(sound))?;
    Ok(())
}

#[test]
fn a_taken_port_is_one_clear_line_and_nothing_is_half_started() -> anyhow::Result<()> {
    let trial = Trial::new(&[PASSWORD])?;
    let _taken = std::net::TcpListener::bind(("127.0.0.1", trial.port()))?;

    let output = trial.run(&[], &[])?;

    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr)?;
    let expected =
        format!("run.sh: port {} is taken; set CHANCERY_PORT to a free one\n", trial.port());
    assert_eq!(told, expected);
    assert!(!trial.home().exists());
    Ok(())
}

#[test]
fn a_second_run_on_the_same_home_is_refused() -> anyhow::Result<()> {
    let trial = Trial::new(&[PASSWORD])?;
    let _running = trial.start()?;
    let other = Trial::new(&[])?.port().to_string();

    let output =
        trial.run(&[], &[("CHANCERY_PORT", other.as_str()), ("CHANCERY_METRICS_PORT", "0")])?;

    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("is in use by another run.sh"), "{told}");
    Ok(())
}

#[test]
fn a_program_that_dies_is_named_and_the_other_one_ends() -> anyhow::Result<()> {
    let trial = Trial::new(&[PASSWORD])?;
    let mut running = trial.start()?;
    let home = trial.home().to_string_lossy().into_owned();
    let mut kill = std::process::Command::new("pkill");
    kill.args(["-KILL", "-f", "--", &format!("chancery-signer --home {home}")]);
    chancery_tests::openssl::run(&mut kill)?;

    let status = running.script.wait(END_WITHIN)?;

    assert_eq!(status.code(), Some(1));
    let told = running.script.output().text();
    assert!(told.contains("the signer ended by itself"), "{told}");
    assert!(!trial.is_listening());
    Ok(())
}

#[test]
fn a_bad_line_in_the_configuration_is_told_and_nothing_runs() -> anyhow::Result<()> {
    let trial = Trial::new(&[PASSWORD])?;
    let mut running = trial.start()?;
    running.script.stop(END_WITHIN)?;
    let file = trial.home().join("config/application.properties");
    let text = std::fs::read_to_string(&file)?;
    std::fs::write(&file, format!("{text}\nno.such.key=1\n"))?;

    let output = trial.run(&[], &[])?;

    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("there is no key no.such.key"), "{told}");
    assert!(!trial.is_listening());
    Ok(())
}
