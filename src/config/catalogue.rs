//! Catalogues of words and sentences: one entry, three languages, side by side.

/// Makes one enum of a catalogue: each entry has its words in English, Japanese and Korean.
macro_rules! catalogue {
    ($(#[$doc:meta])* $seen:vis $name:ident { $($entry:ident: $en:literal, $ja:literal, $ko:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $seen enum $name { $($entry,)+ }

        impl $name {
            /// Every entry, for the tests that compare the languages.
            #[cfg(test)]
            $seen const ALL: &'static [Self] = &[$(Self::$entry,)+];

            /// Returns the words in that language.
            $seen const fn text(self, language: $crate::config::Language) -> &'static str {
                match (self, language) {
                    $((Self::$entry, $crate::config::Language::En) => $en,
                      (Self::$entry, $crate::config::Language::Ja) => $ja,
                      (Self::$entry, $crate::config::Language::Ko) => $ko,)+
                }
            }
        }
    };
}

pub(crate) use catalogue;

/// Returns a sentence with its placeholders filled; one nobody fills stays as it is.
pub fn fill(sentence: &str, values: &[(&str, &str)]) -> String {
    let mut rest = sentence;
    let mut out = String::with_capacity(rest.len() + 16);
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            break;
        };
        if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
            out.push_str(value);
        } else {
            out.push('{');
            out.push_str(name);
            out.push('}');
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}
