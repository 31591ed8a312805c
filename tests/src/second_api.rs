//! A second API process of an installation: on the same home, database and signer.

use crate::client::Client;
use crate::installation::{Installation, PATIENCE};
use crate::port::Port;
use crate::program::Program;

/// It ends when it is dropped.
#[derive(Debug)]
pub struct SecondApi {
    _program: Program,
    client: Client,
    _ports: [Port; 2],
}

impl Installation {
    /// Starts one beside the first and waits until it is ready.
    ///
    /// # Panics
    ///
    /// It does not come up; its output is told.
    #[must_use]
    pub fn start_second_api(&self) -> SecondApi {
        let ports = [(); 2].map(|()| Port::claim().expect("a free port"));
        let command = self.api_command(ports.each_ref());
        let program = Program::start("the second API", command).expect("starting the second API");
        let client =
            Client::new(format!("https://localhost:{}", ports[0].number()), self.root_ca());
        let probe = |_: &str| {
            let is_ready = client.get("/health/ready").is_ok_and(|answer| answer.status == 200);
            is_ready.then_some(())
        };
        program.output().wait_for("a second API that is ready", PATIENCE, probe).expect("ready");
        SecondApi { _program: program, client, _ports: ports }
    }
}

impl SecondApi {
    /// The same persona, who asks this process.
    #[must_use]
    pub fn of(&self, persona: &Client) -> Client {
        match persona.token() {
            Some(token) => self.client.with_token(token),
            None => self.client.clone(),
        }
    }
}
