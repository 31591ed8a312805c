//! The floor: what the signature itself costs in the token, and two verifications, in a process
//! of its own that does nothing else.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chancery_tests::home::TestHome;
use chancery_tests::openssl::run;
use clap::Args;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use serde::{Deserialize, Serialize};

use crate::key::Kind;
use crate::process::own_cpu;

/// What was measured.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Floor {
    /// CPU of one signature, microseconds.
    pub(crate) signature_us: f64,
    /// CPU of one verification, microseconds.
    pub(crate) verification_us: f64,
    /// Signatures a second, with a thread for each core.
    pub(crate) signatures_per_second: f64,
}

impl Floor {
    /// One signature and two verifications: of the CSR, and of what the token answered.
    pub(crate) fn microseconds(&self) -> f64 {
        self.signature_us + 2.0 * self.verification_us
    }
}

/// Which key of which token.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[arg(long)]
    module: PathBuf,
    #[arg(long)]
    pin_file: PathBuf,
    /// `CKA_ID`, hexadecimal.
    #[arg(long)]
    key_id: String,
    #[arg(long)]
    key: Kind,
}

/// Measures in a process of its own, with the environment that SoftHSM2 wants. The signer is
/// stopped.
pub(crate) fn measure(home: &TestHome, key_id: &str, key: Kind) -> anyhow::Result<Floor> {
    let mut command = Command::new(std::env::current_exe()?);
    let name = clap::ValueEnum::to_possible_value(&key).context("a kind without a name")?;
    command
        .env("SOFTHSM2_CONF", home.path().join("signer/softhsm2.conf"))
        .args(["floor", "--key-id", key_id, "--key", name.get_name(), "--module"])
        .arg(softhsm_test_harness::SoftHsm::module()?)
        .arg("--pin-file")
        .arg(home.path().join("signer/pin"));
    Ok(serde_json::from_str(&run(&mut command)?)?)
}

/// Each part is measured for so long.
const MEASURED: Duration = Duration::from_secs(2);

pub(crate) fn run_here(options: &Options) -> anyhow::Result<()> {
    let Options { module, pin_file, key_id, key } = options;
    let pkcs11 = Pkcs11::new(module)?;
    pkcs11.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
    let slot = *pkcs11.get_slots_with_initialized_token()?.first().context("no token")?;
    let session = pkcs11.open_ro_session(slot)?;
    let pin = std::fs::read_to_string(pin_file)?.trim_end().to_owned();
    session.login(UserType::User, Some(&AuthPin::new(pin.into_boxed_str())))?;
    let wanted = [Attribute::Class(ObjectClass::PRIVATE_KEY), Attribute::Id(hex::decode(key_id)?)];
    let handle = *session.find_objects(&wanted)?.first().context("no such key")?;

    let (_, signature_us) = repeat(&|| sign(&session, handle, *key))?;
    let (_, verification_us) = repeat(&*key.verification()?)?;
    let floor = Floor {
        signature_us,
        verification_us,
        signatures_per_second: in_all_cores(&pkcs11, slot, handle, *key)?,
    };
    println!("{}", serde_json::to_string(&floor)?);
    Ok(())
}

fn sign(session: &Session, handle: ObjectHandle, key: Kind) -> anyhow::Result<()> {
    let (mechanism, length) = key.mechanism();
    session.sign(&mechanism, handle, &vec![7; length])?;
    Ok(())
}

/// Does it again and again: how often, and its CPU time in microseconds.
fn repeat(act: &dyn Fn() -> anyhow::Result<()>) -> anyhow::Result<(u32, f64)> {
    let (began, before) = (Instant::now(), own_cpu());
    let mut times = 0;
    while began.elapsed() < MEASURED {
        act()?;
        times += 1;
    }
    Ok((times, own_cpu().saturating_sub(before).as_secs_f64() * 1e6 / f64::from(times)))
}

fn in_all_cores(
    pkcs11: &Pkcs11,
    slot: Slot,
    handle: ObjectHandle,
    key: Kind,
) -> anyhow::Result<f64> {
    let cores = std::thread::available_parallelism()?.get();
    let began = Instant::now();
    let times = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores)
            .map(|_| {
                scope.spawn(|| {
                    let session = pkcs11.open_ro_session(slot)?;
                    repeat(&|| sign(&session, handle, key))
                })
            })
            .collect();
        let times = threads.into_iter().map(|thread| {
            let (times, _) = thread.join().ok().context("a thread panicked")??;
            anyhow::Ok(f64::from(times))
        });
        times.sum::<anyhow::Result<f64>>()
    })?;
    Ok(times / began.elapsed().as_secs_f64())
}
