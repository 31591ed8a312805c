//! Packages of every kind of key, opened by the programs that people open them with.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod authority;
mod readers;

use std::num::NonZeroU32;

use chancery_api::inventory::csr_generator::csr_signature;
use chancery_api::key_pair::KeyPair;
use chancery_api::name::dn_text;
use chancery_api::packaging::{Closing, Contents, P12Password, P12Profile, to_jks, to_p12, to_pem};
use chancery_api::random::SystemRandom;
use chancery_shared::wire::algorithm::KeyAlgorithm;
use time::macros::datetime;
use zeroize::Zeroizing;

use self::authority::Authority;
use self::readers::{Case, Form};

const PASSWORD: &str = "open \"sesame\" 'now' 100% $HOME";

fn closing(password: &str, profile: P12Profile) -> Closing {
    let password = P12Password::try_from(Zeroizing::new(password.to_owned())).unwrap();
    Closing { password, profile, iterations: NonZeroU32::new(10_000).unwrap() }
}

const NAME: &str = "www.example.test";

/// A key of this kind with its certificate, in a folder of its own.
fn case(authority: &Authority, key: KeyAlgorithm, password: &str, name: &str) -> Case {
    let pair = KeyPair::generate(key).unwrap();
    let subject = dn_text::parse("CN=www.example.test,O=Example").unwrap();
    let csr = pair.csr(&subject, &[], csr_signature(key, None).unwrap()).unwrap();
    let leaf = authority.certify(&csr);
    let pkcs8 = pair.to_pkcs8().unwrap();
    let contents = Contents { pkcs8: &pkcs8, leaf: &leaf, chain: &authority.chain, name };
    let random = &SystemRandom;
    let modern = closing(password, P12Profile::Modern);
    let compatible = closing(password, P12Profile::Compatible);
    let now = datetime!(2026-11-28 12:00 UTC);
    let case = Case::new(&contents, password);
    case.write(Form::Modern, &to_p12(&contents, &modern, random).unwrap());
    case.write(Form::Compatible, &to_p12(&contents, &compatible, random).unwrap());
    case.write(Form::Jks, &to_jks(&contents, &modern, now, random).unwrap());
    case.write(Form::Pem, &to_pem(&contents, &modern, random).unwrap());
    case
}

/// The kinds of keys side by side: most of the time goes by waiting for programs to start.
fn for_each_key(check: impl Fn(&Case, KeyAlgorithm) + Sync) {
    let authority = Authority::new();
    std::thread::scope(|scope| {
        for key in KeyAlgorithm::ALL {
            let (authority, check) = (&authority, &check);
            scope.spawn(move || check(&case(authority, key, PASSWORD, NAME), key));
        }
    });
}

#[test]
fn openssl_finds_key_leaf_and_chain_in_every_form_and_refuses_a_wrong_password() {
    for_each_key(|case, _| {
        case.openssl_p12(Form::Modern);
        case.openssl_p12(Form::Compatible);
        case.openssl_pem();
    });
}

#[test]
fn java_lists_and_imports_every_form_and_refuses_a_wrong_password() {
    for_each_key(|case, _| {
        for form in [Form::Modern, Form::Compatible, Form::Jks] {
            case.keytool(form);
        }
    });
}

#[test]
fn gnutls_reads_both_variants_and_refuses_a_wrong_password() {
    for_each_key(|case, _| {
        case.certtool(Form::Modern);
        case.certtool(Form::Compatible);
    });
}

#[test]
fn nss_imports_both_variants_under_the_common_name_and_refuses_a_wrong_password() {
    for_each_key(|case, key| {
        // NSS imports no Ed25519 keys, whoever wrote the file.
        if key != KeyAlgorithm::Ed25519 {
            case.pk12util(Form::Modern);
            case.pk12util(Form::Compatible);
        }
    });
}

#[test]
fn in_python_the_key_signs_what_the_certificate_verifies() {
    for_each_key(|case, _| {
        case.python(Form::Modern);
        case.python(Form::Compatible);
    });
}

#[test]
fn a_name_beyond_ascii_is_shown_as_it_is_by_every_program_but_openssl() {
    let authority = Authority::new();
    let case = case(&authority, KeyAlgorithm::EcdsaP256, PASSWORD, "Müller 東京");
    for form in [Form::Modern, Form::Compatible] {
        case.openssl_p12(form);
        case.keytool(form);
        case.certtool(form);
        case.pk12util(form);
        case.python(form);
    }
    case.keytool(Form::Jks);
}

#[test]
fn every_password_that_is_accepted_opens_its_package_exactly_as_it_is() {
    let authority = Authority::new();
    let all: String = (' '..='~').collect();
    for password in [" both ends ", "quotes \"'`", "100% $HOME \\n", &"x".repeat(1024), &all, "~"] {
        let case = case(&authority, KeyAlgorithm::EcdsaP256, password, NAME);

        case.openssl_p12(Form::Modern);
        case.openssl_p12(Form::Compatible);
        case.openssl_pem();
        case.python(Form::Modern);
        // Java's tool takes no shorter ones; its library does.
        if password.len() >= 6 {
            case.keytool(Form::Modern);
            case.keytool(Form::Jks);
        }
    }
}
