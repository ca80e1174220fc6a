//! The hours of the day in which a kind may send.

use std::fmt;
use std::str::FromStr;

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
        if self.from <= self.until {
            self.from <= minute && minute < self.until
        } else {
            self.from <= minute || minute < self.until
        }
    }

    /// Returns the minutes to wait at `minute` of the local day; 0 inside.
    pub const fn minutes_until_open(self, minute: u16) -> u16 {
        if self.contains(minute) { 0 } else { (self.from + 1440 - minute) % 1440 }
    }
}

impl FromStr for Hours {
    type Err = BadHours;

    fn from_str(_text: &str) -> Result<Self, BadHours> {
        todo!()
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (self.from, self.until);
        write!(f, "{:02}:{:02}-{:02}:{:02}", a / 60, a % 60, b / 60, b % 60)
    }
}
