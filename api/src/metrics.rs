//! Counters for Prometheus, on a listener of their own.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Collects what the whole process counts. Once a process.
///
/// # Errors
///
/// If the process collects already.
pub fn install() -> Result<PrometheusHandle, metrics_exporter_prometheus::BuildError> {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), BUCKETS)?
        .install_recorder()
}

/// `/metrics`, and nothing else.
pub fn router(metrics: PrometheusHandle) -> Router {
    let render = move || {
        let text = metrics.render();
        async move { ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
    };
    Router::new().route("/metrics", get(render))
}

/// Seconds.
const BUCKETS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
