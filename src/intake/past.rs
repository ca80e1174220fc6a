//! The columns in which an older system's record says what became of each mail.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::finding::Why;
use crate::domain::past::Past;
use crate::domain::state::State;
use crate::domain::time::Timestamp;

/// Which columns say what became of a mail, and what their words mean here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastMapping {
    pub state: String,
    pub attempts: Option<String>,
    pub settled_at: Option<String>,
    /// The older system's words, besides our own.
    pub words: Vec<(String, State)>,
    /// Of times without an offset.
    pub zone: TimeZone,
}

impl PastMapping {
    /// Returns the state a word stands for.
    fn state(&self, word: &str) -> Option<State> {
        known(&self.words, word)
    }

    /// Reads the values of one line; the name of the column is returned with what is wrong in it.
    pub(super) fn read<'a>(
        &'a self,
        value: impl Fn(&str) -> &'a str,
    ) -> Result<Past, (&'a str, Why)> {
        let word = value(&self.state).trim();
        let state = self.state(word).ok_or((self.state.as_str(), Why::NoState))?;
        let said = |column: &'a Option<String>| {
            let column = column.as_deref()?;
            Some((column, value(column).trim())).filter(|(_, text)| !text.is_empty())
        };
        let attempts = match said(&self.attempts) {
            None => None,
            Some((column, text)) => match text.parse::<i64>() {
                Ok(n) if (0..=MOST_ATTEMPTS).contains(&n) => Some(n),
                _ => return Err((column, Why::NoAttempts)),
            },
        };
        let settled_at = match said(&self.settled_at) {
            None => None,
            // What MySQL writes for no time at all.
            Some((_, text)) if text.starts_with("0000-00-00") => None,
            Some((column, text)) => match moment(text, &self.zone) {
                Some(at) => Some(at),
                None => return Err((column, Why::NoTime)),
            },
        };
        Ok(Past::of(state, attempts, settled_at))
    }
}

/// More than that is no number of attempts.
const MOST_ATTEMPTS: i64 = 1_000_000;

/// Returns the state that an older system's word stands for; our own words stand for themselves
/// unless they are given another meaning.
pub(super) fn known(words: &[(String, State)], word: &str) -> Option<State> {
    let word = word.trim();
    let given = words.iter().find(|(old, _)| old == word).map(|(_, state)| *state);
    given.or_else(|| State::from_word(word))
}

/// Reads a time; a local one that comes twice is taken for the first, it is for people only.
fn moment(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let local = || {
        let local = text.parse::<DateTime>().ok()?;
        zone.to_ambiguous_timestamp(local).compatible().ok()
    };
    let at = text.parse::<jiff::Timestamp>().ok().or_else(local)?;
    Some(Timestamp(at.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn mapping() -> PastMapping {
        PastMapping {
            state: "state".to_owned(),
            attempts: Some("attempts".to_owned()),
            settled_at: Some("settled_at".to_owned()),
            words: vec![("done".to_owned(), State::Sent), ("2".to_owned(), State::Failed)],
            zone: TimeZone::get("Asia/Tokyo").unwrap(),
        }
    }

    fn read(values: [&'static str; 3]) -> Result<Past, (String, Why)> {
        let mapping = mapping();
        let value = |column: &str| match column {
            "state" => values[0],
            "attempts" => values[1],
            _ => values[2],
        };
        mapping.read(value).map_err(|(column, why)| (column.to_owned(), why))
    }

    #[rstest]
    #[case::its_own_word(["done", "1", ""], State::Sent)]
    #[case::a_number(["2", "", ""], State::Failed)]
    #[case::our_word([" ready ", "", ""], State::Ready)]
    #[case::in_the_air(["sending", "3", "0000-00-00 00:00:00"], State::Sending)]
    fn a_word_is_read_as_it_was_mapped(#[case] values: [&'static str; 3], #[case] state: State) {
        assert_eq!(read(values).unwrap().state, state);
    }

    #[rstest]
    #[case::unknown_word(["Done", "1", ""], "state", Why::NoState)]
    #[case::no_word(["", "1", ""], "state", Why::NoState)]
    #[case::below_zero(["sent", "-1", ""], "attempts", Why::NoAttempts)]
    #[case::text(["sent", "many", ""], "attempts", Why::NoAttempts)]
    #[case::no_time(["sent", "1", "yesterday"], "settled_at", Why::NoTime)]
    fn what_cannot_be_read_names_its_column(
        #[case] values: [&'static str; 3],
        #[case] column: &str,
        #[case] why: Why,
    ) {
        assert_eq!(read(values), Err((column.to_owned(), why)));
    }

    #[test]
    fn a_time_without_an_offset_is_in_the_configured_zone() {
        let at = |text| read(["sent", "", text]).unwrap().settled_at.unwrap();
        let moment = at("2026-11-30T05:00:00Z");
        for text in ["2026-11-30 14:00:00", "2026-11-30T14:00:00+09:00", "2026-11-30 14:00:00.0"] {
            assert_eq!(at(text), moment, "{text}");
        }
        assert!(at("2026-11-30") < moment);
    }
}
