//! One GeneralSubtree, and how names of its kind lie to it.

use std::net::IpAddr;

use x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use x509_cert::ext::pkix::name::GeneralName;

use super::Constrained;
use crate::policy::names::alternative_name::AlternativeName as Name;
use crate::policy::names::distinguished_name::DistinguishedName;
use crate::policy::names::host_name::HostName;
use crate::policy::names::mailbox::Mailbox;

/// What a subtree says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It speaks of names of another kind.
    OtherKind,
    Outside,
    Within,
    /// It speaks of names of this kind in a way that can't be judged.
    NotUnderstood,
}

/// The base of a subtree; its distances must be those of RFC 5280, 0 and absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subtree {
    /// Lower-case; empty for all names. A leading dot, which RFC 5280 does not know here, is
    /// taken as its users mean it: names below, not the domain itself.
    Dns(String),
    Email(EmailScope),
    /// Of the URI's host: exactly this one, or, with a leading dot, those below it.
    Uri(String),
    Ip {
        address: Vec<u8>,
        mask: Vec<u8>,
    },
    Directory(DistinguishedName),
    /// A subtree that can't be judged, of names of this kind.
    Unjudged(Kind),
}

/// RFC 5280, section 4.2.1.10: one mailbox, all of one host, or all below a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EmailScope {
    Mailbox(Mailbox),
    Host(String),
    Below(String),
}

/// The kinds of GeneralName.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dns,
    Email,
    Uri,
    Ip,
    Directory,
    Other,
    RegisteredId,
    /// Of kinds that this signer certifies nowhere.
    Never,
}

impl Subtree {
    pub(super) fn read(raw: &GeneralSubtree) -> Self {
        let (kind, subtree) = Self::base(&raw.base);
        match subtree {
            Some(subtree) if raw.minimum == 0 && raw.maximum.is_none() => subtree,
            _ => Self::Unjudged(kind),
        }
    }

    fn base(base: &GeneralName) -> (Kind, Option<Self>) {
        match base {
            GeneralName::DnsName(text) => (Kind::Dns, domain(text.as_str()).map(Self::Dns)),
            GeneralName::Rfc822Name(text) => (Kind::Email, email(text.as_str()).map(Self::Email)),
            GeneralName::UniformResourceIdentifier(text) => {
                let host = domain(text.as_str()).filter(|host| !host.is_empty());
                (Kind::Uri, host.map(Self::Uri))
            }
            GeneralName::IpAddress(octets) => (Kind::Ip, network(octets.as_bytes())),
            GeneralName::DirectoryName(name) => {
                let name = der::Encode::to_der(name).ok();
                let name = name.and_then(|der| DistinguishedName::read(&der).ok());
                (Kind::Directory, name.map(Self::Directory))
            }
            GeneralName::OtherName(_) => (Kind::Other, None),
            GeneralName::RegisteredId(_) => (Kind::RegisteredId, None),
            GeneralName::EdiPartyName(_) => (Kind::Never, None),
        }
    }

