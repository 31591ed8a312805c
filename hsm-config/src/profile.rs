//! What is known of a vendor's module: where it lies, which environment it wants.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// One file of `hsm-config/profiles`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// How the token is called in `signer.toml` unless the operator names it.
    pub(crate) name: String,
    /// Where distributions put the module.
    modules: Vec<PathBuf>,
    /// What to install where none of them exists.
    package: String,
    /// Environment variable that names the module's configuration file.
    pub(crate) configuration_variable: String,
    /// Keys on the token at most.
    pub(crate) max_keys: u32,
}

/// Why there is no module.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    /// The profile inside the program is broken.
    #[error("the built-in profile can't be read")]
    Broken(#[from] toml::de::Error),
    /// None of the usual places has it.
    #[error("no {name} module at {}: install {package}, or say --module", tried.join(", "))]
    NoModule {
        /// Of the profile.
        name: String,
        /// What to install.
        package: String,
        /// Where it was looked for.
        tried: Vec<String>,
    },
    /// The path that the operator gave.
    #[error("there is no module at {}", .0.display())]
    NotThere(PathBuf),
}

impl Profile {
    /// SoftHSM2, the token of the trial and of the tests.
    ///
    /// # Errors
    ///
    /// The built-in file is broken, which a test rules out.
    pub(crate) fn softhsm2() -> Result<Self, ProfileError> {
        Ok(toml::from_str(include_str!("../profiles/softhsm2.toml"))?)
    }

    /// The operator's choice of module, or the first of the usual places that has it.
    ///
    /// # Errors
    ///
    /// There is none; says where it was looked for and what to install.
    pub(crate) fn module(&self, chosen: Option<&Path>) -> Result<PathBuf, ProfileError> {
        if let Some(path) = chosen {
            let there = path.is_file().then(|| path.to_owned());
            return there.ok_or_else(|| ProfileError::NotThere(path.to_owned()));
        }
        let found = self.modules.iter().find(|path| path.is_file()).cloned();
        found.ok_or_else(|| ProfileError::NoModule {
            name: self.name.clone(),
            package: self.package.clone(),
            tried: self.modules.iter().map(|path| path.display().to_string()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_profile_is_sound() {
        let profile = Profile::softhsm2().unwrap();

        assert_eq!(profile.name, "SoftHSM2");
        assert!(profile.modules.iter().all(|path| path.is_absolute()));
    }

    #[test]
    fn a_missing_module_is_named_with_the_package_that_brings_it() {
        let profile =
            Profile { modules: vec!["/no/such.so".into()], ..Profile::softhsm2().unwrap() };

        let by_profile = profile.module(None).unwrap_err().to_string();
        let by_operator = profile.module(Some(Path::new("/no/other.so"))).unwrap_err().to_string();

        assert_eq!(
            by_profile,
            "no SoftHSM2 module at /no/such.so: install softhsm2, or say --module"
        );
        assert_eq!(by_operator, "there is no module at /no/other.so");
    }
}
