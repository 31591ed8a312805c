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
fn the_steps_of_the_document_are_named_in_the_code() {
    let document = fs::read_to_string(project().join("docs/ISSUANCE.md")).unwrap();
    let steps: Vec<_> = document.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let comments = source::sources().into_iter().filter(|file| file.path.starts_with("api/src/"));
    let comments: String = comments
        .flat_map(|file| file.text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.trim_start().starts_with("//"))
        .collect();

    let missing: Vec<_> = steps.iter().filter(|step| !comments.contains(**step)).collect();

    assert_eq!(steps.len(), 8);
    assert_eq!(missing, Vec::<&&str>::new());
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
