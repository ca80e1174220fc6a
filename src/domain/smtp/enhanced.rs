//! The enhanced status code of RFC 3463: three numbers that say what a reply is about.

use std::fmt;
use std::str::FromStr;

/// An enhanced status code, as in `550 5.1.1 no such user`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Enhanced {
    /// 2, 4 or 5; it may disagree with the reply's own first digit, so it never decides alone.
    pub class: u8,
    pub subject: u16,
    pub detail: u16,
}

impl Enhanced {
    pub const fn new(class: u8, subject: u16, detail: u16) -> Self {
        Self { class, subject, detail }
    }

    /// Reads the code at the beginning of a reply's text.
    pub fn in_text(text: &str) -> Option<Self> {
        text.split_ascii_whitespace().next()?.parse().ok()
    }
}

/// Says that a text is no enhanced status code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an enhanced status code")]
pub struct NoEnhanced;

impl FromStr for Enhanced {
    type Err = NoEnhanced;

    fn from_str(word: &str) -> Result<Self, NoEnhanced> {
        let number = |part: Option<&str>| {
            let part = part.filter(|p| (1..=3).contains(&p.len()))?;
            part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse::<u16>().ok())?
        };
        let mut parts = word.split('.');
        let (class, subject, detail) =
            (number(parts.next()), number(parts.next()), number(parts.next()));
        match (class, subject, detail, parts.next()) {
            (Some(class @ (2 | 4 | 5)), Some(subject), Some(detail), None) => {
                Ok(Self { class: class.to_le_bytes()[0], subject, detail })
            }
            _ => Err(NoEnhanced),
        }
    }
}

impl fmt::Display for Enhanced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.class, self.subject, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enhanced_code_is_three_numbers_at_the_beginning_of_the_text() {
        for (text, code) in [
            ("5.1.1 no such user", Some(Enhanced::new(5, 1, 1))),
            ("5.7.515 denied", Some(Enhanced::new(5, 7, 515))),
            ("4.2.2\nsecond line", Some(Enhanced::new(4, 2, 2))),
            ("2.0.0", Some(Enhanced::new(2, 0, 0))),
            ("no such user 5.1.1", None),
            ("3.1.1 x", None),
            ("5.1 x", None),
            ("5.1.1.1 x", None),
            ("5.1.1000 x", None),
            ("5..1 x", None),
            ("+5.1.1 x", None),
            ("", None),
        ] {
            assert_eq!(Enhanced::in_text(text), code, "{text}");
        }
    }

    #[test]
    fn an_enhanced_code_prints_as_it_is_written() {
        assert_eq!("5.7.26".parse::<Enhanced>().unwrap().to_string(), "5.7.26");
    }
}
