//! Times as people read them, in the configured time zone.

use jiff::tz::TimeZone;

use crate::domain::time::Timestamp;

/// Returns RFC 3339 with the zone's offset: what JSON documents carry.
pub fn rfc3339(at: Timestamp, zone: &TimeZone) -> String {
    show(at, zone, "%Y-%m-%dT%H:%M:%S%:z")
}

/// Returns RFC 3339 to the millisecond, for the steps of one hand-over.
pub fn rfc3339_exact(at: Timestamp, zone: &TimeZone) -> String {
    show(at, zone, "%Y-%m-%dT%H:%M:%S%.3f%:z")
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

/// Returns the time of day to the minute, with the date where it is another one than `now`'s.
pub fn near(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    if show(at, zone, "%F") == show(now, zone, "%F") {
        show(at, zone, "%H:%M")
    } else {
        minute(at, zone)
    }
}

/// Returns the name of a time zone, as it is said once per page.
pub fn zone_name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("local time")
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
    fn a_date_is_said_only_where_it_is_another_day() {
        let now = Timestamp(1_796_016_727_000_000);
        let later = Timestamp(now.0 + 12 * 60 * 1_000_000);
        assert_eq!(near(later, now, &tokyo()), "14:44");
        let tomorrow = Timestamp(now.0 + 86_400 * 1_000_000);
        assert_eq!(near(tomorrow, now, &tokyo()), "2026-12-01 14:32");
    }
}
