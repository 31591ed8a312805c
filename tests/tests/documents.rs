//! The documents against the code: files, steps and codes that they name are there.

use std::fs;
use std::path::Path;

use chancery_tests::programs::project;
use chancery_tests::source;

#[test]
fn links_and_file_names_in_the_documents_exist() {
    let missing = source::documents().into_iter().flat_map(|(path, text)| {
        let folder = Path::new(&path).parent().unwrap().to_owned();
        let named = source::links(&text).map(move |link| folder.join(link));
        let named = named.chain(source::file_names(&text).map(Into::into));
        let missing = named.filter(|file| !project().join(file).exists());
        missing.map(|file| format!("{path}: {}", file.display())).collect::<Vec<_>>()
    });

    assert_eq!(missing.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn the_steps_of_the_document_are_the_steps_of_the_code() {
    let document = fs::read_to_string(project().join("docs/ISSUANCE.md")).unwrap();
    let code = fs::read_to_string(project().join("api/src/issuance/issue.rs")).unwrap();
    let steps = |text: &str, mark: &str| {
        let steps = text.lines().filter_map(|line| line.trim_start().strip_prefix(mark));
        let steps = steps.filter(|step| step.starts_with(|c: char| c.is_ascii_digit()));
        // "1. Who: …" and "1. *Who*" are the same step.
        steps
            .map(|step| {
                let end = step.find([':', ',']).unwrap_or(step.len());
                step[..end].trim_end_matches('.').to_owned()
            })
            .collect::<Vec<_>>()
    };

    let documented = steps(&document, "## ");

    assert_eq!(documented.len(), 8);
    assert_eq!(steps(&code, "// "), documented);
}

#[test]
fn every_error_code_has_its_line_in_the_document() {
    let document = fs::read_to_string(project().join("docs/HTTP.md")).unwrap();
    let code = fs::read_to_string(project().join("api/src/error/code.rs")).unwrap();
    let (_, variants) = code.split_once("pub enum Code {").unwrap();
    let (variants, _) = variants.split_once("\n}").unwrap();
    let variants = variants.lines().map(|line| line.trim().trim_end_matches(','));
    let variants: Vec<_> = variants.filter(|line| !line.starts_with("//")).collect();

    let missing = variants.iter().filter(|variant| {
        let row = format!("| `{}` |", snake_case(variant));
        !variant.is_empty() && !document.contains(&row)
    });

    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
    assert!(variants.len() > 10, "the codes were not read");
}

fn snake_case(variant: &str) -> String {
    let mut text = String::new();
    for letter in variant.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
