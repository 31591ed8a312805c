//! What a worker gives up before the vendor's library is loaded.
//!
//! Everything here is applied while the process has one thread, so that it holds for all.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

use super::config::Sandbox;
use super::protocol::{HardeningStep, OpenFailure};

/// What every worker gives up first, before a secret is read: core dumps, new privileges, and
/// being ended by signals that a terminal or a process group sends to all.
pub(super) fn harden() -> Result<(), OpenFailure> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })
        .map_err(|_| OpenFailure::Hardening(HardeningStep::CoreDumps))?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|_| OpenFailure::Hardening(HardeningStep::Dumpable))?;
    rustix::thread::set_no_new_privs(true)
        .map_err(|_| OpenFailure::Hardening(HardeningStep::Privileges))?;
    outlive_signals().map_err(|_| OpenFailure::Hardening(HardeningStep::Signals))
}

/// The signer ends its workers in order, by closing their socket.
fn outlive_signals() -> std::io::Result<()> {
    // The handlers stay when this runtime is gone: tokio installs them once, for ever.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _guard = runtime.enter();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        drop(signal(kind)?);
    }
    Ok(())
}

/// What the worker may do to the token's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder<'a> {
    /// Nothing that it does or dies of can damage a key.
    ReadOnly,
    /// The key worker: it may write there, and to the folder of copies.
    Writable { copies: &'a Path },
}

/// Confines the process by Landlock and says in one sentence how far.
pub(super) fn confine(
    token_folder: &Path,
    access: Folder<'_>,
    module: &Path,
    sandbox: Sandbox,
) -> Result<String, OpenFailure> {
    let enforced = restrict(token_folder, access, module).unwrap_or(RulesetStatus::NotEnforced);
    let sentence = match (enforced, sandbox) {
        (RulesetStatus::FullyEnforced, _) => "workers are confined to their folders by Landlock",
        (RulesetStatus::PartiallyEnforced, _) => {
            "workers are confined to their folders as far as this kernel's Landlock goes"
        }
        (RulesetStatus::NotEnforced, Sandbox::Optional) => {
            "the kernel has no Landlock: workers are not confined to their folders"
        }
        (RulesetStatus::NotEnforced, Sandbox::Required) => return Err(OpenFailure::Sandbox),
    };
    Ok(sentence.to_owned())
}

fn restrict(
    token_folder: &Path,
    access: Folder<'_>,
    module: &Path,
) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir;
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))?
        .scope(Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(readable(module), read))?
        .add_rules(path_beneath_rules(["/dev/null"], read | AccessFs::WriteFile))?;
    let rules = match access {
        Folder::ReadOnly => rules.add_rules(path_beneath_rules([token_folder], read))?,
        Folder::Writable { copies } => {
            rules.add_rules(path_beneath_rules([token_folder, copies], read | write))?
        }
    };
    Ok(rules.restrict_self()?.ruleset)
}

/// What a vendor's library reads beside the token: itself, what it links to, and its settings.
fn readable(module: &Path) -> Vec<PathBuf> {
    const SYSTEM: [&str; 16] = [
        "/usr",
        "/lib",
        "/lib64",
        "/lib32",
        "/etc/ld.so.cache",
        "/etc/ssl",
        "/etc/pki",
        "/etc/softhsm",
        "/etc/localtime",
        "/etc/nsswitch.conf",
        "/etc/hosts",
        "/etc/resolv.conf",
        "/etc/services",
        "/dev/urandom",
        "/dev/random",
        "/sys/devices/system/cpu",
    ];
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    // Libraries load their neighbours.
    paths.extend(module.parent().map(Path::to_path_buf));
    // The environment is only what the configuration gave it: `SOFTHSM2_CONF` and its like.
    paths.extend(
        std::env::vars_os()
            .map(|(_, value)| PathBuf::from(value))
            .filter(|path| path.is_absolute() && path.is_file()),
    );
    paths
}
