//! Generated sets of alternative names of every kind, and what each must read as.

use std::net::Ipv6Addr;

use chancery_tests::forge::der::{oid, sequence, tlv};
use chancery_tests::forge::subject::name;

use super::random::Random;

/// One name: DER, as OpenSSL shows it, as the record shows it.
#[derive(Clone, Debug)]
pub(crate) struct Alternative {
    pub(crate) der: Vec<u8>,
    pub(crate) openssl: String,
    pub(crate) record: String,
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

/// Labels of internationalised names: Latin, Greek, Han, Arabic, an emoji.
const A_LABELS: [&str; 5] =
    ["xn--mnchen-3ya", "xn--hxajbheg2az3al", "xn--fiqs8s", "xn--mgbh0fb", "xn--z38h"];

/// One to twelve names, no host among them twice.
pub(crate) fn names(random: &mut Random) -> Vec<Alternative> {
    let mut names: Vec<Alternative> = Vec::new();
    for _ in 0..=random.below(12) {
        let one = name_of_any_kind(random);
        if !names.iter().any(|known| known.record.eq_ignore_ascii_case(&one.record)) {
            names.push(one);
        }
    }
    names
}

fn name_of_any_kind(random: &mut Random) -> Alternative {
    match random.below(12) {
        0 | 1 => dns(&host(random)),
        2 => dns(&format!("*.{}", host(random))),
        3 => dns(&format!("{}.{}.test", random.pick(&A_LABELS), random.pick(&A_LABELS))),
        4 => long_host(random),
        5 => address(random),
        6 => email(random),
        7 => uri(random),
        8 => user_principal_name(random),
        9 => other_name(random),
        10 => directory_name(random),
        _ => registered_id(random),
    }
}

fn label(random: &mut Random) -> String {
    let length = if random.one_in(8) { 63 } else { 1 + random.below(12) };
    let mut label = random.text(LETTERS, length);
    if random.one_in(6) && length > 2 {
        label.replace_range(1..2, "-");
    }
    label
}

fn host(random: &mut Random) -> String {
    let labels: Vec<_> = (0..=random.below(3)).map(|_| label(random)).collect();
    let host = format!("{}.example.test", labels.join("."));
    if random.one_in(4) { host.to_ascii_uppercase() } else { host }
}

fn text(tag: u8, kind: [&str; 2], text: &str) -> Alternative {
    Alternative {
        der: tlv(tag, text.as_bytes()),
        openssl: format!("{}:{text}", kind[0]),
        record: format!("{}:{text}", kind[1]),
    }
}

fn dns(host: &str) -> Alternative {
    text(0x82, ["DNS", "DNS"], host)
}

/// 253 characters, an underscore among them.
fn long_host(random: &mut Random) -> Alternative {
    let labels: Vec<_> = [63, 63, 63].iter().map(|length| random.text(LETTERS, *length)).collect();
    let rest = random.text(LETTERS, 253 - 3 * 64 - "_a..test".len());
    dns(&format!("_a.{}.{rest}.test", labels.join(".")))
}

fn address(random: &mut Random) -> Alternative {
    if random.one_in(2) {
        let octets: Vec<u8> = (0..4).map(|_| random.octet()).collect();
        let shown: Vec<_> = octets.iter().map(ToString::to_string).collect();
        let shown = shown.join(".");
        return Alternative {
            der: tlv(0x87, &octets),
            openssl: format!("IP Address:{shown}"),
            record: format!("IP:{shown}"),
        };
    }
    let zeros = random.below(14);
    let mut octets = [0; 16];
    for (at, octet) in octets.iter_mut().enumerate() {
        *octet = if at > 1 && at < 2 + zeros { 0 } else { random.octet() };
    }
    let address = Ipv6Addr::from(octets);
    let groups: Vec<_> = address.segments().iter().map(|group| format!("{group:X}")).collect();
    Alternative {
        der: tlv(0x87, &octets),
        openssl: format!("IP Address:{}", groups.join(":")),
        record: format!("IP:{address}"),
    }
}

fn email(random: &mut Random) -> Alternative {
    let local = random.pick(&["anna", "a.b", "a+b", "Anna.Muster", "!#$%&'*-/=?^_`{|}~", "x"]);
    text(0x81, ["email", "EMAIL"], &format!("{local}@{}", host(random)))
}

fn uri(random: &mut Random) -> Alternative {
    let host = host(random);
    let uri = match random.below(6) {
        0 => format!("https://{host}/a/b%20c?d=e,f&g#h"),
        1 => format!("ldap://anna@{host}:636/"),
        2 => "http://[2001:db8::1]:8080/x".to_owned(),
        3 => "http://192.0.2.1/".to_owned(),
        4 => format!("spiffe://{host}/ns/{}", random.text(LETTERS, 200)),
        _ => format!("urn:uuid:f81d4fae-7dec-11d0-a765-{}", random.text("0123456789abcdef", 12)),
    };
    text(0x86, ["URI", "URI"], &uri)
}

fn other(type_id: &str, value: &[u8]) -> Vec<u8> {
    tlv(0xa0, &[oid(type_id), tlv(0xa0, value)].concat())
}

fn user_principal_name(random: &mut Random) -> Alternative {
    let account = random.text(LETTERS, 8);
    let account = if random.one_in(4) { account } else { format!("{account}@{}", host(random)) };
    Alternative {
        der: other("1.3.6.1.4.1.311.20.2.3", &tlv(0x0c, account.as_bytes())),
        openssl: format!("othername: UPN::{account}"),
        record: format!("UPN:{account}"),
    }
}

fn other_name(random: &mut Random) -> Alternative {
    let host = host(random);
    let (type_id, value, openssl) = match random.below(3) {
        0 => {
            let service = format!("_xmpp-client.{host}");
            let value = tlv(0x16, service.as_bytes());
            ("1.3.6.1.5.5.7.8.7", value, format!("othername: SRVName::{service}"))
        }
        1 => {
            let mailbox = format!("jürgen@{}", host.to_ascii_lowercase());
            let value = tlv(0x0c, mailbox.as_bytes());
            ("1.3.6.1.5.5.7.8.9", value, format!("othername: SmtpUTF8Mailbox::{mailbox}"))
        }
        _ => {
            let octets: Vec<u8> = (0..random.below(40)).map(|_| random.octet()).collect();
            let value = sequence(&[tlv(4, &octets), tlv(5, &[])]);
            (
                "1.3.6.1.4.1.55555.7",
                value,
                "othername: 1.3.6.1.4.1.55555.7::<unsupported>".to_owned(),
            )
        }
    };
    let record = format!("OTHER:{type_id}:{}", hex::encode(&value));
    Alternative { der: other(type_id, &value), openssl, record }
}

fn directory_name(random: &mut Random) -> Alternative {
    let (organization, person) = (random.text(LETTERS, 20), random.text(LETTERS, 10));
    let der = name(&[
        ("2.5.4.6", tlv(0x13, b"CH")),
        ("2.5.4.10", tlv(0x0c, organization.as_bytes())),
        ("2.5.4.3", tlv(0x0c, person.as_bytes())),
    ]);
    Alternative {
        der: tlv(0xa4, &der),
        openssl: format!("DirName:/C=CH/O={organization}/CN={person}"),
        record: format!("DIRNAME:CN={person}, O={organization}, C=CH"),
    }
}

fn registered_id(random: &mut Random) -> Alternative {
    let dotted = format!("1.3.6.1.4.1.55555.{}.{}", random.below(100_000), random.below(3));
    let content = oid(&dotted).split_off(2);
    Alternative {
        der: tlv(0x88, &content),
        openssl: format!("Registered ID:{dotted}"),
        record: format!("RID:{dotted}"),
    }
}
