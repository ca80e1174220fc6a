//! One job of a queue: a bare id, or a JSON object with an id and perhaps more.

use serde_json::{Map, Value as Json};

use crate::domain::text::name_control;

/// A job that holds more is not read.
pub const LONGEST_JOB: usize = 256 * 1024;
/// Longer keys do not fit into the ledger's unique index on every engine.
const LONGEST_KEY: usize = 190;

/// What a job asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    pub key: String,
    pub address: Option<String>,
    pub fields: Option<Map<String, Json>>,
    pub kind: Option<String>,
    pub batch: Option<String>,
}

impl Job {
    /// Reads a job; an error is a reason for a person, with the key if it could be read.
    pub fn read(payload: &[u8]) -> Result<Self, (String, String)> {
        let wrong = |why: &str| (String::new(), why.to_owned());
        if payload.len() > LONGEST_JOB {
            let why = format!("the job has {} bytes; at most {LONGEST_JOB}", payload.len());
            return Err((String::new(), why));
        }
        let text = std::str::from_utf8(payload).map_err(|_err| wrong("the job is no text"))?;
        let text = text.trim();
        if text.is_empty() {
            return Err(wrong("the job is empty"));
        }
        if !text.starts_with(['{', '[', '"']) {
            return Self { key: text.to_owned(), ..Self::default() }.checked();
        }
        let json: Json = serde_json::from_str(text)
            .map_err(|err| (String::new(), format!("the job is no JSON: {err}")))?;
        match json {
            Json::String(key) => Self { key, ..Self::default() }.checked(),
            Json::Object(object) => Self::of(object),
            _ => Err(wrong("the job is neither an id nor an object")),
        }
    }

    fn of(mut object: Map<String, Json>) -> Result<Self, (String, String)> {
        let key = match object.remove("id") {
            Some(Json::String(key)) => key,
            Some(Json::Number(number)) => number.to_string(),
            Some(_) => return Err((String::new(), "`id` is neither text nor number".to_owned())),
            None => return Err((String::new(), "the job has no `id`".to_owned())),
        };
        let mut text = |name: &str| match object.remove(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err((key.clone(), format!("`{name}` is no text"))),
        };
        let (address, kind, batch) = (text("address")?, text("kind")?, text("batch")?);
        let fields = match object.remove("fields") {
            None | Some(Json::Null) => None,
            Some(Json::Object(fields)) => Some(fields),
            // A stream's own fields are texts.
            Some(Json::String(text)) => match serde_json::from_str(&text) {
                Ok(Json::Object(fields)) => Some(fields),
                _ => return Err((key, "`fields` is no object".to_owned())),
            },
            Some(_) => return Err((key, "`fields` is no object".to_owned())),
        };
        if let Some(name) = object.keys().next() {
            let why = format!("`{name}` is not known; known: id, address, fields, kind, batch");
            return Err((key, why));
        }
        Self { key, address, fields, kind, batch }.checked()
    }

    fn checked(mut self) -> Result<Self, (String, String)> {
        self.key = self.key.trim().to_owned();
        let why = match self.key.chars().find(|c| c.is_control()) {
            _ if self.key.is_empty() => "the id is empty".to_owned(),
            Some(c) => format!("the id holds {}", name_control(c)),
            None if self.key.chars().count() > LONGEST_KEY => {
                format!("the id has more than {LONGEST_KEY} characters")
            }
            None => return Ok(self),
        };
        Err((self.key, why))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_bare_id("9001", "9001")]
    #[case::an_id_with_a_line_end("9001\n", "9001")]
    #[case::a_bare_word("A-9001", "A-9001")]
    #[case::a_quoted_id("\"9001\"", "9001")]
    #[case::a_number_in_an_object(r#"{"id":9001}"#, "9001")]
    #[case::a_long_number_stays_itself(r#"{"id":9007199254740993}"#, "9007199254740993")]
    #[case::a_text_in_an_object(r#"{"id":"注文-1"}"#, "注文-1")]
    fn an_id_is_read(#[case] payload: &str, #[case] key: &str) {
        assert_eq!(Job::read(payload.as_bytes()).unwrap().key, key);
    }

    #[rstest]
    #[case::nothing("", "empty")]
    #[case::blanks("  ", "empty")]
    #[case::half_an_object(r#"{"id":1"#, "no JSON")]
    #[case::a_list("[1,2]", "neither")]
    #[case::no_id("{}", "no `id`")]
    #[case::an_id_that_is_an_object(r#"{"id":{}}"#, "neither text nor number")]
    #[case::an_empty_id(r#"{"id":" "}"#, "the id is empty")]
    #[case::an_id_with_a_nul("{\"id\":\"a\\u0000b\"}", "NUL")]
    #[case::fields_that_are_none(r#"{"id":1,"fields":"x"}"#, "`fields` is no object")]
    #[case::an_address_that_is_a_number(r#"{"id":1,"address":7}"#, "`address` is no text")]
    #[case::a_word_nobody_knows(r#"{"id":1,"adress":"a@b"}"#, "`adress` is not known")]
    fn a_job_that_cannot_be_read_says_why(#[case] payload: &str, #[case] why: &str) {
        let (_, said) = Job::read(payload.as_bytes()).unwrap_err();
        assert!(said.contains(why), "{said}");
    }

    #[test]
    fn a_job_that_is_no_text_or_too_long_says_so() {
        assert!(Job::read(&[0xff, 0xfe]).unwrap_err().1.contains("no text"));
        assert!(Job::read(&vec![b'1'; LONGEST_JOB + 1]).unwrap_err().1.contains("bytes"));
        assert!(Job::read(&[b'1'; 191]).unwrap_err().1.contains("190"));
    }

    #[test]
    fn everything_a_job_may_name_is_read() {
        let payload = r#"{"id":1,"address":"a@b.example","fields":{"total":"7"},"kind":"order",
            "batch":"order-x"}"#;
        let job = Job::read(payload.as_bytes()).unwrap();
        assert_eq!(job.address.as_deref(), Some("a@b.example"));
        assert_eq!(job.fields.unwrap()["total"], "7");
        assert_eq!((job.kind.as_deref(), job.batch.as_deref()), (Some("order"), Some("order-x")));
    }
}
