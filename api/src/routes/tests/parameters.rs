//! Parameters behind `?`: each operation of the OpenAPI document takes those that it has there, and
//! refuses every other one.

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::Value;

use crate::testing::{Answer, Api, api, api_with};

async fn call(api: &Api, method: &str, path: &str) -> Answer {
    let path = path.replace("{id}", &"0".repeat(24)).replace(['{', '}'], "x");
    let method: Method = method.to_uppercase().parse().unwrap();
    let request = api.administrator().request(method, &path);
    let request = request.header(header::CONTENT_TYPE, "application/json");
    api.administrator().send(request.body(Body::from("{}")).unwrap()).await
}

/// Whether the answer says that there is no such parameter.
fn is_refused(answer: &Answer, parameter: &str) -> bool {
    let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let message = body["fields"][0]["message"].as_str().unwrap_or_default();
    answer.status == 400
        && body["code"] == "invalid_request"
        && body["fields"][0]["field"] == parameter
        && message.contains("no parameter of this call")
}

#[tokio::test]
async fn every_operation_refuses_a_parameter_that_it_does_not_have_and_no_other() {
    let api = api().await;
    let document = api.anonymous().get("/api/openapi.json").await.json();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let unknown = call(&api, method, &format!("{path}?unheardOf=1")).await;
            assert!(is_refused(&unknown, "unheardOf"), "{method} {path}: {}", unknown.text);

            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap();
                if parameter["in"] == "query" {
                    let known = call(&api, method, &format!("{path}?{name}=1")).await;
                    assert!(!is_refused(&known, name), "{method} {path}: {}", known.text);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_parameter_is_not_looked_at_before_it_is_known_who_asks() {
    let api = api().await;

    let nobody = api.anonymous().get("/api/currentuser?unheardOf=1").await;
    let member = api.member().get("/api/admin/users?unheardOf=1").await;

    assert_eq!((nobody.refusal().0, member.refusal().0), (401, 403));
}

#[tokio::test]
async fn a_base_path_in_front_changes_nothing() {
    for base in ["/chancery", "/old/api"] {
        let api = api_with(|config| config.base_paths = vec![base.to_owned()]).await;

        let unknown = call(&api, "get", &format!("{base}/api/currentuser?unheardOf=1")).await;
        let known = call(&api, "get", &format!("{base}/api/certs?limit=1")).await;

        assert!(is_refused(&unknown, "unheardOf"), "{base}: {}", unknown.text);
        assert_eq!(known.status, 200, "{base}: {}", known.text);
    }
}
