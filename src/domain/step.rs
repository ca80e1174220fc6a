//! How far a hand-over got, as the step file says after its worker's death.
//!
//! Promise: a step is noted before it is taken, so a missing note proves that it was not.

use super::outcome::{Outcome, Phase};
use super::smtp::{Enhanced, Event, ReplyCode, classify};
use super::state::{Cause, words};

/// A step of a hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The start marker is written; nothing of this row is on the wire.
    Started,
    Rcpt,
    Data,
    /// The last byte of the body is about to be written, or was; the dot may follow at any moment.
    BodyComplete,
    /// The first byte of the final dot is about to be written, or was.
    Dot,
    /// The complete answer to the dot was read (noted right after, not before).
    Answered(ReplyCode),
    /// The complete answer of a mail API was read, and this is what it came to.
    Judged {
        status: u16,
        outcome: Outcome,
    },
}

words! {
    /// What is known about a hand-over whose worker is gone.
    Known {
        NotSent = "not_sent",
        /// An answer was seen, and nobody wrote it into the ledger.
        Accepted = "accepted",
        Unknown = "unknown",
    }
}

/// Returns what a dead worker's last note proves about its attempt; no note proves nothing.
///
/// From `BodyComplete` on the outcome is unknown: the dot may have gone out with the same write.
pub fn outcome_of_step(last: Option<Step>) -> Outcome {
    match last {
        Some(Step::Started | Step::Rcpt | Step::Data) => Outcome::NotSent,
        Some(Step::Answered(reply)) => {
            let verdict = classify(Phase::Dot, &Event::Reply(reply, String::new()));
            match verdict.as_evidence() {
                Outcome::Unknown(_) => Outcome::Unknown(Cause::Crash),
                outcome => outcome,
            }
        }
        Some(
            Step::Judged { outcome: Outcome::Unknown(_), .. } | Step::BodyComplete | Step::Dot,
        )
        | None => Outcome::Unknown(Cause::Crash),
        Some(Step::Judged { outcome, .. }) => outcome,
    }
}

/// Returns the same in the three words shown to people: a refusal was not sent either.
pub fn verdict_of_step(last: Option<Step>) -> Known {
    match outcome_of_step(last) {
        Outcome::Accepted => Known::Accepted,
        Outcome::Refused | Outcome::Deferred | Outcome::NotSent => Known::NotSent,
        Outcome::Unknown(_) => Known::Unknown,
    }
}

impl Step {
    /// Returns the word for people and for `evidence`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Rcpt => "rcpt",
            Self::Data => "data",
            Self::BodyComplete => "body complete",
            Self::Dot => "dot",
            Self::Answered(_) | Self::Judged { .. } => "answered",
        }
    }

    /// Packs the step into the eight bytes it has in the step file.
    pub fn to_bytes(self) -> [u8; 8] {
        let (kind, reply) = match self {
            Self::Started => (1, None),
            Self::Rcpt => (2, None),
            Self::Data => (3, None),
            Self::BodyComplete => (4, None),
            Self::Dot => (5, None),
            Self::Answered(reply) => (6, Some(reply)),
            Self::Judged { status, outcome } => {
                let [low, high] = status.to_le_bytes();
                return [7, packed(outcome), low, high, 0, 0, 0, 0];
            }
        };
        let code = reply.map_or(0, |r| r.code).to_le_bytes();
        let enhanced = reply.and_then(|r| r.enhanced).unwrap_or(Enhanced::new(0, 0, 0));
        let (subject, detail) = (enhanced.subject.to_le_bytes(), enhanced.detail.to_le_bytes());
        [kind, enhanced.class, code[0], code[1], subject[0], subject[1], detail[0], detail[1]]
    }

    /// Reads a packed step; bytes that are none (an empty or torn note) are `None`.
    pub fn from_bytes(bytes: [u8; 8]) -> Option<Self> {
        let [kind, class, c0, c1, s0, s1, d0, d1] = bytes;
        let number = |a, b| u16::from_le_bytes([a, b]);
        let plain = match kind {
            1 => Self::Started,
            2 => Self::Rcpt,
            3 => Self::Data,
            4 => Self::BodyComplete,
            5 => Self::Dot,
            6 => {
                let enhanced = Enhanced::new(class, number(s0, s1), number(d0, d1));
                let code = number(c0, c1);
                let enhanced = (class != 0).then_some(enhanced);
                return Some(Self::Answered(ReplyCode { code, enhanced }));
            }
            7 => {
                let judged = Self::Judged { status: number(c0, c1), outcome: unpacked(class)? };
                return (bytes[4..] == [0; 4]).then_some(judged);
            }
            _ => return None,
        };
        (bytes[1..] == [0; 7]).then_some(plain)
    }
}

