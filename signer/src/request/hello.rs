//! `hello`: who the signer is, what it has, and whether the API has seen a longer journal.

use chancery_shared::wire::v1::{Hello, HelloReply, Reply};

use super::Answer;
use crate::config::KeyChangeRule;
use crate::policy::ConnectionSerials;
use crate::signer::Signer;

/// More heads than there can be signers of one installation say nothing new.
const MAX_HEADS: usize = 64;

pub(super) async fn hello(
    signer: &Signer,
    connection: &ConnectionSerials,
    hello: &Hello,
) -> Answer {
    super::RequestError::check_size("journalHeads", hello.journal_heads.len(), MAX_HEADS)?;
    signer.compare_heads(&hello.journal_heads).await?;
    let tokens =
        signer.tokens.iter().map(|(name, token)| token.summary(signer.keyring.keys_on(name)));
    let reply = HelloReply {
        signer_id: signer.journal.signer_id(),
        boot_id: signer.boot_id.clone(),
        connection_nonce: connection.nonce(),
        journal_head: signer.told_head(),
        halted: signer.halted(),
        tokens: tokens.collect(),
        keys: signer.key_summaries(),
        ceiling: signer.config.ceiling.clone(),
        destroy_awaits_operator: signer.config.destroy == KeyChangeRule::Approve,
    };
    Ok((Reply::Hello(Box::new(reply)), None))
}
