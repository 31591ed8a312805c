//! The project's own texts, as the rules read them.

use std::fs;
use std::path::Path;

use crate::programs::project;

/// A Rust file.
#[derive(Debug)]
pub struct Source {
    /// From the project's top folder.
    pub path: String,
    /// All of it.
    pub text: String,
}

impl Source {
    /// Its lines, comments and unit tests at its end left empty, so that numbers stay.
    pub fn code(&self) -> impl Iterator<Item = &str> {
        let end = self.text.find("#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        let code = self.text[..end].lines();
        code.map(|line| if line.trim_start().starts_with("//") { "" } else { line })
    }
}

/// Every Rust file of the project.
///
/// # Panics
///
/// A file can't be read.
#[must_use]
pub fn sources() -> Vec<Source> {
    let crates = ["shared", "signer", "api", "hsm-config", "tests"];
    let files = crates.iter().flat_map(|name| files(name, "rs"));
    files.map(|(path, text)| Source { path, text }).collect()
}

/// Every document: path from the top folder, and text.
///
/// # Panics
///
/// A document can't be read.
#[must_use]
pub fn documents() -> Vec<(String, String)> {
    let mut documents = files("docs", "md");
    documents.push(("README.md".into(), read(&project().join("README.md"))));
    documents
}

fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&project(), Path::new(folder), extension, &mut found);
    found
}

fn collect(top: &Path, folder: &Path, extension: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(top.join(folder)).expect("a folder of the project") {
        let entry = entry.expect("an entry");
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            collect(top, &path, extension, found);
        } else if path.extension().is_some_and(|has| has == extension) {
            found.push((path.to_string_lossy().into_owned(), read(&entry.path())));
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a text of the project")
}

/// Targets of the links to other files in a Markdown text.
pub fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files.filter_map(|target| target.split('#').next())
}

/// Names between backticks that begin with a folder of this project: `api/src/app.rs`.
pub fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let tops = ["shared/", "signer/src/", "api/", "hsm-config/", "migrations/", "tests/", "docs/"];
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(move |name| {
        tops.iter().any(|top| name.starts_with(top)) && !name.contains(['*', '{', ' ', '…'])
    })
}
