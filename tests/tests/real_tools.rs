//! Requests as the tools of others make them, each with habits of its own, are certified.

use std::path::PathBuf;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chancery_tests::Installation;
use chancery_tests::forge::der::{boolean, context, integer, octets, oid, sequence, set, tlv};
use chancery_tests::forge::subject::{SubjectKey, name};
use chancery_tests::forge::{dns, oids};
use chancery_tests::openssl::{Workbench, run};
use chancery_tests::reading;

/// Makes a request: the text that its user would paste.
type Make = fn(&Workbench) -> anyhow::Result<String>;

/// What each tool is and does, and the names that its request has, as OpenSSL shows them.
const REQUESTS: [(&str, Make, &str); 12] = [
    ("keytool, RSA", |bench| keytool(bench, &["-keyalg", "RSA", "-keysize", "2048"]), KEYTOOLS),
    (
        "keytool, EC",
        |bench| keytool(bench, &["-keyalg", "EC", "-groupname", "secp384r1"]),
        KEYTOOLS,
    ),
    ("keytool, Ed25519", |bench| keytool(bench, &["-keyalg", "Ed25519"]), KEYTOOLS),
    ("certtool, RSA", |bench| certtool(bench, &["--key-type", "rsa", "--bits", "3072"]), CERTTOOLS),
    (
        "certtool, EC",
        |bench| certtool(bench, &["--key-type", "ecdsa", "--curve", "secp256r1"]),
        CERTTOOLS,
    ),
    ("certtool, Ed25519", |bench| certtool(bench, &["--key-type", "ed25519"]), CERTTOOLS),
    ("certutil, RSA", |bench| certutil(bench, &["-k", "rsa", "-g", "2048"]), CERTUTILS),
    ("certutil, EC", |bench| certutil(bench, &["-k", "ec", "-q", "nistp256"]), CERTUTILS),
    (
        "openssl, a configuration",
        configured,
        "DNS:openssl.example.test, IP Address:2001:DB8:0:0:0:0:0:1",
    ),
    ("openssl, -addext", added, "DNS:openssl.example.test, URI:https://openssl.example.test/"),
    ("openssl, no names but the subject's", bare, ""),
    ("certreq", certreq, "DNS:iis.example.test, DNS:iis"),
];

const KEYTOOLS: &str = "DNS:java.example.test, IP Address:192.0.2.1, email:java@example.test, URI:https://java.example.test/a";
const CERTTOOLS: &str = "DNS:gnutls.example.test, DNS:*.gnutls.example.test, IP Address:192.0.2.2, email:gnutls@example.test";
const CERTUTILS: &str = "DNS:nss.example.test, DNS:www.nss.example.test";