    /// Whether every reader understands it alike.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::Dns(domain) => !domain.starts_with('.'),
            Self::Ip { address, mask } => {
                address.iter().zip(mask).all(|(address, mask)| address & !mask == 0)
            }
            Self::Email(_) | Self::Uri(_) | Self::Directory(_) => true,
            Self::Unjudged(_) => false,
        }
    }

    /// Whether it speaks of hosts, their addresses or mailboxes at them.
    pub(super) fn is_of_hosts(&self) -> bool {
        match self {
            Self::Dns(_) | Self::Email(_) | Self::Ip { .. } => true,
            Self::Unjudged(kind) => matches!(kind, Kind::Dns | Kind::Email | Kind::Ip),
            Self::Uri(_) | Self::Directory(_) => false,
        }
    }

    /// Whether all that the name stands for lies within.
    pub(super) fn judge_permitted(&self, name: Constrained<'_>) -> Judgement {
        self.judge(name, |host, domain| match domain.strip_prefix('.') {
            Some(domain) => host.is_below(domain),
            None => domain.is_empty() || host.is_within(domain),
        })
    }

    /// Whether anything that the name stands for lies within: a wildcard stands for many hosts.
    pub(super) fn judge_excluded(&self, name: Constrained<'_>) -> Judgement {
        self.judge(name, |host, domain| {
            let domain = domain.strip_prefix('.').unwrap_or(domain);
            domain.is_empty() || host.may_be_within(domain)
        })
    }

    fn judge(
        &self,
        name: Constrained<'_>,
        dns_within: impl Fn(&HostName, &str) -> bool,
    ) -> Judgement {
        let mailbox = mailbox(name);
        let is_within = match (self, name) {
            (Self::Unjudged(kind), name) => {
                let is_concerned =
                    kind_of(name) == *kind || *kind == Kind::Email && mailbox.is_some();
                return if is_concerned { Judgement::NotUnderstood } else { Judgement::OtherKind };
            }
            (Self::Dns(domain), Constrained::Alternative(Name::Dns(host))) => {
                dns_within(host, domain)
            }
            (Self::Email(scope), _) => match mailbox {
                Some(mailbox) => scope.holds(mailbox),
                None => return Judgement::OtherKind,
            },
            (Self::Uri(domain), Constrained::Alternative(Name::Uri(uri))) => {
                // RFC 5280: a URI whose host is no name can't be judged and must be refused.
                let Some(host) = uri.host_name() else { return Judgement::NotUnderstood };
                domain.strip_prefix('.').map_or(host.is(domain), |domain| host.is_below(domain))
            }
            (Self::Ip { address, mask }, Constrained::Alternative(Name::Ip(ip))) => {
                is_in_network(*ip, address, mask)
            }
            (Self::Directory(base), Constrained::Directory(name)) => name.is_within(base),
            _ => return Judgement::OtherKind,
        };
        if is_within { Judgement::Within } else { Judgement::Outside }
    }
}

impl EmailScope {
    fn holds(&self, mailbox: &Mailbox) -> bool {
        match self {
            Self::Mailbox(only) => only == mailbox,
            Self::Host(host) => mailbox.host.is(host),
            Self::Below(domain) => mailbox.host.is_below(domain),
        }
    }
}

fn mailbox(name: Constrained<'_>) -> Option<&Mailbox> {
    match name {
        Constrained::Alternative(Name::Email(mailbox)) => Some(mailbox),
        Constrained::Alternative(Name::Other(name)) => name.mailbox(),
        _ => None,
    }
}

fn kind_of(name: Constrained<'_>) -> Kind {
    match name {
        Constrained::Directory(_) => Kind::Directory,
        Constrained::Alternative(name) => match name {
            Name::Dns(_) => Kind::Dns,
            Name::Ip(_) => Kind::Ip,
            Name::Email(_) => Kind::Email,
            Name::Uri(_) => Kind::Uri,
            Name::Other(_) => Kind::Other,
            Name::Directory(_) => Kind::Directory,
            Name::RegisteredId(_) => Kind::RegisteredId,
        },
    }
}

/// A host name, with a leading dot or not, or nothing; lower-case.
fn domain(text: &str) -> Option<String> {
    let host = text.strip_prefix('.').unwrap_or(text);
    let is_domain = text.is_empty() || HostName::read_single(host).is_some();
    is_domain.then(|| text.to_ascii_lowercase())
}

fn email(text: &str) -> Option<EmailScope> {
    if text.contains('@') {
        return Mailbox::read(text).map(EmailScope::Mailbox);
    }
    let scope = domain(text).filter(|domain| !domain.is_empty())?;
    Some(match scope.strip_prefix('.') {
        Some(domain) => EmailScope::Below(domain.to_owned()),
        None => EmailScope::Host(scope),
    })
}

/// RFC 5280: address and mask, in the style of RFC 4632, so the mask is contiguous.
fn network(octets: &[u8]) -> Option<Subtree> {
    if octets.len() != 8 && octets.len() != 32 {
        return None;
    }
    let (address, mask) = octets.split_at_checked(octets.len() / 2)?;
    let ones: u32 = mask.iter().map(|byte| byte.leading_ones()).take_while(|n| *n == 8).sum();
    let mut rest = mask.iter().skip(ones as usize / 8);
    let is_contiguous =
        rest.next().is_none_or(|byte| byte.leading_ones() + byte.trailing_zeros() >= 8)
            && rest.all(|byte| *byte == 0);
    is_contiguous.then(|| Subtree::Ip { address: address.to_vec(), mask: mask.to_vec() })
}

fn is_in_network(ip: IpAddr, address: &[u8], mask: &[u8]) -> bool {
    let octets = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    octets.len() == address.len()
        && octets.iter().zip(address).zip(mask).all(|((ip, net), mask)| ip & mask == net & mask)
}
