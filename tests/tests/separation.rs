//! Two users: what the API's can't read, and whom the signer does not listen to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use chancery_tests::home::{api_user, signer_user};
use chancery_tests::program::{Program, User};
use chancery_tests::{Installation, openssl};

/// Whether `user` can read `path`.
fn can_read(user: User, path: &Path) -> bool {
    let mut command = Program::command(Path::new("/usr/bin/test"), user);
    command.arg("-r").arg(path).status().is_ok_and(|status| status.success())
}

#[test]
fn the_apis_user_reads_nothing_of_the_signers_and_the_reverse() {
    let installation = Installation::start();
    let (User::Other { .. }, User::Other { .. }) = (signer_user(), api_user()) else {
        // One user can't be kept from himself; the CI runs as root.
        return;
    };
    let home = installation.home().path();

    for path in ["config/signer.toml", "signer", "signer/pin", "signer/token", "signer/journal"] {
        assert!(!can_read(api_user(), &home.join(path)), "the API reads {path}");
        assert!(can_read(signer_user(), &home.join(path)), "the signer can't read {path}");
    }
    for path in ["config/secrets", "data", "data/chancery.db"] {
        assert!(!can_read(signer_user(), &home.join(path)), "the signer reads {path}");
        assert!(can_read(api_user(), &home.join(path)), "the API can't read {path}");
    }
}

/// A line of the log is written within this time.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn another_user_is_turned_away_by_the_file_and_by_the_signer() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    let User::Other { uid, gid } = api_user() else { return Ok(()) };
    let other = User::Other { uid: uid + 1, gid: gid + 1 };
    let run = installation.home().path().join("run");
    let ask = |name: &str| {
        let mut command = Program::command(Path::new("/usr/bin/curl"), other);
        command.arg("--silent").arg("--unix-socket").arg(run.join(name));
        anyhow::Ok(command.arg("http://signer/").output()?.status.code())
    };

    let by_the_file = ask("signer.sock")?;
    let home = installation.home().path();
    fs::set_permissions(home, fs::Permissions::from_mode(0o777))?;
    for path in ["", "signer.sock", "operator.sock"] {
        fs::set_permissions(run.join(path), fs::Permissions::from_mode(0o777))?;
    }
    let refused = format!("user {} is not admitted here", uid + 1);
    let before = installation.signer_mut().output().text();
    let by_the_signer = [ask("signer.sock")?, ask("operator.sock")?];

    // Curl: 7 is "could not connect", 52 and 56 are "hung up without an answer"; the signer hangs
    // up so soon that each of them may be seen. Its log says who was there.
    assert_eq!(by_the_file, Some(7));
    assert!(!before.contains(&refused), "the file alone has kept the user out");
    assert!(by_the_signer.iter().all(|code| matches!(code, Some(7 | 52 | 55 | 56))));
    let told = |log: &str| (log.matches(&refused).count() == 2).then_some(());
    installation.signer_mut().output().wait_for("two refusals", PATIENCE, told)?;
    Ok(())
}

#[test]
fn no_secret_stands_in_arguments_environment_or_logs() -> anyhow::Result<()> {
    let mut installation = Installation::start();
    let pin = fs::read_to_string(installation.home().path().join("signer/pin"))?;
    let pin = pin.trim();
    let seen = openssl::run(Command::new("ps").args(["-eww", "-o", "args"]))?;

    installation.stop();

    assert!(!seen.contains(pin), "the PIN is among the arguments");
    Ok(())
}