#[test]
fn the_requests_of_real_tools_become_certificates_that_openssl_accepts() -> anyhow::Result<()> {
    let installation = Installation::start();
    let administrator = installation.administrator();
    let (root, chain) = (installation.root_pem(), administrator.chain(chancery_tests::ISSUER)?);
    let mut wrong = Vec::new();

    for (tool, make, names) in REQUESTS {
        let bench = Workbench::new()?;
        let certify = || {
            let csr = make(&bench)?;
            let issued = administrator.request(&csr)?;
            bench.verify(&issued.pem, &chain, &root)?;
            let asked = reading::request(&bench, csr.as_bytes())?;
            let made = reading::certificate(&bench, &issued.pem)?;
            anyhow::ensure!(made.subject == asked.subject, "{} is {}", asked.subject, made.subject);
            anyhow::ensure!(made.key == asked.key, "the key is another one");
            anyhow::ensure!(made.names.join(", ") == names, "the names are {:?}", made.names);
            Ok(())
        };
        wrong.extend(certify().err().map(|error: anyhow::Error| format!("{tool}: {error:#}")));
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Java's: subject and names on the command line, CRLF, `NEW CERTIFICATE REQUEST`.
fn keytool(bench: &Workbench, key: &[&str]) -> anyhow::Result<String> {
    let names = "SAN=dns:java.example.test,ip:192.0.2.1,email:java@example.test,\
                 uri:https://java.example.test/a";
    let keytool = |command: &str| {
        let mut keytool = Command::new("keytool");
        keytool.args([command, "-storetype", "PKCS12", "-storepass", "changeit", "-alias", "a"]);
        keytool.arg("-keystore").arg(bench.path("keys.p12"));
        keytool
    };
    let subject = "CN=java.example.test, OU=\"Java, and more\", O=Example, C=CH";
    run(keytool("-genkeypair").args(["-dname", subject]).args(key))?;
    run(keytool("-certreq").args(["-ext", names, "-ext", "EKU=serverAuth"]))
}

/// GnuTLS': a template; what it writes has a description in front of the PEM.
fn certtool(bench: &Workbench, key: &[&str]) -> anyhow::Result<String> {
    let template = "cn = \"gnutls.example.test\"\norganization = \"Exämple\"\ncountry = CH\n\
                    dns_name = \"gnutls.example.test\"\ndns_name = \"*.gnutls.example.test\"\n\
                    ip_address = \"192.0.2.2\"\nemail = \"gnutls@example.test\"\n\
                    challenge_password = secret\nsigning_key\ntls_www_server\n";
    let template = bench.write("template", template.as_bytes())?;
    let (private, request) = (bench.path("key.pem"), bench.path("request.pem"));
    run(Command::new("certtool")
        .arg("--generate-privkey")
        .args(key)
        .arg("--outfile")
        .arg(&private))?;
    let mut certtool = Command::new("certtool");
    certtool.args(["--generate-request", "--load-privkey"]).arg(private);
    run(certtool.arg("--template").arg(template).arg("--outfile").arg(&request))?;
    Ok(std::fs::read_to_string(request)?)
}

/// NSS': a key in a database; what it writes begins with a form to send by post.
fn certutil(bench: &Workbench, key: &[&str]) -> anyhow::Result<String> {
    let database: PathBuf = bench.path("nss");
    std::fs::create_dir(&database)?;
    let noise = bench.write("noise", &[b'n'; 64])?;
    let request = bench.path("request.pem");
    let certutil = || {
        let mut certutil = Command::new("certutil");
        certutil.arg("-d").arg(format!("sql:{}", database.display()));
        certutil
    };
    run(certutil().args(["-N", "--empty-password"]))?;
    let mut ask = certutil();
    ask.args(["-R", "-a", "-s", "CN=nss.example.test,OU=NSS,O=Example,C=CH"]).args(key);
    ask.args(["-8", "nss.example.test,www.nss.example.test", "-z"]).arg(noise);
    run(ask.arg("-o").arg(&request))?;
    Ok(std::fs::read_to_string(request)?)
}

/// A configuration file, as most guides have it: names, a challenge password, usages, no CA.
fn configured(bench: &Workbench) -> anyhow::Result<String> {
    let configuration = "[req]\nprompt = no\ndistinguished_name = dn\nattributes = more\n\
        req_extensions = ext\nstring_mask = utf8only\n\
        [dn]\nC = CH\nST = Zürich\nL = Zürich\nO = Exämple, Ltd\nOU = IT\nCN = openssl.example.test\n\
        emailAddress = pki@example.test\n\
        [more]\nchallengePassword = secret\nunstructuredName = A name\n\
        [ext]\nsubjectAltName = @names\nbasicConstraints = CA:FALSE\n\
        keyUsage = critical, digitalSignature, keyEncipherment\nextendedKeyUsage = serverAuth\n\
        subjectKeyIdentifier = hash\n\
        [names]\nDNS.1 = openssl.example.test\nIP.1 = 2001:db8::1\n";
    let configuration = bench.write("request.cnf", configuration.as_bytes())?;
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-new", "-utf8", "-newkey", "rsa:2048", "-nodes", "-keyout"]);
    run(openssl.arg(bench.path("key.pem")).arg("-config").arg(configuration))
}

fn added(bench: &Workbench) -> anyhow::Result<String> {
    let names = "DNS:openssl.example.test,URI:https://openssl.example.test/";
    bench.fresh_request("/C=CH/O=Example/OU=A+UID=7/CN=openssl.example.test", names)
}

fn bare(bench: &Workbench) -> anyhow::Result<String> {
    bench.fresh_request("/DC=test/DC=example/CN=openssl.example.test", "")
}

/// Windows': Microsoft's attributes, the extensions under its own number, `NEW` in the armour, CRLF.
fn certreq(_: &Workbench) -> anyhow::Result<String> {
    let key = SubjectKey::generate()?;
    let subject = name(&[
        ("2.5.4.6", tlv(0x13, b"CH")),
        ("2.5.4.10", tlv(0x13, b"Example")),
        ("2.5.4.3", tlv(0x13, b"iis.example.test")),
    ]);
    let wide: Vec<u8> = "Microsoft Software Key Storage Provider"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let extension = |id: &str, critical: bool, value: &[u8]| {
        let critical = if critical { boolean(true) } else { Vec::new() };
        sequence(&[oid(id), critical, octets(value)])
    };
    let extensions = sequence(&[
        extension(oids::KEY_USAGE, true, &[3, 2, 5, 0xa0]),
        extension(oids::EXT_KEY_USAGE, false, &sequence(&[oid(oids::SERVER_AUTH)])),
        extension(oids::SUBJECT_ALT_NAME, false, &sequence(&[dns("iis.example.test"), dns("iis")])),
        // The capabilities of S/MIME, which no profile has.
        extension("1.2.840.113549.1.9.15", false, &sequence(&[])),
    ]);
    let attribute = |id: &str, value: Vec<u8>| sequence(&[oid(id), set(&[value])]);
    let mut attributes = vec![
        attribute("1.3.6.1.4.1.311.13.2.3", tlv(0x16, b"10.0.20348.2")),
        attribute(
            "1.3.6.1.4.1.311.21.20",
            sequence(&[
                integer(&[9]),
                tlv(0x0c, b"iis.example.test"),
                tlv(0x0c, b"EXAMPLE\\anna"),
                tlv(0x0c, b"certreq.exe"),
            ]),
        ),
        attribute(
            "1.3.6.1.4.1.311.13.2.2",
            sequence(&[integer(&[1]), tlv(0x1e, &wide), tlv(3, &[0])]),
        ),
        attribute("1.3.6.1.4.1.311.2.1.14", extensions),
    ];
    attributes.sort();
    let info = sequence(&[integer(&[0]), subject, key.spki.clone(), context(0, &attributes)]);
    let digits = STANDARD.encode(key.request(&info)?);
    let lines: Vec<_> = digits.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    let label = "NEW CERTIFICATE REQUEST-----\r\n";
    Ok(format!("-----BEGIN {label}{}\r\n-----END {label}", lines.join("\r\n")))
}
