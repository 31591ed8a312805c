//! Names that no certificate may have: each is refused by a rule that the answer names.

use chancery_tests::forge::der::{oid, sequence, set, tlv};
use chancery_tests::forge::subject::{common_name, name};

use super::Scene;

fn dns(text: &str) -> Vec<u8> {
    tlv(0x82, text.as_bytes())
}

fn other(type_id: &str, value: &[u8]) -> Vec<u8> {
    tlv(0xa0, &[oid(type_id), tlv(0xa0, value)].concat())
}

fn attribute(type_id: &str, value: Vec<u8>) -> Vec<u8> {
    sequence(&[oid(type_id), value])
}

#[test]
fn a_subject_that_no_certificate_may_have_is_refused_by_its_rule() -> anyhow::Result<()> {
    let mut scene = Scene::start()?;
    let mut unsorted =
        vec![attribute("2.5.4.3", tlv(0x0c, b"x")), attribute("2.5.4.10", tlv(0x0c, b"y"))];
    unsorted.sort();
    unsorted.reverse();
    let twice = [attribute("2.5.4.11", tlv(0x0c, b"a")), attribute("2.5.4.11", tlv(0x0c, b"b"))];

    for (what, subject, says) in [
        ("a CN of 65", common_name(&"x".repeat(65)), "64"),
        ("a country of three letters", name(&[("2.5.4.6", tlv(0x13, b"CHE"))]), "two letters"),
        ("an empty value", name(&[("2.5.4.10", tlv(0x0c, b""))]), "empty"),
        ("a line end", common_name("a\nb"), "U+000A"),
        ("an override of direction", common_name("a\u{202e}b"), "U+202E"),
        ("Latin-1 in a TeletexString", name(&[("2.5.4.3", tlv(0x14, b"K\xe4se"))]), "UTF8String"),
        ("half a BMPString", name(&[("2.5.4.3", tlv(0x1e, b"\0a\0"))]), "string"),
        ("no string", name(&[("2.5.4.3", tlv(0x04, b"x"))]), "string"),
        (
            "a phone number in letters",
            name(&[("2.5.4.20", tlv(0x0c, "Ä".as_bytes()))]),
            "Printable",
        ),
        (
            "a domain in one DC",
            name(&[("0.9.2342.19200300.100.1.25", tlv(0x16, b"example.test"))]),
            "a DC for each label",
        ),
        ("one type twice in an RDN", sequence(&[set(&twice)]), "twice"),
        ("an RDN out of order", sequence(&[set(&unsorted)]), "order"),
        ("an RDN of nothing", sequence(&[set(&[])]), "RDN"),
    ] {
        let (status, answer) = scene.connection.ask(&scene.csr(&subject, &[])?)?;

        assert_eq!((status, &answer["code"]), (400, &"bad_csr".into()), "{what}: {answer}");
        assert!(answer["message"].as_str().unwrap_or_default().contains(says), "{what}: {answer}");
    }
    Ok(())
}

#[test]
fn an_alternative_name_that_no_certificate_may_have_is_refused_by_its_rule() -> anyhow::Result<()> {
    let mut scene = Scene::start()?;
    let label = "a".repeat(64);
    let long = ["a"; 128].join(".");

    for (what, names, refused) in [
        ("a dot at the end", dns("a.example.test."), "400 bad_csr dot"),
        ("a label of 64", dns(&format!("{label}.test")), "400 bad_csr 63"),
        ("255 characters", dns(&long), "400 bad_csr 253"),
        ("a wildcard alone", dns("*"), "400 bad_csr wildcard"),
        ("a wildcard within", dns("a.*.example.test"), "400 bad_csr wildcard"),
        ("an address as a name", dns("192.0.2.1"), "400 bad_csr IP:"),
        ("a label that means none", dns("xn--a.example.test"), "400 bad_csr internationalised"),
        ("a blank", dns(" "), "400 bad_csr ' '"),
        ("five octets", tlv(0x87, &[1, 2, 3, 4, 5]), "400 bad_csr 4 or 16"),
        ("a mailbox with a name", tlv(0x81, b"Anna <a@b.test>"), "400 bad_csr address"),
        ("a relative URI", tlv(0x86, b"/a"), "400 bad_csr scheme"),
        ("a URI without a host", tlv(0x86, b"https:///a"), "400 bad_csr host"),
        ("an x400Address", tlv(0xa3, &[]), "400 bad_csr x400Address"),
        ("a directory name of nothing", tlv(0xa4, &sequence(&[])), "400 bad_csr RDN"),
        (
            "an account of nothing",
            other("1.3.6.1.4.1.311.20.2.3", &tlv(0x0c, b"")),
            "400 bad_csr user principal name",
        ),
        // What an otherName of another type says is for the signer to judge.
        (
            "a service without a host",
            other("1.3.6.1.5.5.7.8.7", &tlv(0x16, b"_x")),
            "422 policy_violation names.other-name",
        ),
    ] {
        let (status, answer) = scene.connection.ask(&scene.csr(&common_name("x"), &[names])?)?;

        let (code, says) = refused.split_once(' ').unwrap();
        let (word, says) = says.split_once(' ').unwrap();
        assert_eq!(
            (status.to_string().as_str(), &answer["code"]),
            (code, &word.into()),
            "{what}: {answer}"
        );
        assert!(answer.to_string().contains(says), "{what}: {answer}");
    }
    Ok(())
}
