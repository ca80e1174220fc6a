//! Colours by meaning; nothing is said by colour alone.

use ratatui::style::{Color, Modifier, Style};

/// What a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Of less interest: rules, units, hints.
    Dim,
    /// Names a part of the screen.
    Title,
    /// The row or field that keys act on.
    Chosen,
    Good,
    Bad,
    /// Nobody knows.
    Doubt,
    /// A person is needed.
    Warn,
    /// A key on the keyboard.
    Key,
}

/// The colours of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Dark,
    Light,
    Sixteen,
    /// No colour at all: bold, underlined and reversed must do.
    None,
}

impl Tone {
    /// Returns the tone while the numbers are old: all but what is chosen is dimmed.
    pub(super) const fn greyed(self) -> Self {
        match self {
            Self::Chosen | Self::Warn | Self::Key => self,
            _ => Self::Dim,
        }
    }
}

impl Theme {
    /// Chooses by what the surroundings say of the terminal.
    ///
    /// `chosen` is `ITTSU_THEME`; `NO_COLOR` wins over everything, as its convention asks.
    pub fn of(no_color: bool, chosen: Option<&str>, term: &str, depth: &str, ground: &str) -> Self {
        match chosen {
            _ if no_color => return Self::None,
            Some("dark") => return Self::Dark,
            Some("light") => return Self::Light,
            Some("16") => return Self::Sixteen,
            Some("none") => return Self::None,
            _ => {}
        }
        if term == "dumb" {
            return Self::None;
        }
        if !term.contains("256") && !matches!(depth, "truecolor" | "24bit") {
            return Self::Sixteen;
        }
        // `COLORFGBG` ends in the number of the background: 7 and 15 are white.
        match ground.rsplit(';').next() {
            Some("7" | "15") => Self::Light,
            _ => Self::Dark,
        }
    }

    /// Returns the style of a tone.
    pub(super) const fn style(self, tone: Tone) -> Style {
        match self {
            Self::Dark => Self::coloured(tone, [245, 75, 208, 220, 214, 110, 24, 255]),
            Self::Light => Self::coloured(tone, [242, 25, 160, 130, 166, 24, 153, 16]),
            Self::Sixteen => Self::sixteen(tone),
            Self::None => Self::plain(tone),
        }
    }

    /// The colours: dim, good, bad, doubt, warn, key, ground and letters of what is chosen.
    ///
    /// Blue and orange rather than green and red, which many people cannot tell apart.
    const fn coloured(tone: Tone, colours: [u8; 8]) -> Style {
        let [dim, good, bad, doubt, warn, key, ground, letters] = colours;
        match tone {
            Tone::Plain => Style::new(),
            Tone::Dim => Style::new().fg(Color::Indexed(dim)),
            Tone::Title => Style::new().add_modifier(Modifier::BOLD),
            Tone::Chosen => Style::new()
                .bg(Color::Indexed(ground))
                .fg(Color::Indexed(letters))
                .add_modifier(Modifier::BOLD),
            Tone::Good => Style::new().fg(Color::Indexed(good)),
            Tone::Bad => Style::new().fg(Color::Indexed(bad)),
            Tone::Doubt => Style::new().fg(Color::Indexed(doubt)).add_modifier(Modifier::BOLD),
            Tone::Warn => Style::new().fg(Color::Indexed(warn)).add_modifier(Modifier::BOLD),
            Tone::Key => Style::new().fg(Color::Indexed(key)),
        }
    }

    const fn sixteen(tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::new(),
            Tone::Dim => Style::new().add_modifier(Modifier::DIM),
            Tone::Title => Style::new().add_modifier(Modifier::BOLD),
            Tone::Chosen => Style::new().add_modifier(Modifier::REVERSED),
            Tone::Good => Style::new().fg(Color::Cyan),
            Tone::Bad => Style::new().fg(Color::Red),
            Tone::Doubt => Style::new().fg(Color::Magenta).add_modifier(Modifier::BOLD),
            Tone::Warn => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Key => Style::new().fg(Color::Blue),
        }
    }

    const fn plain(tone: Tone) -> Style {
        match tone {
            Tone::Plain | Tone::Good | Tone::Dim => Style::new(),
            Tone::Title | Tone::Bad => Style::new().add_modifier(Modifier::BOLD),
            Tone::Chosen => Style::new().add_modifier(Modifier::REVERSED),
            Tone::Doubt | Tone::Warn => {
                Style::new().add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED))
            }
            Tone::Key => Style::new().add_modifier(Modifier::UNDERLINED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TONES: [Tone; 9] = [
        Tone::Plain,
        Tone::Dim,
        Tone::Title,
        Tone::Chosen,
        Tone::Good,
        Tone::Bad,
        Tone::Doubt,
        Tone::Warn,
        Tone::Key,
    ];

    #[test]
    fn without_colour_no_colour_is_ever_written_and_what_is_chosen_still_shows() {
        for tone in TONES {
            let style = Theme::None.style(tone);
            assert_eq!((style.fg, style.bg), (None, None), "{tone:?}");
        }
        assert!(Theme::None.style(Tone::Chosen).add_modifier.contains(Modifier::REVERSED));
    }

    #[test]
    fn the_surroundings_choose_and_no_color_wins() {
        let of = |no, chosen, term, depth, ground| Theme::of(no, chosen, term, depth, ground);
        assert_eq!(of(true, Some("dark"), "xterm-256color", "", ""), Theme::None);
        assert_eq!(of(false, Some("light"), "xterm", "", ""), Theme::Light);
        assert_eq!(of(false, None, "xterm", "", ""), Theme::Sixteen);
        assert_eq!(of(false, None, "xterm", "truecolor", ""), Theme::Dark);
        assert_eq!(of(false, None, "screen-256color", "", "0;15"), Theme::Light);
        assert_eq!(of(false, None, "dumb", "", ""), Theme::None);
    }
}
