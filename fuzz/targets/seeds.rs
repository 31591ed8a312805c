//! Writes the inputs that each target begins with into `CHANCERY_FUZZ_SEEDS/<target>`, from the hard
//! cases in `CHANCERY_FUZZ_CASES`. Nothing is fuzzed here: it is a target because the counters in
//! all crates need libFuzzer around them. `-runs=0` ends it.
#![no_main]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use chancery_fuzz::der::children;
use chancery_fuzz::draft::{KINDS, judge};
use der::Decode as _;
use der::asn1::AnyRef;
use libfuzzer_sys::fuzz_target;

/// DN strings as people type them; the subjects of the cases are DER.
const DN_TEXTS: [&str; 8] = [
    "CN=www.example.test, O=Example\\, Ltd, C=CH",
    "cn = \"a, b\" ; o=c+ou=d",
    "OID.2.5.4.3=#0c0161,1.3.6.1.4.1.55555.4=x",
    "CN=\\C3\\A4\\ ,DC=example,DC=test",
    "emailAddress=a@example.test,UID=7+serialNumber=12 34",
    "C=DE,ST=\\#x,L=\\\\,STREET=\\ a\\ ",
    "jurisdictionC=CH,organizationIdentifier=VATCH-1",
    "CN=K\u{e4}se\u{1f63a}",
];

/// Alternative names as people type them.
const NAMES: [&str; 8] = [
    "DNS:*.example.test",
    "dns : m\u{fc}nchen.example.test",
    "IP:192.0.2.1",
    "IP:2001:db8::1",
    "EMAIL:a.b+c@example.test",
    "URI:https://u@[2001:db8::1]:8443/a%20b?c#d",
    "URI:urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "UPN:anna@example.test",
];

/// Searches as clients and old scripts make them.
const SEARCHES: [&str; 6] = [
    r#"{"subjectDn":"(?i)^CN=www.example.test, O=Example$","status":"Active"}"#,
    r#"{"subjectDn":"^CN=.*(api|db)-\\d+\\.example","issuerDn":"C=CH"}"#,
    r#"{"subjectDn":"CN=a\\ \\#b","commonName":"www","extraInfo":"rack 12"}"#,
    r#"{"san":"DNS:*.example.test","validToTo":"2026-11-27T22:37:28.000+00:00"}"#,
    r#"{"serialNumber":"00:AB","thumbprint":"aa","validFromFrom":"2026-11-27 22:37"}"#,
    r#"{"expiringInDays":30,"certsPerPage":10,"after":"7","teamName":"Default"}"#,
];

fuzz_target!(
    init: write().unwrap(),
    |_input: &[u8]| {}
);

fn write() -> Result<(), Box<dyn Error>> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).ok_or(name);
    let (cases, out) = (folder("CHANCERY_FUZZ_CASES")?, folder("CHANCERY_FUZZ_SEEDS")?);
    let seeds = Seeds { out };
    for folder in fs::read_dir(cases)? {
        let folder = folder?.path();
        if folder.is_dir() {
            for file in fs::read_dir(&folder)? {
                seeds.of_case(&file?.path())?;
            }
        }
    }
    for (i, text) in DN_TEXTS.into_iter().enumerate() {
        seeds.put("dn_text", &format!("typed-{i}"), text.as_bytes())?;
    }
    for (i, text) in NAMES.into_iter().enumerate() {
        seeds.put("subject_alt_names", &format!("typed-{i}"), text.as_bytes())?;
    }
    for (i, body) in SEARCHES.into_iter().enumerate() {
        seeds.put("search", &i.to_string(), body.as_bytes())?;
    }
    for (choice, kind) in (0_u8..).zip(KINDS) {
        for (number, part) in (0_u8..).zip(kind.parts()) {
            // An unsound beginning would keep every input from what lies behind the first rules.
            assert!(judge(kind, &kind.with_part(number.into(), &part), false), "{kind:?} {number}");
            for choice in [choice, choice | 0x80] {
                let seed = [&[choice, number], part.as_slice()].concat();
                seeds.put("policy", &format!("{choice}-{number}"), &seed)?;
            }
        }
    }
    seeds.frames()
}

struct Seeds {
    out: PathBuf,
}

impl Seeds {
    fn put(&self, target: &str, name: &str, seed: &[u8]) -> Result<(), Box<dyn Error>> {
        let folder = self.out.join(target);
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join(name), seed)?)
    }

    /// What a case holds, to each reader that may see it.
    fn of_case(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read(path)?;
        let Ok(pem) = pem::parse(&text) else { return self.put("csr", &name, &text) };
        let der = pem.contents();
        if name.contains(".cert.") {
            self.put("record", &name, der)?;
            let tbs = children(der).into_iter().next().unwrap_or_default();
            self.put("policy", &name, &[&[0, u8::MAX], tbs.as_slice()].concat())?;
            return self.put("policy", &format!("{name}-whole"), &[&[1, u8::MAX], der].concat());
        }
        self.put("csr", &name, &text)?;
        self.put("csr", &format!("{name}-der"), der)?;
        let info = children(der).into_iter().next().unwrap_or_default();
        let fields = children(&info);
        let subject = fields.get(1).cloned().unwrap_or_default();
        self.put("policy", &format!("{name}-subject"), &[&[0, 0], subject.as_slice()].concat())?;
        let key = fields.get(2).cloned().unwrap_or_default();
        self.put("policy", &format!("{name}-key"), &[&[0, 1], key.as_slice()].concat())?;
        for names in alternative_names(&info).unwrap_or_default() {
            self.put("subject_alt_names", &name, &names)?;
            self.put("policy", &format!("{name}-names"), &[&[0, 7], names.as_slice()].concat())?;
        }
        Ok(())
    }

    fn frames(&self) -> Result<(), Box<dyn Error>> {
        let bodies = [
            r#"{"version":1,"id":1,"body":{"hello":{"journalHeads":[]}}}"#,
            r#"{"version":1,"id":2,"body":{"approval-status":{"approvalId":"0123456789abcdef01234567"}}}"#,
            "",
        ];
        for (i, body) in bodies.iter().enumerate() {
            let frame = chancery_shared::frame::encode(body.as_bytes())?;
            self.put("frame", &i.to_string(), &frame)?;
            self.put("frame", &format!("{i}-twice"), &frame.repeat(2))?;
        }
        self.put("frame", "too-long", &[0, 4, 0, 1, 0])
    }
}

/// The values of subjectAltName extensions, wherever they stand: what follows their identifier.
fn alternative_names(der: &[u8]) -> der::Result<Vec<Vec<u8>>> {
    const IDENTIFIER: [u8; 5] = [6, 3, 0x55, 0x1d, 0x11];
    let mut found = Vec::new();
    for inner in children(der) {
        if inner.starts_with(&[0x30])
            && children(&inner).first().is_some_and(|id| *id == IDENTIFIER)
        {
            let octets = children(&inner).pop().unwrap_or_default();
            let octets = AnyRef::from_der(&octets)?;
            found.push(octets.value().to_vec());
        } else if matches!(inner.first(), Some(0x30 | 0x31 | 0xa0)) {
            found.extend(alternative_names(&inner)?);
        }
    }
    Ok(found)
}
