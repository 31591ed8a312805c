//! A private key that is not on the token any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::*;

#[test]
fn a_key_that_the_token_lacks_is_in_the_status_and_the_greeting() -> anyhow::Result<()> {
    let (mut home, mut peer, _ca) = started(&[])?;
    let before = objects(&home)?;
    let (algorithm, signature) = (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256);
    let lost = home.create_key(&mut peer, "Lost", algorithm, signature, None)?;
    let head = home.status()?.journal_head;
    anyhow::ensure!(home.status()?.keys.iter().all(|key| !key.is_missing));
    home.stop()?;
    for object in objects(&home)?.difference(&before) {
        fs::remove_file(object)?;
    }

    home.start()?;
    let (_peer, _) = Peer::connect_knowing(&home.socket(), vec![head])?;

    home.wait_for("the missing key", |status| status.keys.iter().any(|key| key.is_missing))?;
    let (_peer, hello) = Peer::connect_knowing(&home.socket(), vec![head])?;
    for keys in [home.status()?.keys, hello.keys] {
        let missing: Vec<_> = keys.iter().filter(|key| key.is_missing).collect();
        anyhow::ensure!(missing.len() == 1 && missing[0].key_id == lost.key_id, "{keys:?}");
    }
    let told = home.hsm(&["status"]).output()?;
    let told = String::from_utf8(told.stdout)?;
    anyhow::ensure!(told.contains("IS NOT ON THE TOKEN"), "{told}");
    home.stop()
}

/// The files of the token's objects.
fn objects(home: &SignerHome) -> anyhow::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for slot in fs::read_dir(home.path().join("signer/token"))? {
        let slot = slot?.path();
        if !slot.is_dir() {
            continue;
        }
        for file in fs::read_dir(slot)? {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "object") {
                found.insert(file);
            }
        }
    }
    Ok(found)
}
