//! Bodies that nobody reads are taken in all the same, before the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::{Body, Bytes};
use axum::http::{Method, header};
use futures::stream;

use crate::testing::{Persona, api};

/// A body whose last piece comes later, and whether it was asked for all of it.
fn body() -> (Body, Arc<AtomicBool>) {
    let is_read = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_read);
    let pieces = stream::unfold(0, move |piece| {
        let told = Arc::clone(&told);
        async move {
            tokio::task::yield_now().await;
            told.fetch_or(piece == 3, Ordering::Relaxed);
            (piece < 3).then(|| (std::io::Result::Ok(Bytes::from_static(b"{}")), piece + 1))
        }
    });
    (Body::from_stream(pieces), is_read)
}

#[tokio::test]
async fn a_body_that_nobody_reads_is_taken_in_before_the_answer() {
    let api = api().await;
    let (admin, member, nobody) = (api.administrator(), api.member(), api.anonymous());
    let gone = format!("/api/admin/localca/restore/{}", "a".repeat(24));
    let cases: [(&Persona, Method, &str, &str, u16); 9] = [
        (&nobody, Method::POST, "/api/nothing", "application/json", 404),
        (&nobody, Method::DELETE, "/api/login", "application/json", 405),
        (&nobody, Method::POST, "/api/certs/requestp10", "application/json", 401),
        (&member, Method::POST, "/api/admin/teams", "application/json", 403),
        (&admin, Method::POST, "/api/admin/teams", "text/plain", 415),
        (&admin, Method::POST, "/api/admin/teams?x=1", "application/json", 400),
        (&admin, Method::PUT, "/api/admin/teams/no-id", "application/json", 404),
        (&admin, Method::POST, &gone, "application/json", 404),
        (&admin, Method::GET, "/api/currentuser", "application/json", 200),
    ];
    for (who, method, path, content_type, status) in cases {
        let (body, is_read) = body();
        let request = who.request(method.clone(), path).header(header::CONTENT_TYPE, content_type);

        let answer = who.send(request.body(body).unwrap()).await;

        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        assert!(is_read.load(Ordering::Relaxed), "{method} {path}");
    }
}
