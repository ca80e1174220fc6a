//! Keeps addresses out of reports that travel.

use crate::domain::address::mask;
use crate::domain::text::visible;

use super::Privacy;

/// Shows texts as the report may show them: on one line, safe, and masked if it must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses(pub(super) Privacy);

impl Addresses {
    /// Returns an address.
    pub(super) fn address(self, address: &str) -> String {
        match self.0 {
            Privacy::Full => visible(address).into_owned(),
            Privacy::Masked => mask(address),
        }
    }

    /// Returns a text that may hold an address: a key, a reply, a value of the source.
    pub(super) fn text(self, text: &str) -> String {
        match self.0 {
            Privacy::Masked if text.contains('@') => visible(&masked(text)).into_owned(),
            _ => visible(text).into_owned(),
        }
    }
}

/// Masks every word of a text that has an @ in it, and what a quoted local part stands in.
fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars() {
        if ends_word(c) {
            flush(&mut out, &mut word);
            out.push(c);
        } else {
            word.push(c);
        }
    }
    flush(&mut out, &mut word);
    out
}

fn flush(out: &mut String, word: &mut String) {
    if word.contains('@') {
        out.push_str(&mask(word));
    } else {
        out.push_str(word);
    }
    word.clear();
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | ',' | ';' | ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_inside_a_servers_words_is_masked_as_well() {
        let masked = Addresses(Privacy::Masked);
        assert_eq!(
            masked.text("550 5.1.1 <taro.y@example.org>: user unknown"),
            "550 5.1.1 <t***@example.org>: user unknown"
        );
        assert_eq!(
            masked.text("mailto:a@b.example,c@d.example"),
            "mailto:a***@b.example,c***@d.example"
        );
        assert_eq!(masked.text("100234"), "100234");
        assert_eq!(Addresses(Privacy::Full).text("<a@b.example>"), "<a@b.example>");
    }

    #[test]
    fn a_text_is_shown_on_one_line_and_safe() {
        for privacy in [Privacy::Masked, Privacy::Full] {
            assert_eq!(Addresses(privacy).text("a\r\nb\u{1b}[2J"), "a\\r\\nb\\u{1b}[2J");
        }
    }
}
