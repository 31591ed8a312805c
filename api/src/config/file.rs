//! The file as it stands: Java properties, not yet understood, each value with its origin.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use java_properties::{LineContent, PropertiesIter};

use super::{ConfigError, KEYS, Origin, Problem};

/// What file and environment say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where it was read.
    pub path: PathBuf,
    /// The values, by key.
    pub values: HashMap<&'static str, Value>,
    /// Lines that say nothing that is known.
    pub problems: Vec<Problem>,
}

/// One value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Without blanks at either end.
    pub text: String,
    /// Where it was said.
    pub origin: Origin,
}

impl ConfigFile {
    /// Reads `path` and lets `environment` override it. No file is an empty one.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Io`] where there is a file that can't be read.
    pub fn read(
        path: &Path,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(ConfigError::Io { path: path.to_owned(), source }),
        };
        Ok(Self::of(path, &bytes, environment))
    }

    /// The same for bytes that were read already.
    pub fn of(path: &Path, bytes: &[u8], environment: impl Fn(&str) -> Option<String>) -> Self {
        let mut file = Self { path: path.to_owned(), ..Self::default() };
        file.read_lines(bytes);
        for key in KEYS {
            let variable = key.variable();
            if let Some(text) = environment(&variable) {
                let value =
                    Value { text: text.trim().to_owned(), origin: Origin::Variable(variable) };
                file.values.insert(key.name, value);
            }
        }
        file
    }

    fn read_lines(&mut self, bytes: &[u8]) {
        for line in PropertiesIter::new(bytes) {
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    let number = error.line_number().unwrap_or(1);
                    self.report(number, "is no line of a Java properties file".to_owned());
                    // What follows can't be told apart from what is broken.
                    return;
                }
            };
            let number = line.line_number();
            let LineContent::KVPair(name, text) = line.consume_content() else { continue };
            let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                self.report(number, format!("there is no key {name}{}", near(&name)));
                continue;
            };
            let value = Value { text: text.trim().to_owned(), origin: Origin::Line(number) };
            if let Some(before) = self.values.insert(key.name, value)
                && let Origin::Line(first) = before.origin
            {
                self.report(number, format!("{name} stands in line {first} already"));
            }
        }
    }

    fn report(&mut self, line: usize, message: String) {
        self.problems.push(Problem { origin: Origin::Line(line), message });
    }
}

/// The key that was probably meant: the same letters but for case and separators.
fn near(name: &str) -> String {
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let meant = KEYS.iter().find(|key| letters(key.name) == letters(name));
    meant.map_or_else(String::new, |key| format!("; did you mean {}?", key.name))
}
