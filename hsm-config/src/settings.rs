//! The configuration files as shipped, with this installation's values filled in.

use std::path::Path;

use crate::profile::Profile;

/// What differs from one `signer.toml` to the next.
#[derive(Debug)]
pub(crate) struct SignerSettings<'a> {
    /// The only user that may ask for signatures.
    pub(crate) api_uid: u32,
    /// The only user that may use the operator socket.
    pub(crate) operator_uid: u32,
    /// What the installation is for.
    pub(crate) purpose: Purpose,
    /// The token's name and label.
    pub(crate) token: &'a str,
    /// The vendor's library.
    pub(crate) module: &'a Path,
    /// Of the vendor.
    pub(crate) profile: &'a Profile,
}

/// What an installation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The shipped values.
    Production,
    /// One user on one machine: CA certificates need no approval, no budget, and a kernel without
    /// Landlock will do.
    Trial,
}

/// The text of `config/signer.toml`.
pub(crate) fn signer_toml(settings: &SignerSettings<'_>) -> String {
    let SignerSettings { api_uid, operator_uid, purpose, token, module, profile } = settings;
    let (sandbox, ca_certificates, budget) = match purpose {
        Purpose::Production => ("required", "approve", 6_000),
        Purpose::Trial => ("optional", "allow", 0),
    };
    fill(
        include_str!("../config/signer.toml"),
        &[
            ("@API_UID@", api_uid.to_string()),
            ("@OPERATOR_UID@", operator_uid.to_string()),
            ("@SANDBOX@", quoted(sandbox)),
            ("@CA_CERTIFICATES@", quoted(ca_certificates)),
            ("@BUDGET@", budget.to_string()),
            ("@TOKEN_NAME@", quoted(&profile.name)),
            ("@MODULE@", quoted(&module.to_string_lossy())),
            ("@LABEL@", quoted(token)),
            ("@MAX_KEYS@", profile.max_keys.to_string()),
            ("@CONFIGURATION_VARIABLE@", profile.configuration_variable.clone()),
        ],
    )
}

/// The text of a `softhsm2.conf` whose tokens are in `folder`.
pub(crate) fn softhsm2_conf(folder: &Path) -> String {
    fill(
        include_str!("../softhsm2/softhsm2.conf"),
        &[("@TOKEN_FOLDER@", folder.to_string_lossy().into_owned())],
    )
}

/// The text of `config/application.properties`: the API's defaults, each with its line.
pub(crate) fn application_properties() -> &'static str {
    include_str!("../../api/application.properties")
}

/// A TOML string, whatever is in it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn fill(template: &str, values: &[(&str, String)]) -> String {
    let filled = |text: String, (name, value): &(&str, String)| text.replace(name, value);
    values.iter().fold(template.to_owned(), filled)
}

#[cfg(test)]
mod tests {
    use chancery_shared::wire::policy::Policy;
    use chancery_signer::config::Config;

    use super::*;

    fn parsed(purpose: Purpose) -> toml::Table {
        toml::from_str(&text(purpose)).unwrap()
    }

    fn text(purpose: Purpose) -> String {
        let settings = SignerSettings {
            api_uid: 990,
            operator_uid: 0,
            purpose,
            token: "chancery",
            module: Path::new("/opt/a \"b\"/module.so"),
            profile: &Profile::softhsm2().unwrap(),
        };
        signer_toml(&settings)
    }

    #[test]
    fn the_shipped_ceiling_is_the_policy_that_the_code_calls_shipped() {
        let ceiling: Policy = parsed(Purpose::Production)["ceiling"].clone().try_into().unwrap();

        assert_eq!(ceiling, Policy::shipped());
    }

    #[test]
    fn the_signer_takes_the_file_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("config")).unwrap();
        let text = toml::to_string(&parsed(Purpose::Production)).unwrap();
        std::fs::write(home.path().join("config/signer.toml"), text).unwrap();

        let config = Config::load(home.path(), Path::new("/signer")).unwrap();

        assert_eq!((config.api_uid, config.operator_uid), (990, 0));
        assert_eq!(config.ceiling, Policy::shipped());
    }

    #[test]
    fn every_line_that_is_off_is_one_that_the_signer_knows() {
        let settings = text(Purpose::Production);
        let off = |line: &str| {
            let key = line.strip_prefix('#').filter(|key| key.starts_with(char::is_alphabetic));
            key.map(str::to_owned)
        };
        let on = settings.lines().map(|line| off(line).unwrap_or_else(|| line.to_owned()));
        let on = on.collect::<Vec<_>>().join("\n");
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("config")).unwrap();
        let path = home.path().join("config/signer.toml");
        std::fs::write(path, &on).unwrap();

        let config = Config::load(home.path(), Path::new("/signer"));

        assert!(config.is_ok(), "{config:?}");
        assert!(settings.lines().filter_map(off).count() > 3);
    }

    #[test]
    fn nothing_is_left_to_fill_in_and_paths_are_quoted() {
        let file = parsed(Purpose::Production);
        let token = &file["token"][0];

        assert!(!toml::to_string(&file).unwrap().contains('@'));
        assert_eq!(token["module"].as_str(), Some("/opt/a \"b\"/module.so"));
        assert_eq!(token["environment"]["SOFTHSM2_CONF"].as_str(), Some("signer/softhsm2.conf"));
        assert_eq!(file["api_uid"].as_integer(), Some(990));
    }

    #[test]
    fn the_trial_is_open_where_production_is_strict() {
        let [production, trial] = [Purpose::Production, Purpose::Trial].map(parsed);

        for (key, strict, open) in [
            ("sandbox", toml::Value::from("required"), toml::Value::from("optional")),
            ("ca_certificates", "approve".into(), "allow".into()),
            ("budget_per_minute", 6_000.into(), 0.into()),
        ] {
            assert_eq!(production[key], strict);
            assert_eq!(trial[key], open);
        }
    }
}
