//! What another program sees on the token.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use softhsm_test_harness::SoftHsm;

use crate::Installation;
use crate::openssl::{Workbench, run};

impl Installation {
    /// The ids of the private keys on the token, as `pkcs11-tool` lists them. It is shown a copy:
    /// SoftHSM2 writes at each login, and only the signer's own worker may write.
    ///
    /// # Errors
    ///
    /// The token can't be copied or listed.
    pub fn keys_on_token(&self) -> anyhow::Result<BTreeSet<String>> {
        let bench = Workbench::new()?;
        let signer = self.home().path().join("signer");
        run(Command::new("cp").arg("-r").arg(signer.join("token")).arg(bench.path("token")))?;
        let tokens = format!("directories.tokendir = {}\n", bench.path("token").display());
        let conf = bench.write("softhsm2.conf", tokens.as_bytes())?;
        let pin = fs::read_to_string(signer.join("pin"))?;
        let mut tool = Command::new("pkcs11-tool");
        tool.env("SOFTHSM2_CONF", conf).arg("--module").arg(SoftHsm::module()?);
        tool.args(["--list-objects", "--type", "privkey", "--login", "--pin", pin.trim()]);
        let listed = run(&mut tool)?;
        let ids = listed.lines().filter_map(|line| line.trim().strip_prefix("ID:"));
        Ok(ids.map(|id| id.trim().to_owned()).collect())
    }
}
