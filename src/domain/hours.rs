//! The hours of the day in which a kind may send.

use std::fmt;
use std::str::FromStr;

/// Minutes of a whole day.
const DAY: u16 = 24 * 60;

/// Sending hours such as `08:00-21:00`, also over midnight (`21:00-06:00`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    /// The first minute of the local day that is inside.
    pub from: u16,
    /// The first minute that is outside again; 1440 is the end of the day.
    pub until: u16,
}

/// Says what is wrong with sending hours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` are no sending hours; write them like 08:00-21:00")]
pub struct BadHours(pub String);

impl Hours {
    /// Reports whether `minute` of the local day lies inside.
    pub const fn contains(self, minute: u16) -> bool {
        if self.from < self.until {
            self.from <= minute && minute < self.until
        } else {
            self.from <= minute || minute < self.until
        }
    }

    /// Returns the minutes to wait at `minute` of the local day until it is open; 0 inside.
    ///
    /// On a day that changes its clock the caller asks again when the wait is over.
    pub const fn minutes_until_open(self, minute: u16) -> u16 {
        if self.contains(minute) { 0 } else { (self.from + DAY - minute) % DAY }
    }
}

impl FromStr for Hours {
    type Err = BadHours;

    fn from_str(text: &str) -> Result<Self, BadHours> {
        let read = || {
            let (from, until) = text.trim().split_once('-')?;
            let (from, until) = (minute_of_day(from.trim())?, minute_of_day(until.trim())?);
            (from != until && from < DAY).then_some(Self { from, until })
        };
        read().ok_or_else(|| BadHours(text.to_owned()))
    }
}

/// Reads `8:00` or `21:30`; `24:00` is the end of the day.
fn minute_of_day(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !digits(hour) || !digits(minute) || hour.len() > 2 || minute.len() != 2 {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    (minute < 60 && hour * 60 + minute <= DAY).then_some(hour * 60 + minute)
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (self.from, self.until);
        write!(f, "{:02}:{:02}-{:02}:{:02}", a / 60, a % 60, b / 60, b % 60)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn at(hour: u16, minute: u16) -> u16 {
        hour * 60 + minute
    }

    #[rstest]
    #[case::before(at(7, 59), false, 1)]
    #[case::the_first_minute(at(8, 0), true, 0)]
    #[case::the_last_minute(at(20, 59), true, 0)]
    #[case::after(at(21, 0), false, 11 * 60)]
    #[case::midnight(0, false, 8 * 60)]
    fn the_day(#[case] minute: u16, #[case] inside: bool, #[case] wait: u16) {
        let hours: Hours = "08:00-21:00".parse().unwrap();
        assert_eq!((hours.contains(minute), hours.minutes_until_open(minute)), (inside, wait));
    }

    #[rstest]
    #[case::before(at(20, 59), false, 1)]
    #[case::the_first_minute(at(21, 0), true, 0)]
    #[case::midnight(0, true, 0)]
    #[case::the_last_minute(at(5, 59), true, 0)]
    #[case::after(at(6, 0), false, 15 * 60)]
    fn over_midnight(#[case] minute: u16, #[case] inside: bool, #[case] wait: u16) {
        let hours: Hours = "21:00-06:00".parse().unwrap();
        assert_eq!((hours.contains(minute), hours.minutes_until_open(minute)), (inside, wait));
    }

    #[test]
    fn hours_until_midnight_are_written_either_way() {
        for text in ["18:00-24:00", "18:00-00:00"] {
            let hours: Hours = text.parse().unwrap();
            assert!(
                hours.contains(at(23, 59)) && !hours.contains(0) && !hours.contains(at(17, 59))
            );
            assert_eq!(hours.to_string(), text);
        }
    }

    #[rstest]
    #[case::empty("")]
    #[case::one_time("08:00")]
    #[case::no_minutes("8-21")]
    #[case::no_such_hour("08:00-25:00")]
    #[case::no_such_minute("08:60-21:00")]
    #[case::after_the_end("08:00-24:01")]
    #[case::nothing("08:00-08:00")]
    #[case::begins_at_the_end("24:00-08:00")]
    #[case::signs("+8:00-21:00")]
    fn what_are_no_hours(#[case] text: &str) {
        assert_eq!(text.parse::<Hours>(), Err(BadHours(text.to_owned())));
    }
}
