//! Numbers and spans of time as people read them.

use std::time::Duration;

/// Returns a number with separators of thousands: `48,210`.
pub fn thousands(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if n < 0 {
        text.push('-');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a span of time in its largest unit that says enough: `45 s`, `12 min`, `3 h`, `2 days`.
pub fn age(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Returns a share in percent that never says 100 while something is missing.
pub fn percent(part: i64, whole: i64) -> String {
    if whole <= 0 {
        return "0".to_owned();
    }
    (i128::from(part) * 100 / i128::from(whole)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let shown = [0, 999, 1_000, 48_210, 1_000_000, -1_234].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "48,210", "1,000,000", "-1,234"]);
    }

    #[test]
    fn a_span_says_its_largest_unit() {
        let shown = [5, 119, 120, 7_199, 7_200, 200_000].map(|s| age(Duration::from_secs(s)));
        assert_eq!(shown, ["5 s", "119 s", "2 min", "119 min", "2 h", "2 days"]);
    }

    #[test]
    fn a_hundred_percent_means_everybody() {
        assert_eq!(percent(4_999, 5_000), "99");
        assert_eq!(percent(5_000, 5_000), "100");
        assert_eq!(percent(0, 0), "0");
    }
}
