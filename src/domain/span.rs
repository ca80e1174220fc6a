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

/// Every unit with its milliseconds, the longest first; `min` is read but not printed.
const UNITS: &[(&str, u64)] =
    &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl FromStr for Span {
    type Err = BadSpan;

    fn from_str(text: &str) -> Result<Self, BadSpan> {
        read(text.trim()).map(Self).ok_or_else(|| BadSpan(text.to_owned()))
    }
}

/// Reads numbers with their units, each unit shorter than the one before.
fn read(mut rest: &str) -> Option<Duration> {
    let (mut total, mut unit_before) = (0_u64, u64::MAX);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let unit = if unit == "min" { "m" } else { unit };
        let &(_, millis) = UNITS.iter().find(|(name, _)| *name == unit)?;
        if millis >= unit_before {
            return None;
        }
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(millis)?)?;
        (unit_before, rest) = (millis, tail.trim_start());
    }
    (unit_before != u64::MAX).then(|| Duration::from_millis(total))
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        if rest == 0 {
            return f.write_str("0s");
        }
        for &(unit, millis) in UNITS {
            if rest >= millis {
                write!(f, "{}{unit}", rest / millis)?;
                rest %= millis;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::milliseconds("500ms", 500, "500ms")]
    #[case::seconds("10s", 10_000, "10s")]
    #[case::minutes("5m", 300_000, "5m")]
    #[case::minutes_in_full("5min", 300_000, "5m")]
    #[case::hours("4h", 14_400_000, "4h")]
    #[case::days("3d", 259_200_000, "3d")]
    #[case::mixed("1h30m", 5_400_000, "1h30m")]
    #[case::mixed_with_blanks(" 1h 30m ", 5_400_000, "1h30m")]
    #[case::more_than_a_unit_holds("90m", 5_400_000, "1h30m")]
    #[case::nothing("0s", 0, "0s")]
    fn a_span_reads_and_prints(#[case] text: &str, #[case] millis: u64, #[case] printed: &str) {
        let span: Span = text.parse().unwrap();
        assert_eq!((span.0, span.to_string()), (Duration::from_millis(millis), printed.into()));
    }

    #[rstest]
    #[case::empty("")]
    #[case::no_unit("5")]
    #[case::no_number("m")]
    #[case::unknown_unit("5w")]
    #[case::capital("5M")]
    #[case::negative("-5m")]
    #[case::fraction("1.5h")]
    #[case::wrong_order("30m1h")]
    #[case::twice("5m5m")]
    #[case::too_long("99999999999999999999d")]
    #[case::overflow("18446744073709551615d")]
    fn what_is_no_span(#[case] text: &str) {
        assert_eq!(text.parse::<Span>(), Err(BadSpan(text.to_owned())));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(millis in 0_u64..1_000_000_000_000) {
            let span = Span(Duration::from_millis(millis));
            prop_assert_eq!(span.to_string().parse::<Span>(), Ok(span));
        }
    }
}
