//! A CA certificate from outside, installed on the operator's word.

use chancery_shared::wire::v1::InstallCaCertificate;

use super::*;

/// A root outside the signer that the operator trusts.
pub(crate) struct Anchor {
    key: SubjectKey,
    subject: Vec<u8>,
}

impl Anchor {
    /// A signer that trusts it, and a CA there that has its own certificate already.
    pub(crate) fn trusted() -> anyhow::Result<(Self, SignerHome, Peer, Ca)> {
        let anchor = Self { key: SubjectKey::generate()?, subject: common_name("Anchor") };
        let trust = ("anchors = []", "anchors = [\"config/anchor.pem\"]");
        let mut home = SignerHome::create(&[trust])?;
        let der = anchor.certificate(&anchor.subject, &anchor.key.spki, &anchor.key.point, 365)?;
        let pem = der::pem::encode_string("CERTIFICATE", der::pem::LineEnding::LF, &der)
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        let path = home.path().join("config/anchor.pem");
        std::fs::write(&path, pem)?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        home.start()?;
        let (mut peer, _) = Peer::connect(&home.socket())?;
        let ca = home.create_ca(&mut peer, "Key Root")?;
        Ok((anchor, home, peer, ca))
    }

    /// Asks to install a certificate of this anchor for the CA, which ends in so many days.
    pub(crate) fn install(&self, ca: &Ca, days: i64) -> anyhow::Result<Request> {
        Ok(Request::InstallCaCertificate(InstallCaCertificate {
            key_id: ca.key_id,
            chain: vec![Bytes(self.certificate(&ca.subject, &ca.spki, &ca.spki, days)?)],
            context: Context::default(),
        }))
    }

    fn certificate(
        &self,
        subject: &[u8],
        spki: &[u8],
        bits: &[u8],
        days: i64,
    ) -> anyhow::Result<Vec<u8>> {
        let signature = sequence(&[oid("1.2.840.10045.4.3.2")]);
        let end = now() + time::Duration::days(days);
        let tbs = Forged {
            version: context(0, &[integer(&[2])]),
            algorithm: signature,
            issuer: self.subject.clone(),
            not_before: forge::at(now() - time::Duration::days(30)),
            not_after: forge::at(end),
            subject: subject.to_vec(),
            spki: spki.to_vec(),
            before_extensions: Vec::new(),
            extensions: vec![
                plain(oids::AUTHORITY_KEY_IDENTIFIER, authority(&[1; 20])),
                plain(oids::SUBJECT_KEY_IDENTIFIER, octets(&forge::key_identifier(bits))),
                critical(oids::BASIC_CONSTRAINTS, sequence(&[boolean(true)])),
                critical(oids::KEY_USAGE, vec![3, 2, 1, 0x06]),
            ],
            trailing: Vec::new(),
            serial: Serial::Is(vec![0x41; 16]),
        };
        // A certificate has the form of a request: what is signed, the algorithm, the signature.
        self.key.request(&tbs.der(&[0; 40]))
    }
}

#[test]
fn a_second_certificate_from_outside_is_installed_once_the_operator_approves() -> anyhow::Result<()>
{
    let (anchor, home, mut peer, ca) = Anchor::trusted()?;

    let approval_id = parked(&mut peer, &anchor.install(&ca, 200)?)?;
    approve(&home, approval_id)?;

    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Approved { signature: None });
    Ok(())
}

#[test]
fn a_key_that_was_disabled_since_gets_no_certificate_installed() -> anyhow::Result<()> {
    let (anchor, home, mut peer, ca) = Anchor::trusted()?;
    let approval_id = parked(&mut peer, &anchor.install(&ca, 200)?)?;
    state(&mut peer, &Request::DisableKey(change(&ca)))?;

    let refused = home.operator(&operator::Request::Approve(Decision { approval_id }))?;

    assert!(matches!(&refused, Outcome::Refused(r) if r.code == RefusalCode::KeyState));
    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Expired);
    Ok(())
}

#[test]
fn a_certificate_that_has_ended_since_is_not_installed() -> anyhow::Result<()> {
    let (anchor, mut home, mut peer, ca) = Anchor::trusted()?;
    let approval_id = parked(&mut peer, &anchor.install(&ca, 200)?)?;
    home.stop()?;
    let ended = serde_json::to_value(anchor.install(&ca, -1)?)?;
    edit(&home, approval_id, |parked| parked["request"] = ended)?;
    home.start()?;

    let refused = home.operator(&operator::Request::Approve(Decision { approval_id }))?;

    let Outcome::Refused(refused) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.rule.as_deref(), Some("chain.validity"));
    let (mut peer, _) = Peer::connect(&home.socket())?;
    assert_eq!(fate(&mut peer, approval_id)?, ApprovalStatus::Expired);
    Ok(())
}
