//! The settings a batch keeps from the moment it starts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::hours::Hours;
use crate::domain::policy::{OnUnknown, OncePer, Policy};
use crate::domain::retry::Retry;
use crate::domain::settle::Rules;

/// What a batch does not take from the configuration any more once it is started.
///
/// Absent on purpose: the transport's own section, rates and secrets. Those are read anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Frozen {
    /// The name of the transport: `smtp.relay`.
    pub via: String,
    /// The `From` header as it is configured.
    pub from: String,
    pub envelope_from: String,
    pub on_unknown: OnUnknown,
    pub once_per: OncePer,
    pub retry: Retry,
    /// Refusals that are tried again by rule.
    pub retry_refused: Vec<String>,
    pub hours: Option<Hours>,
    /// The name of the time zone for hours, days and dates.
    pub timezone: String,
    pub give_up_after: Option<Duration>,
    /// Rows a worker reserves at a time.
    pub claim: i64,
    pub words: Words,
}

/// What the kind calls a key and a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    pub key: String,
    pub person: String,
}

impl Frozen {
    /// Returns the part that decides what an ended attempt makes of its row.
    pub const fn rules(&self) -> Rules {
        Rules { on_unknown: self.on_unknown, retry: self.retry }
    }

    /// Returns the text that is stored with the batch.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain text and numbers make JSON")
    }

    /// Reads the text that is stored with a batch.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// The shape in the ledger; fields may be added with a default, never renamed.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    via: String,
    from: String,
    envelope_from: String,
    on_unknown: StoredPolicies,
    once_per: String,
    retry: StoredRetry,
    #[serde(default)]
    retry_refused: Vec<String>,
    #[serde(default)]
    hours: Option<String>,
    timezone: String,
    #[serde(default)]
    give_up_after_ms: Option<u64>,
    claim: i64,
    #[serde(default)]
    words: Words,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredPolicies {
    no_answer: String,
    crash: String,
    server_error: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredRetry {
    attempts: i64,
    first_ms: u64,
    last_ms: u64,
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}

impl From<Frozen> for Stored {
    fn from(frozen: Frozen) -> Self {
        let OnUnknown { no_answer, crash, server_error } = frozen.on_unknown;
        let Retry { attempts, first, last } = frozen.retry;
        Self {
            via: frozen.via,
            from: frozen.from,
            envelope_from: frozen.envelope_from,
            on_unknown: StoredPolicies {
                no_answer: no_answer.to_string(),
                crash: crash.to_string(),
                server_error: server_error.to_string(),
            },
            once_per: frozen.once_per.to_string(),
            retry: StoredRetry { attempts, first_ms: millis(first), last_ms: millis(last) },
            retry_refused: frozen.retry_refused,
            hours: frozen.hours.map(|hours| hours.to_string()),
            timezone: frozen.timezone,
            give_up_after_ms: frozen.give_up_after.map(millis),
            claim: frozen.claim,
            words: frozen.words,
        }
    }
}

impl TryFrom<Stored> for Frozen {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let policy = |word: &str| {
            Policy::from_word(word).ok_or_else(|| format!("`{word}` is no policy for unknowns"))
        };
        let StoredPolicies { no_answer, crash, server_error } = &stored.on_unknown;
        let on_unknown = OnUnknown {
            no_answer: policy(no_answer)?,
            crash: policy(crash)?,
            server_error: policy(server_error)?,
        };
        let once_per = OncePer::from_word(&stored.once_per)
            .ok_or_else(|| format!("`{}` is neither batch nor kind", stored.once_per))?;
        let hours = stored.hours.map(|hours| hours.parse::<Hours>()).transpose();
        let StoredRetry { attempts, first_ms, last_ms } = stored.retry;
        Ok(Self {
            via: stored.via,
            from: stored.from,
            envelope_from: stored.envelope_from,
            on_unknown,
            once_per,
            retry: Retry {
                attempts,
                first: Duration::from_millis(first_ms),
                last: Duration::from_millis(last_ms),
            },
            retry_refused: stored.retry_refused,
            hours: hours.map_err(|err| err.to_string())?,
            timezone: stored.timezone,
            give_up_after: stored.give_up_after_ms.map(Duration::from_millis),
            claim: stored.claim,
            words: stored.words,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frozen() -> Frozen {
        Frozen {
            via: "smtp.relay".to_owned(),
            from: "会員サービス <notice@example.com>".to_owned(),
            envelope_from: "bounce@example.com".to_owned(),
            on_unknown: OnUnknown::one_word(Policy::Resend),
            once_per: OncePer::Batch,
            retry: Retry {
                attempts: 5,
                first: Duration::from_mins(5),
                last: Duration::from_hours(4),
            },
            retry_refused: vec!["429".to_owned()],
            hours: None,
            timezone: "Asia/Tokyo".to_owned(),
            give_up_after: Some(Duration::from_hours(72)),
            claim: 500,
            words: Words { key: "会員番号".to_owned(), person: "会員".to_owned() },
        }
    }

    #[test]
    fn frozen_settings_read_back_as_they_were() {
        assert_eq!(Frozen::from_json(&frozen().to_json()).unwrap(), frozen());
    }

    #[test]
    fn a_policy_nobody_knows_is_an_error_and_never_a_default() {
        let text = frozen().to_json().replace("\"hold\"", "\"maybe\"");
        assert!(Frozen::from_json(&text).unwrap_err().to_string().contains("maybe"));
    }
}
