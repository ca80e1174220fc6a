//! The signs that the console itself draws, and how wide the terminal draws uncertain ones.

/// A set of signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// What every terminal and every font has.
    Ascii,
    /// Thin lines and blocks.
    Blocks,
}

/// How wide a terminal draws signs such as `※`, of which Unicode leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguous {
    Narrow,
    Wide,
}

/// The shares of a batch, in the order of its bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    pub sent: i64,
    pub failed: i64,
    pub unknown: i64,
    pub total: i64,
}

impl Glyphs {
    /// Chooses: blocks need UTF-8, and lines need a terminal that draws them one cell wide.
    pub const fn of(ascii_wanted: bool, utf8: bool, ambiguous: Ambiguous) -> Self {
        match ambiguous {
            Ambiguous::Narrow if utf8 && !ascii_wanted => Self::Blocks,
            _ => Self::Ascii,
        }
    }

    pub const fn rule(self) -> &'static str {
        match self {
            Self::Ascii => "-",
            Self::Blocks => "\u{2500}",
        }
    }

    pub const fn upright(self) -> &'static str {
        match self {
            Self::Ascii => "|",
            Self::Blocks => "\u{2502}",
        }
    }

    /// Returns the signs of sent, failed, unknown and what is not yet; they differ in shape.
    pub const fn bar(self) -> [&'static str; 4] {
        match self {
            Self::Ascii => ["#", "x", "?", "."],
            Self::Blocks => ["\u{2588}", "x", "?", "\u{2591}"],
        }
    }

    /// Returns the sign of a column of a graph, of `height` out of 8.
    pub const fn column(self, height: usize) -> &'static str {
        const ASCII: [&str; 9] = [" ", ".", ".", "-", "-", "=", "=", "#", "#"];
        const BLOCKS: [&str; 9] = [
            " ", "\u{2581}", "\u{2582}", "\u{2583}", "\u{2584}", "\u{2585}", "\u{2586}",
            "\u{2587}", "\u{2588}",
        ];
        let height = if height > 8 { 8 } else { height };
        match self {
            Self::Ascii => ASCII[height],
            Self::Blocks => BLOCKS[height],
        }
    }
}

impl Shares {
    /// Divides a bar of `width` cells; it is full only when nothing is left.
    ///
    /// Whatever there is at all shows at least once, so that three failures of a million are seen.
    pub fn cells(self, width: usize) -> [usize; 4] {
        let Self { sent, failed, unknown, total } = self;
        if total <= 0 || width == 0 {
            return [0, 0, 0, width];
        }
        let exact = |n: i64| usize::try_from(i128::from(n) * width as i128 / i128::from(total));
        let at_least_one = |n: i64| exact(n).unwrap_or(0).max(usize::from(n > 0));
        let open = total - sent - failed - unknown;
        let mut parts = [0, at_least_one(failed), at_least_one(unknown), usize::from(open > 0)];
        let kept: usize = parts.iter().sum();
        if kept >= width {
            // Too narrow for all: what a person must see comes first.
            let mut room = width;
            for part in [2, 1, 3, 0] {
                parts[part] = parts[part].min(room);
                room -= parts[part];
            }
            return parts;
        }
        parts[0] = exact(sent).unwrap_or(0).min(width - kept);
        if open > 0 {
            parts[3] = width - parts[0] - parts[1] - parts[2];
        } else {
            parts[0] = width - parts[1] - parts[2];
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bar_is_full_only_when_nothing_is_left() {
        let shares = |sent, failed, unknown, total| Shares { sent, failed, unknown, total };
        assert_eq!(shares(999_999, 0, 0, 1_000_000).cells(10), [9, 0, 0, 1]);
        assert_eq!(shares(1_000_000, 0, 0, 1_000_000).cells(10), [10, 0, 0, 0]);
        assert_eq!(shares(999_997, 3, 0, 1_000_000).cells(10), [9, 1, 0, 0]);
        assert_eq!(shares(0, 0, 0, 5).cells(10), [0, 0, 0, 10]);
        assert_eq!(shares(0, 0, 0, 0).cells(10), [0, 0, 0, 10]);
        assert_eq!(shares(34_581, 115, 5, 48_210).cells(14), [10, 1, 1, 2]);
    }

    proptest! {
        #[test]
        fn the_parts_of_a_bar_make_its_width(
            sent in 0i64..2_000_000, failed in 0i64..9_000, unknown in 0i64..900,
            open in 0i64..2_000_000, width in 0usize..60,
        ) {
            let total = sent + failed + unknown + open;
            let parts = Shares { sent, failed, unknown, total }.cells(width);
            prop_assert_eq!(parts.iter().sum::<usize>(), width);
            if open > 0 && width > 3 {
                prop_assert!(parts[3] > 0);
            }
        }
    }
}
