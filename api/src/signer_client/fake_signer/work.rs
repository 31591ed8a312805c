//! What the fake does with a request that it serves.

use std::collections::BTreeMap;

use aws_lc_rs::rand;
use chancery_shared::bytes::{Bytes, ConnectionNonce, SerialNonce};
use chancery_shared::csr::Csr;
use chancery_shared::id::{ApprovalId, Id, KeyId, SignerId};
use chancery_shared::wire::algorithm::KeyAlgorithm;
use chancery_shared::wire::journal::{Event, Intent};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{
    ApprovalStatus, HelloReply, JournalPart, KeyChanged, KeyState, Pending, Reply, Request, Sealed,
    Signed, TokenState, TokenSummary, Unsealed,
};
use chancery_shared::wire::{Context, JournalHead, Outcome, Refusal, RefusalCode};

use super::key_work::Key;
use super::{FakeJournal, refusal};

/// Keys, tokens, journal and settings of the fake.
pub(crate) struct Signer {
    pub(crate) journal: FakeJournal,
    pub(crate) tokens: Vec<TokenSummary>,
    pub(crate) halted: Option<Refusal>,
    pub(crate) keys: Vec<Key>,
    /// What the operator allows.
    pub(crate) ceiling: Policy,
    /// Whether CA certificates wait for approval.
    pub(crate) approve_cas: bool,
    pub(crate) approve_destroys: bool,
    pub(crate) approvals: BTreeMap<ApprovalId, ApprovalStatus>,
    parked: BTreeMap<ApprovalId, (String, Asked)>,
}

/// The parts of a signing request.
struct Asked {
    key_id: KeyId,
    tbs: Bytes,
    csr: Option<Bytes>,
    serial_nonce: SerialNonce,
    context: Context,
}

pub(super) type Answer = (Option<JournalHead>, Outcome<Reply>);

impl Signer {
    pub(super) fn new() -> Self {
        let token = TokenSummary {
            name: "local".into(),
            model: "SoftHSM v2".into(),
            serial: "0123456789abcdef".into(),
            state: TokenState::Ok,
            message: String::new(),
            key_algorithms: KeyAlgorithm::ALL.to_vec(),
            used_keys: 0,
            max_keys: 100,
            unknown_keys: 0,
        };
        let now = time::macros::datetime!(2026-11-28 02:00 UTC);
        Self {
            journal: FakeJournal::new(new_id::<chancery_shared::id::kind::Signer>(), now),
            tokens: vec![token],
            halted: None,
            keys: Vec::new(),
            ceiling: Policy::shipped(),
            approve_cas: false,
            approve_destroys: false,
            approvals: BTreeMap::new(),
            parked: BTreeMap::new(),
        }
    }

    /// Which signer this is.
    pub(crate) fn id(&self) -> SignerId {
        self.journal.signer_id
    }

    /// Sets the clock of the journal.
    pub(crate) fn set_time(&mut self, now: time::OffsetDateTime) {
        self.journal.now = now;
    }

    /// As the operator would.
    pub(crate) fn approve(&mut self, id: ApprovalId) {
        let (operation, asked) = self.parked.remove(&id).unwrap();
        let (_, outcome) = self.sign(&operation, asked, Some(id));
        let Outcome::Done(Reply::Signed(Signed { signature })) = outcome else { panic!() };
        self.approvals.insert(id, ApprovalStatus::Approved { signature: Some(signature) });
    }

    pub(super) fn serve(&mut self, request: Request, nonce: ConnectionNonce) -> Answer {
        match request {
            Request::Hello(_) => (None, Outcome::Done(Reply::Hello(Box::new(self.hello(nonce))))),
            Request::CreateCaKey(create) => self.create(create),
            Request::SignCertificate(r) => {
                let (key_id, tbs, context) = (r.key_id, r.tbs, r.context);
                let csr = Some(r.csr);
                let asked = Asked { key_id, tbs, csr, serial_nonce: r.serial_nonce, context };
                self.ask("sign-certificate", asked, nonce, false)
            }
            Request::SignOwnCertificate(r) => {
                let (key_id, tbs, context) = (r.key_id, r.tbs, r.context);
                let asked = Asked { key_id, tbs, csr: None, serial_nonce: r.serial_nonce, context };
                self.ask("sign-own-certificate", asked, nonce, false)
            }
            Request::SignCaCertificate(r) => {
                let (key_id, tbs, context) = (r.key_id, r.tbs, r.context);
                let csr = r.csr;
                let asked = Asked { key_id, tbs, csr, serial_nonce: r.serial_nonce, context };
                self.ask("sign-ca-certificate", asked, nonce, self.approve_cas)
            }
            Request::InstallCaCertificate(install) => done(
                self.journal.head(),
                Reply::KeyChanged(KeyChanged { state: self.key(install.key_id).summary.state }),
            ),
            Request::DisableKey(change) => self.change(change, KeyState::Disabled),
            Request::EnableKey(change) => self.change(change, KeyState::Live),
            Request::DestroyKey(_) if self.approve_destroys => {
                let id = new_id();
                self.approvals.insert(id, ApprovalStatus::Waiting);
                done(self.journal.head(), Reply::Pending(Pending { approval_id: id }))
            }
            Request::DestroyKey(change) => self.change(change, KeyState::Destroyed),
            Request::ApprovalStatus(query) => match self.approvals.get(&query.approval_id) {
                Some(status) => (None, Outcome::Done(Reply::Approval(status.clone()))),
                None => (None, Outcome::Refused(refusal(RefusalCode::UnknownApproval))),
            },
            Request::Seal(seal) => done(
                self.journal.head(),
                Reply::Sealed(Sealed { blob: Bytes(seal.bytes.expose().to_vec()) }),
            ),
            Request::Unseal(unseal) => {
                done(self.journal.head(), Reply::Unsealed(Unsealed { bytes: unseal.blob.0.into() }))
            }
            Request::ReadJournal(read) => {
                let entries = self.journal.read(read.after);
                (None, Outcome::Done(Reply::Journal(JournalPart { entries })))
            }
        }
    }

