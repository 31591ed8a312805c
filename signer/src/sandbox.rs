//! What the signer's process gives up before it does anything.
//!
//! Landlock is inherited by the token workers, which narrow it further.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, path_beneath_rules,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit, setrlimit};

use crate::config::Config;
use crate::token::Sandbox;

/// The newest rules that are asked for; an older kernel enforces what it knows.
const LANDLOCK: ABI = ABI::V4;

/// Why the signer does not start unconfined.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel refused a setting that every kernel has.
    #[error("a process setting was refused")]
    Setting(#[from] rustix::io::Errno),
    /// Landlock rules could not be made.
    #[error("the Landlock rules could not be made")]
    Landlock(#[from] RulesetError),
    /// The kernel has no Landlock, and the configuration requires it.
    #[error(
        "the kernel offers no Landlock; a newer kernel, or sandbox = \"optional\" in signer.toml, \
         lets the signer start"
    )]
    NoLandlock,
}

/// Confines this process and its children for good. Call it before other threads exist.
///
/// Answers one sentence for each way in which the process is, or is not, confined.
///
/// # Errors
///
/// The kernel refuses, or lacks what the configuration requires.
pub fn confine(config: &Config, program: &Path) -> Result<Vec<String>, SandboxError> {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    rustix::thread::set_no_new_privs(true)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let mut sentences = vec!["no new privileges, no core dumps".to_owned()];
    if rustix::process::geteuid().is_root() {
        sentences.push("the signer runs as root; a user of its own would be safer".into());
    }
    let status = landlock(config, program)?;
    let sentence = match (status, config.sandbox) {
        (RulesetStatus::FullyEnforced, _) => "Landlock confines the signer to its own folders",
        (RulesetStatus::PartiallyEnforced, _) => {
            "Landlock confines the signer as far as this kernel knows"
        }
        (RulesetStatus::NotEnforced, Sandbox::Required) => return Err(SandboxError::NoLandlock),
        (RulesetStatus::NotEnforced, Sandbox::Optional) => {
            "this kernel offers no Landlock: the signer's files are protected by permissions alone"
        }
    };
    sentences.push(sentence.into());
    Ok(sentences)
}

fn landlock(config: &Config, program: &Path) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::from_read(LANDLOCK);
    let all = AccessFs::from_all(LANDLOCK);
    // Programs, libraries and the files that the dynamic loader and the clock read.
    let mut readable: Vec<PathBuf> =
        ["/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys"].map(PathBuf::from).into();
    readable.extend(program.parent().map(Path::to_path_buf));
    readable.push(config.home.join("config"));
    readable.extend(config.tokens.iter().filter_map(|t| t.module.parent().map(Path::to_path_buf)));
    // The settings of a vendor's library, wherever they are; the workers read them.
    let settings = config.tokens.iter().flat_map(|token| token.environment.values());
    readable.extend(settings.map(PathBuf::from).filter(|path| path.is_absolute()));
    let mut writable = vec![config.state_folder(), config.home.join("run"), "/dev".into()];
    writable.extend(config.tokens.iter().map(|token| token.folder.clone()));
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .create()?
        .add_rules(path_beneath_rules(existing(&readable), read))?
        .add_rules(path_beneath_rules(existing(&writable), all))?
        .restrict_self()?;
    Ok(status.ruleset)
}

/// A rule for a folder that is not there would be refused as a whole.
fn existing(folders: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    folders.iter().filter(|folder| folder.exists())
}