const fn packed(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Accepted => 1,
        Outcome::Refused => 2,
        Outcome::Deferred => 3,
        Outcome::NotSent => 4,
        Outcome::Unknown(_) => 5,
    }
}

const fn unpacked(byte: u8) -> Option<Outcome> {
    match byte {
        1 => Some(Outcome::Accepted),
        2 => Some(Outcome::Refused),
        3 => Some(Outcome::Deferred),
        4 => Some(Outcome::NotSent),
        5 => Some(Outcome::Unknown(Cause::NoAnswer)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(code: u16, enhanced: Option<Enhanced>) -> Step {
        Step::Answered(ReplyCode { code, enhanced })
    }

    #[test]
    fn only_a_note_before_the_bodys_end_proves_that_nothing_was_sent() {
        for step in [Step::Started, Step::Rcpt, Step::Data] {
            assert_eq!(verdict_of_step(Some(step)), Known::NotSent);
        }
        for step in [Some(Step::BodyComplete), Some(Step::Dot), None] {
            assert_eq!(outcome_of_step(step), Outcome::Unknown(Cause::Crash));
            assert_eq!(verdict_of_step(step), Known::Unknown);
        }
    }

    #[test]
    fn an_answer_that_was_seen_is_the_outcome() {
        let policy = Some(Enhanced::new(5, 7, 1));
        for (step, outcome, known) in [
            (answered(250, None), Outcome::Accepted, Known::Accepted),
            (answered(550, None), Outcome::Refused, Known::NotSent),
            (answered(451, None), Outcome::Deferred, Known::NotSent),
            // It may be our own fault, so it fails nobody.
            (answered(554, policy), Outcome::NotSent, Known::NotSent),
            (answered(354, None), Outcome::Unknown(Cause::Crash), Known::Unknown),
        ] {
            assert_eq!(outcome_of_step(Some(step)), outcome);
            assert_eq!(verdict_of_step(Some(step)), known);
        }
    }

    #[test]
    fn an_answer_of_an_api_counts_for_what_it_was_judged_not_for_its_status() {
        let judged = |outcome| outcome_of_step(Some(Step::Judged { status: 200, outcome }));
        for outcome in [Outcome::Accepted, Outcome::Refused, Outcome::Deferred, Outcome::NotSent] {
            assert_eq!(judged(outcome), outcome);
        }
        let nobody_knows = Outcome::Unknown(Cause::Crash);
        assert_eq!(judged(Outcome::Unknown(Cause::ServerError)), nobody_knows);
    }

    #[test]
    fn a_packed_step_reads_back_and_other_bytes_are_no_step() {
        for step in [
            Step::Started,
            Step::Rcpt,
            Step::Data,
            Step::BodyComplete,
            Step::Dot,
            answered(250, None),
            answered(550, Some(Enhanced::new(5, 7, 515))),
            Step::Judged { status: 202, outcome: Outcome::Accepted },
            Step::Judged { status: 503, outcome: Outcome::Unknown(Cause::NoAnswer) },
        ] {
            assert_eq!(Step::from_bytes(step.to_bytes()), Some(step));
        }
        assert_eq!(Step::from_bytes([0; 8]), None);
        assert_eq!(Step::from_bytes([9, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(Step::from_bytes([5, 0, 250, 0, 0, 0, 0, 0]), None);
    }
}
