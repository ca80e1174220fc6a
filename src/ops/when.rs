//! Times as people write and read them, in the configured time zone.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::error::OpsError;
use crate::domain::time::Timestamp;

pub use crate::report::when::{clock_time, exact, minute, rfc3339, rfc3339_exact};

/// Reads RFC 3339, or local time in `zone` such as `2026-11-30T18:00` or `2026-11-30 18:00`.
///
/// A local time that the clocks skip or repeat is refused: nobody can know which one is meant.
pub fn parse(text: &str, zone: &TimeZone) -> Result<Timestamp, OpsError> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp(moment.as_microsecond()));
    }
    let local = text.parse::<DateTime>().map_err(|err| {
        OpsError::usage(format!("`{text}` is no time: {err}"))
            .hint("write it like 2026-11-30T18:00 or 2026-11-30T18:00:00+09:00")
    })?;
    let moment = zone.to_ambiguous_timestamp(local).unambiguous().map_err(|err| {
        OpsError::usage(format!("`{text}` is skipped or comes twice in this time zone: {err}"))
            .hint("add the offset, as in 2026-11-30T18:00:00+09:00")
    })?;
    Ok(Timestamp(moment.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokyo() -> TimeZone {
        TimeZone::get("Asia/Tokyo").unwrap()
    }

    #[test]
    fn local_time_and_rfc_3339_name_the_same_moment() {
        let zone = tokyo();
        let moment = parse("2026-11-30T18:00:00+09:00", &zone).unwrap();
        for text in ["2026-11-30T18:00", "2026-11-30 18:00", "2026-11-30T09:00:00Z"] {
            assert_eq!(parse(text, &zone).unwrap(), moment, "{text}");
        }
    }

    #[test]
    fn a_time_that_is_none_or_comes_twice_is_refused() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        for text in ["tomorrow", "18:00", "2026-10-25T02:30", "2026-03-29T02:30"] {
            assert!(parse(text, &berlin).is_err(), "{text}");
        }
        assert!(parse("2026-10-25T02:30:00+02:00", &berlin).is_ok());
    }
}
