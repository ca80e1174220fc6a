//! Times as people write and read them, in the configured time zone.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::error::OpsError;
use crate::domain::time::Timestamp;

/// Returns RFC 3339 with the zone's offset: what JSON documents carry.
pub fn rfc3339(at: Timestamp, zone: &TimeZone) -> String {
    show(at, zone, "%Y-%m-%dT%H:%M:%S%:z")
}

/// Returns date and time to the minute; the zone is named once, elsewhere.
pub fn minute(at: Timestamp, zone: &TimeZone) -> String {
    show(at, zone, "%Y-%m-%d %H:%M")
}

/// Returns date and time to the millisecond, for the steps of one hand-over.
pub fn exact(at: Timestamp, zone: &TimeZone) -> String {
    show(at, zone, "%Y-%m-%d %H:%M:%S%.3f")
}

/// Returns the time of day, for what happened a moment ago.
pub fn clock_time(at: Timestamp, zone: &TimeZone) -> String {
    show(at, zone, "%H:%M:%S")
}

fn show(at: Timestamp, zone: &TimeZone, format: &str) -> String {
    match jiff::Timestamp::from_microsecond(at.0) {
        Ok(moment) => moment.to_zoned_datetime(zone.clone()).strftime(format).to_string(),
        // Outside of the years that a calendar knows: the number is all that can be said.
        Err(_) => at.0.to_string(),
    }
}

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
    fn a_time_is_shown_with_the_offset_of_its_zone() {
        let at = Timestamp(1_796_016_727_123_456);
        assert_eq!(rfc3339(at, &tokyo()), "2026-11-30T14:32:07+09:00");
        assert_eq!(minute(at, &tokyo()), "2026-11-30 14:32");
        assert_eq!(exact(at, &TimeZone::UTC), "2026-11-30 05:32:07.123");
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
