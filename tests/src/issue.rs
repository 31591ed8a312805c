//! Asking for certificates and CAs, as an administrator's script does.

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::client::Client;

/// The issuer of the first start.
pub const ISSUER: &str = "Chancery Issuer";

/// What `POST /certs/requestp10` answered.
#[derive(Clone, Debug)]
pub struct Issued {
    /// Id of the record.
    pub id: String,
    /// The certificate.
    pub pem: String,
}

/// As many records as the API gives in one answer.
const PAGE: usize = 1_000;

impl Client {
    /// Asks [`ISSUER`] for a certificate.
    ///
    /// # Errors
    ///
    /// The service refuses it.
    pub fn request(&self, csr: &str) -> anyhow::Result<Issued> {
        self.request_with(&json!({"caName": ISSUER, "csr": csr}))
    }

    /// Asks for a certificate with this body.
    ///
    /// # Errors
    ///
    /// The service refuses it.
    pub fn request_with(&self, body: &Value) -> anyhow::Result<Issued> {
        let answer = self.post("/api/certs/requestp10", body)?.expect_status(200)?.json()?;
        let text = |field: &str| {
            let value = answer[field].as_str().map(str::to_owned);
            value.with_context(|| format!("no {field} in {answer}"))
        };
        Ok(Issued { id: text("certId")?, pem: text("pemCert")? })
    }

    /// The record of a certificate.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn record(&self, id: &str) -> anyhow::Result<Value> {
        self.get(&format!("/api/certs/{id}"))?.expect_status(200)?.json()
    }

    /// All records.
    ///
    /// # Errors
    ///
    /// The service refuses it.
    pub fn records(&self) -> anyhow::Result<Vec<Value>> {
        let mut records = Vec::new();
        loop {
            // A page at a time: the whole list of a long run takes longer than an answer may.
            let after = match records.last() {
                Some(Value::Object(last)) => last["id"].as_str().unwrap_or_default(),
                _ => "",
            };
            let path = format!("/api/certs?limit={PAGE}&after={after}");
            let page = self.get(&path)?.expect_status(200)?.json()?;
            let page = page.as_array().context("no array")?;
            records.extend_from_slice(page);
            if page.len() < PAGE {
                return Ok(records);
            }
        }
    }

    /// The chain of an issuer as one PEM text, issuing CA first.
    ///
    /// # Errors
    ///
    /// There is no such issuer.
    pub fn chain(&self, issuer: &str) -> anyhow::Result<String> {
        let path = format!("/api/admin/ca/chainbyname/{}", issuer.replace(' ', "%20"));
        let chain = self.get(&path)?.expect_status(200)?.json()?;
        let chain = chain.as_array().context("no array")?;
        Ok(chain.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"))
    }

    /// The id of the item of this name in a list such as `/api/admin/profiles`.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn id_of(&self, list: &str, name: &str) -> anyhow::Result<String> {
        let items = self.get(list)?.expect_status(200)?.json()?;
        let items = items.as_array().context("no array")?;
        let named = items.iter().find(|item| item["name"] == name || item["caName"] == name);
        let id = named.and_then(|item| item["id"].as_str()).map(str::to_owned);
        id.with_context(|| format!("no {name} in {list}"))
    }

    /// Makes a Local CA and an issuer of the same name on it; the result is the Local CA.
    ///
    /// # Errors
    ///
    /// The service refuses it.
    pub fn create_ca(&self, name: &str, more: Value) -> anyhow::Result<Value> {
        let mut definition = json!({
            "name": name,
            "keyStoreName": "Local Token",
            "subjectDn": format!("CN={name}, O=Example"),
            "lifetimeInDays": 3650,
        });
        if let (Some(definition), Value::Object(more)) = (definition.as_object_mut(), more) {
            definition.extend(more);
        }
        let ca = self.post("/api/admin/localca", &definition)?.expect_status(200)?.json()?;
        let issuer = json!({
            "caName": name,
            "localCaId": ca["id"],
            "certProfileId": self.id_of("/api/admin/profiles", "TLS Server and Client")?,
            "allowCsrRequests": true,
        });
        self.post("/api/admin/ca", &issuer)?.expect_status(200)?;
        Ok(ca)
    }
}
