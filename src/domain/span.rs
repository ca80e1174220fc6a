//! Lengths of time as people write them: `10s`, `5m`, `4h`, `3d`, `1h30m`, `500ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A length of time that reads and prints like `5m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub Duration);

/// Says what is wrong with a length of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no length of time; write it like 500ms, 10s, 5m, 4h, 3d or 1h30m")]
pub struct BadSpan(pub String);

impl FromStr for Span {
    type Err = BadSpan;

    fn from_str(_text: &str) -> Result<Self, BadSpan> {
        todo!()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
