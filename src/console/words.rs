//! What the screen says, in three languages.
//!
//! Promise: a word that is missing in one language does not compile; a sentence keeps its
//! placeholders in all three; what a server said, keys and commands are never translated.
//! Start reading at `Word`; the catalogue itself is in `labels` and `sentences`.

mod labels;
mod sentences;

pub use crate::config::Language;
pub use labels::Word;
pub use sentences::Sentence;

use crate::config::catalogue::fill;
use crate::domain::batch::BatchState;
use crate::domain::state::{Cause, How, State};
use crate::ops::evidence::Verdict;

impl Sentence {
    /// Returns the sentence with its placeholders filled; one nobody fills stays as it is.
    pub fn with(self, language: Language, values: &[(&str, &str)]) -> String {
        fill(self.text(language), values)
    }
}

/// Returns what people call the state of a row.
pub const fn state(state: State) -> Word {
    match state {
        State::Ready => Word::Ready,
        State::Sending => Word::Sending,
        State::Sent => Word::Sent,
        State::Failed => Word::Failed,
    }
}

/// Returns what people call the state of a batch.
pub const fn batch_state(state: BatchState) -> Word {
    match state {
        BatchState::Draft => Word::Draft,
        BatchState::Scheduled => Word::Scheduled,
        BatchState::Running => Word::Running,
        BatchState::Paused => Word::Paused,
        BatchState::Cancelled => Word::Cancelled,
        BatchState::Done => Word::Done,
    }
}

/// Returns what people call the reason of a final state.
pub const fn how(how: How) -> Word {
    match how {
        How::Accepted => Word::HowAccepted,
        How::Assumed => Word::HowAssumed,
        How::Operator => Word::HowByHand,
        How::Evidence => Word::HowEvidence,
        How::Imported => Word::HowImported,
        How::Refused => Word::HowRefused,
        How::Unbuildable => Word::HowUnbuildable,
        How::Suppressed => Word::HowSuppressed,
        How::Expired => Word::HowExpired,
        How::Cancelled => Word::HowCancelled,
    }
}

/// Returns what people call the reason why nobody knows.
pub const fn cause(cause: Cause) -> Word {
    match cause {
        Cause::NoAnswer => Word::CauseNoAnswer,
        Cause::Crash => Word::CauseCrash,
        Cause::ServerError => Word::CauseServerError,
    }
}

/// Returns what all that is known comes to.
pub const fn verdict(verdict: Verdict) -> Word {
    match verdict {
        Verdict::NotSent => Word::KnownNotSent,
        Verdict::Accepted => Word::KnownAccepted,
        Verdict::Unknown => Word::KnownNobody,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use unicode_width::UnicodeWidthStr;

    use super::*;

    const OTHERS: [Language; 2] = [Language::Ja, Language::Ko];

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(n, _)| n).collect()
    }

    #[test]
    fn no_word_stays_english_by_oversight() {
        // What stands on the keyboard, on the wire or in every language alike.
        let alike = ["Message-ID", "CSV", "HTML", "OK"];
        for language in OTHERS {
            for word in Word::ALL {
                let (here, english) = (word.text(language), word.text(Language::En));
                assert!(here != english || alike.contains(&english), "{word:?}: {here}");
            }
            for sentence in Sentence::ALL {
                assert_ne!(sentence.text(language), sentence.text(Language::En), "{sentence:?}");
            }
        }
    }

    #[test]
    fn a_sentence_has_the_same_placeholders_in_every_language() {
        for sentence in Sentence::ALL {
            let english = placeholders(sentence.text(Language::En));
            for language in OTHERS {
                assert_eq!(placeholders(sentence.text(language)), english, "{sentence:?}");
            }
        }
    }

    #[test]
    fn no_korean_particle_follows_a_placeholder() {
        let particles = ["은", "는", "이", "가", "을", "를", "과", "와", "으로", "로"];
        for sentence in Sentence::ALL {
            let text = sentence.text(Language::Ko);
            for part in text.split('}').skip(1) {
                let word: String = part.chars().take_while(|c| c.is_alphabetic()).collect();
                assert!(!particles.contains(&word.as_str()), "{sentence:?}: {text}");
            }
        }
    }

    #[test]
    fn states_and_column_heads_fit_in_their_columns() {
        use Word as W;
        let fits = [
            (vec![W::Ready, W::Sending, W::Sent, W::Failed, W::Unknown], 10),
            (vec![W::Draft, W::Scheduled, W::Running, W::Paused, W::Cancelled, W::Done], 10),
            (vec![W::ColLeft, W::ColReady, W::ColSent, W::ColFailed, W::ColDone], 6),
            (vec![W::ColSending], 7),
            (vec![W::HowAccepted, W::HowAssumed, W::HowByHand, W::HowEvidence], 16),
            (vec![W::HowRefused, W::HowUnbuildable, W::HowSuppressed, W::HowExpired], 16),
            (vec![W::KnownNotSent, W::KnownAccepted, W::KnownNobody], 16),
        ];
        for (words, cells) in fits {
            for word in words {
                for &language in Language::ALL {
                    let text = word.text(language);
                    assert!(text.width() <= cells, "{word:?} {text}: {} cells", text.width());
                }
            }
        }
    }

    #[test]
    fn a_value_stands_where_its_placeholder_was() {
        let said = Sentence::Unknown.with(Language::Ko, &[("n", "5")]);
        assert_eq!(said, "발송 중에 중단되어 5건은 발송 여부를 알 수 없습니다.");
        assert_eq!(Sentence::Unknown.with(Language::En, &[]).matches("{n}").count(), 1);
    }
}
