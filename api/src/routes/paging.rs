//! Links to the next page.

use axum::http::Uri;

/// The same address, for the next `after` to be put behind it.
pub(super) fn without_after(uri: &Uri) -> String {
    let kept = uri.query().unwrap_or_default().split('&');
    let kept = kept.filter(|pair| !pair.is_empty() && pair.split('=').next() != Some("after"));
    // The brackets around the address can't stand in it.
    let kept = kept.map(|pair| pair.replace('<', "%3C").replace('>', "%3E"));
    format!("{}?{}&", uri.path(), kept.collect::<Vec<_>>().join("&"))
}
