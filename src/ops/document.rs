//! The JSON documents that the outside world relies on: what surrounds each of them.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::when;
use crate::domain::time::Timestamp;

/// One document: its schema, its moment, and the body's own fields beside them.
#[derive(Debug, Serialize)]
pub struct Document<T> {
    schema: String,
    as_of: String,
    #[serde(flatten)]
    body: T,
}

/// Returns `body` as the document `ittsu/NAME/1`.
pub fn document<T: Serialize>(
    name: &str,
    as_of: Timestamp,
    zone: &TimeZone,
    body: T,
) -> Document<T> {
    Document { schema: format!("ittsu/{name}/1"), as_of: when::rfc3339(as_of, zone), body }
}

/// What a command changed, for every command that changes something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The batches that changed, where there may be several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<String>,
    /// What the request meant.
    pub matched: u64,
    pub changed: u64,
    /// What stays as it is, and why, with a number for each reason.
    pub left: u64,
    pub why_left: Vec<WhyLeft>,
    /// The entry in the journal; none when nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<i64>,
}

/// One reason and how many it holds for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhyLeft {
    pub why: String,
    pub rows: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_names_its_schema_and_its_moment_first() {
        let body = Change { batch: Some("a".into()), matched: 7, changed: 5, ..Change::default() };
        let document = document("change", Timestamp(0), &TimeZone::UTC, body);
        assert_eq!(
            serde_json::to_string(&document).unwrap(),
            r#"{"schema":"ittsu/change/1","as_of":"1970-01-01T00:00:00+00:00","batch":"a","matched":7,"changed":5,"left":0,"why_left":[]}"#
        );
    }
}
