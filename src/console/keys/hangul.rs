//! What was meant while an input method was on.

use super::half_width;

/// What a sign stands for on the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    Itself,
    /// The key under it on a Korean two-set keyboard, or a full-width sign's plain one.
    Letter(char),
    /// A syllable or a kana: several keys made it.
    Nobody,
}

/// The two-set layout, key by key.
const TWO_SET: &[(char, char)] = &[
    ('ㅂ', 'q'),
    ('ㅈ', 'w'),
    ('ㄷ', 'e'),
    ('ㄱ', 'r'),
    ('ㅅ', 't'),
    ('ㅛ', 'y'),
    ('ㅕ', 'u'),
    ('ㅑ', 'i'),
    ('ㅐ', 'o'),
    ('ㅔ', 'p'),
    ('ㅁ', 'a'),
    ('ㄴ', 's'),
    ('ㅇ', 'd'),
    ('ㄹ', 'f'),
    ('ㅎ', 'g'),
    ('ㅗ', 'h'),
    ('ㅓ', 'j'),
    ('ㅏ', 'k'),
    ('ㅣ', 'l'),
    ('ㅋ', 'z'),
    ('ㅌ', 'x'),
    ('ㅊ', 'c'),
    ('ㅍ', 'v'),
    ('ㅠ', 'b'),
    ('ㅜ', 'n'),
    ('ㅡ', 'm'),
    ('ㅃ', 'Q'),
    ('ㅉ', 'W'),
    ('ㄸ', 'E'),
    ('ㄲ', 'R'),
    ('ㅆ', 'T'),
    ('ㅒ', 'O'),
    ('ㅖ', 'P'),
];

/// Returns what a sign stands for.
pub(super) fn latin(c: char) -> Meant {
    if let Some((_, letter)) = TWO_SET.iter().find(|(jamo, _)| *jamo == c) {
        return Meant::Letter(*letter);
    }
    match half_width(c) {
        plain if plain != c => Meant::Letter(plain),
        '\u{3040}'..='\u{30ff}' | '\u{3131}'..='\u{318e}' | '\u{ac00}'..='\u{d7a3}' => {
            Meant::Nobody
        }
        '\u{4e00}'..='\u{9fff}' | '\u{ff61}'..='\u{ff9f}' => Meant::Nobody,
        _ => Meant::Itself,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_of_the_two_set_layout_is_there() {
        let letters: String = ('a'..='z').collect();
        for letter in letters.chars() {
            assert!(TWO_SET.iter().any(|(_, latin)| *latin == letter), "{letter}");
        }
    }

    #[test]
    fn a_word_is_no_key() {
        assert_eq!(latin('送'), Meant::Nobody);
        assert_eq!(latin('ｱ'), Meant::Nobody);
        assert_eq!(latin('é'), Meant::Itself);
    }
}
