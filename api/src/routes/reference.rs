//! Things that a request may name by id, by name, or by both.

use crate::error::ApiError;

/// The one thing that every given field names, if any is given.
///
/// # Errors
///
/// [`crate::error::Code::InvalidRequest`] where two fields name different things, or that of
/// `find`.
pub(super) async fn agreed<'a, T, Id: PartialEq, F>(
    named: &[(&'static str, Option<&'a str>)],
    find: impl Fn(&'static str, &'a str) -> F,
    id: impl Fn(&T) -> Id,
) -> Result<Option<T>, ApiError>
where
    F: Future<Output = Result<T, ApiError>>,
{
    let mut agreed: Option<(&str, T)> = None;
    for (field, named) in named {
        let Some(named) = named else { continue };
        let found = find(field, named).await?;
        if let Some((first, other)) = &agreed
            && id(other) != id(&found)
        {
            let message = format!("names another item than {first} does; send one of the two");
            return Err(ApiError::invalid_field(field, message));
        }
        agreed = Some((field, found));
    }
    Ok(agreed.map(|(_, found)| found))
}
