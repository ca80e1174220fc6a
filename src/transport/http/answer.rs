//! Reads an answer: what its body says, how long to wait, and the words that are kept of it.

use std::time::Duration;

use hyper::header::{DATE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use hyper::http::response::Parts;
use jiff::Timestamp as Moment;
use jiff::fmt::rfc2822;
use serde_json::Value;

use super::Reading;
use crate::clock::Clock;
use crate::domain::http::Body;
use crate::domain::text::lenient;
use crate::transport::Reply;

/// The longest body that is read.
pub(super) const LONGEST_BODY: usize = 256 * 1024;
/// How much of an answer is kept.
const KEPT: usize = 8 * 1024;

/// What the body of an answer says, with the provider's id.
pub(super) fn says(
    reading: &Reading,
    status: u16,
    body: &[u8],
    is_cut: bool,
) -> (Body, Option<String>) {
    if is_cut {
        return (Body::Cut, None);
    }
    if status / 100 != 2 || (reading.id.is_none() && reading.accepted.is_none()) {
        return (Body::NotAsked, None);
    }
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let at = |pointer: &str| json.as_ref().and_then(|json| json.pointer(pointer));
    if let Some(accepted) = &reading.accepted {
        match at(&accepted.pointer) {
            None => return (Body::Undecided, None),
            Some(said) if *said != accepted.is => return (Body::No, None),
            Some(_) => {}
        }
    }
    let Some(pointer) = &reading.id else { return (Body::Yes, None) };
    match at(pointer) {
        Some(Value::String(id)) if !id.is_empty() => (Body::Yes, Some(id.clone())),
        Some(Value::Number(id)) => (Body::Yes, Some(id.to_string())),
        _ => (Body::NoId, None),
    }
}

/// Reads `Retry-After`: seconds, or a date by the server's own clock where it gives one.
pub(super) fn retry_after(headers: &HeaderMap, clock: &Clock) -> Option<Duration> {
    let text = text(headers, &RETRY_AFTER)?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = rfc2822::parse(text).ok()?.timestamp();
    let now = match date(headers) {
        Some(now) => now,
        None => Moment::from_microsecond(clock.now().0).ok()?,
    };
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
}

fn date(headers: &HeaderMap) -> Option<Moment> {
    Some(rfc2822::parse(text(headers, &DATE)?).ok()?.timestamp())
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Reports whether the answer names the recipient.
pub(super) fn names(body: &[u8], recipient: &str) -> bool {
    let recipient = recipient.trim().to_lowercase();
    !recipient.is_empty() && lenient(body).to_lowercase().contains(&recipient)
}

/// Returns what is kept of an answer: its first line, what it says about later or elsewhere, and
/// the beginning of its body.
pub(super) fn reply(head: &Parts, body: &[u8]) -> Reply {
    let code = head.status.as_u16();
    let mut bytes = head
        .status
        .canonical_reason()
        .map_or_else(|| code.to_string(), |reason| format!("{code} {reason}"));
    for name in [RETRY_AFTER, LOCATION] {
        if let Some(value) = text(&head.headers, &name) {
            bytes.extend([" (", name.as_str(), ": ", value, ")"]);
        }
    }
    let mut bytes = bytes.into_bytes();
    if !body.is_empty() {
        bytes.push(b' ');
        bytes.extend_from_slice(body.get(..KEPT).unwrap_or(body));
    }
    Reply { code, bytes }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::super::Accepted;
    use super::*;
    use crate::domain::time::Timestamp;

    fn plain() -> Reading {
        Reading { id: Some("/id".to_owned()), ..Reading::default() }
    }

    fn yes_or_no() -> Reading {
        let pointer = "/header/isSuccessful".to_owned();
        Reading { accepted: Some(Accepted { pointer, is: json!(true) }), ..Reading::default() }
    }

    #[rstest]
    #[case::an_id(r#"{"id":"m-1"}"#, Body::Yes)]
    #[case::a_number_for_an_id(r#"{"id":7}"#, Body::Yes)]
    #[case::no_id(r#"{"ok":true}"#, Body::NoId)]
    #[case::an_empty_id(r#"{"id":""}"#, Body::NoId)]
    #[case::a_null_id(r#"{"id":null}"#, Body::NoId)]
    #[case::a_page_for_people("<html>", Body::NoId)]
    #[case::nothing("", Body::NoId)]
    #[case::half_a_json(r#"{"id":"m"#, Body::NoId)]
    fn a_plain_answer(#[case] body: &str, #[case] said: Body) {
        assert_eq!(says(&plain(), 200, body.as_bytes(), false).0, said);
    }

    #[rstest]
    #[case::yes(r#"{"header":{"isSuccessful":true}}"#, Body::Yes)]
    #[case::no(r#"{"header":{"isSuccessful":false}}"#, Body::No)]
    #[case::a_text_is_no_truth(r#"{"header":{"isSuccessful":"true"}}"#, Body::No)]
    #[case::neither(r#"{"header":{}}"#, Body::Undecided)]
    #[case::a_page_for_people("<html>", Body::Undecided)]
    #[case::nothing("", Body::Undecided)]
    fn an_answer_with_yes_or_no_in_it(#[case] body: &str, #[case] said: Body) {
        assert_eq!(says(&yes_or_no(), 200, body.as_bytes(), false).0, said);
    }

    #[test]
    fn a_cut_body_says_nothing_and_a_refusals_body_is_not_asked() {
        assert_eq!(says(&plain(), 200, br#"{"id":"m-1"}"#, true).0, Body::Cut);
        assert_eq!(says(&yes_or_no(), 500, b"", false).0, Body::NotAsked);
        assert_eq!(says(&Reading::default(), 202, b"", false).0, Body::NotAsked);
    }

    #[rstest]
    #[case::seconds("120", None, Some(120))]
    #[case::a_date("Mon, 30 Nov 2026 12:01:00 GMT", None, Some(60))]
    #[case::a_date_by_the_servers_clock(
        "Mon, 30 Nov 2026 12:01:00 GMT",
        Some("Mon, 30 Nov 2026 12:00:50 GMT"),
        Some(10)
    )]
    #[case::a_date_in_the_past("Mon, 30 Nov 2026 11:00:00 GMT", None, Some(0))]
    #[case::nonsense("soon", None, None)]
    #[case::a_negative_number("-5", None, None)]
    fn a_wait(#[case] said: &str, #[case] date: Option<&str>, #[case] seconds: Option<u64>) {
        let noon: Moment = "2026-11-30T12:00:00Z".parse().unwrap();
        let clock = Clock::standing_at(Timestamp(noon.as_microsecond()));
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, said.parse().unwrap());
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        assert_eq!(retry_after(&headers, &clock), seconds.map(Duration::from_secs));
    }

    #[test]
    fn an_answer_names_the_recipient_in_any_case() {
        assert!(names(b"invalid address: Taro@Example.test", "taro@example.test"));
        assert!(!names(b"invalid template", "taro@example.test"));
        assert!(!names(b"anything", ""));
    }
}