    fn hello(&self, connection_nonce: ConnectionNonce) -> HelloReply {
        HelloReply {
            signer_id: self.journal.signer_id,
            boot_id: "boot".into(),
            connection_nonce,
            journal_head: Some(self.journal.head()),
            halted: self.halted.clone(),
            tokens: self.tokens.clone(),
            keys: self.keys.iter().map(|key| key.summary.clone()).collect(),
            ceiling: self.ceiling.clone(),
            destroy_awaits_operator: self.approve_destroys,
        }
    }

    fn ask(
        &mut self,
        operation: &str,
        asked: Asked,
        nonce: ConnectionNonce,
        needs_approval: bool,
    ) -> Answer {
        let policy = |rule: &str| {
            let no = Refusal { rule: Some(rule.into()), ..refusal(RefusalCode::PolicyViolation) };
            (None, Outcome::Refused(no))
        };
        if asked.serial_nonce.0[..16] != nonce.0 {
            return policy("serial.nonce");
        }
        let unproven =
            |csr: &Bytes| Csr::from_der(&csr.0).is_ok_and(|csr| csr.verify_possession().is_err());
        if asked.csr.as_ref().is_some_and(unproven) {
            return policy("csr.possession");
        }
        let Some(key) = self.keys.iter().find(|key| key.summary.key_id == asked.key_id) else {
            return (None, Outcome::Refused(refusal(RefusalCode::UnknownKey)));
        };
        if key.summary.state != KeyState::Live {
            return (None, Outcome::Refused(refusal(RefusalCode::KeyState)));
        }
        if needs_approval {
            let id = new_id();
            let head = self.journal.append(Event::Parked {
                approval_id: id,
                operation: operation.into(),
                key_id: asked.key_id,
                tbs_hash: None,
                context: asked.context.clone(),
            });
            self.approvals.insert(id, ApprovalStatus::Waiting);
            self.parked.insert(id, (operation.into(), asked));
            return done(head, Reply::Pending(Pending { approval_id: id }));
        }
        self.sign(operation, asked, None)
    }

    fn sign(&mut self, operation: &str, asked: Asked, approval: Option<ApprovalId>) -> Answer {
        let key_id = asked.key_id;
        let signature = self.key(key_id).pair.sign(&asked.tbs.0);
        self.install(operation, &asked.tbs.0);
        let serial_number = serial_number(&asked.tbs.0);
        let intent = self.journal.append(Event::Intent(Box::new(Intent {
            operation: operation.into(),
            key_id,
            tbs: asked.tbs,
            csr: asked.csr,
            serial_nonce: asked.serial_nonce,
            approval_id: approval,
            context: asked.context,
        })));
        let head = self.journal.append(Event::Signed {
            intent: intent.seq,
            key_id,
            serial_number,
            signature: signature.clone().into(),
        });
        done(head, Reply::Signed(Signed { signature: signature.into() }))
    }
}

pub(super) fn done(head: JournalHead, reply: Reply) -> Answer {
    (Some(head), Outcome::Done(reply))
}

/// The serial of a TBS that starts with version and serial; of anything else its length.
fn serial_number(tbs: &[u8]) -> String {
    use der::{Decode as _, Reader as _};
    let content = der::asn1::AnyRef::from_der(tbs).ok().map(|any| any.value().to_vec());
    let serial = content.and_then(|content| {
        let mut reader = der::SliceReader::new(&content).ok()?;
        reader.tlv_bytes().ok()?;
        let serial = der::asn1::UintRef::decode(&mut reader).ok()?;
        Some(hex::encode(serial.as_bytes()))
    });
    serial.unwrap_or_else(|| format!("{:02x}", tbs.len()))
}

pub(super) fn new_id<Kind>() -> Id<Kind> {
    let mut bytes = [0; 12];
    rand::fill(&mut bytes).unwrap();
    Id::from_bytes(bytes)
}
