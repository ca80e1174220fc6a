//! Drawing in cells: every text reaches the screen through [`Canvas::put`].
//!
//! Promise: nothing from outside commands the terminal (controls and direction marks are written
//! out), a wide sign is never cut, and nothing is drawn outside of the area it was given, whatever
//! the size of the screen.
//! Start reading at `Canvas`, then `theme`, then `glyphs`.

pub mod glyphs;
pub mod theme;

use std::num::NonZeroU16;

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use crate::domain::text::visible;
use glyphs::{Ambiguous, Glyphs};
use theme::{Theme, Tone};

/// How everything looks on this terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub theme: Theme,
    pub glyphs: Glyphs,
    /// How wide the terminal draws signs whose width is not certain.
    pub ambiguous: Ambiguous,
    /// Old numbers are shown, but greyed.
    pub greyed: bool,
}

/// Something to draw on.
#[derive(Debug)]
pub struct Canvas<'a> {
    buf: &'a mut Buffer,
    pub look: Look,
}

/// A column of a table: its width in cells, 0 for what is left over.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub width: u16,
    pub side: Side,
}

/// Where a text stands in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// A column whose text begins at its left.
pub const fn left(width: u16) -> Column {
    Column { width, side: Side::Left }
}

/// A column whose text ends at its right.
pub const fn right(width: u16) -> Column {
    Column { width, side: Side::Right }
}

/// What stands where a text was cut.
const CUT: &str = "..";
const CUT_CELLS: u16 = 2;

impl<'a> Canvas<'a> {
    pub const fn new(buf: &'a mut Buffer, look: Look) -> Self {
        Self { buf, look }
    }

    /// Returns the style of a tone.
    pub const fn style(&self, tone: Tone) -> Style {
        self.look.theme.style(if self.look.greyed { tone.greyed() } else { tone })
    }

    /// Returns how many cells a text takes.
    pub fn width(&self, text: &str) -> u16 {
        cells(&visible(text), self.look.ambiguous)
    }

    /// Writes one line of text into a row of `area`; what does not fit ends in `..`.
    ///
    /// Returns the cells that were used.
    pub fn put(&mut self, area: Rect, row: u16, text: &str, tone: Tone) -> u16 {
        self.put_at(area, 0, row, text, tone)
    }

    /// Writes one line of text beginning at a cell of a row.
    pub fn put_at(&mut self, area: Rect, column: u16, row: u16, text: &str, tone: Tone) -> u16 {
        let style = self.style(tone);
        let Some((x, y, room)) = self.room(area, column, row) else { return 0 };
        let text = visible(text);
        let fits = cells(&text, self.look.ambiguous) <= room;
        let whole = if fits { room } else { room.saturating_sub(CUT_CELLS) };
        let mut used = self.write(x, y, whole, &text, style);
        if !fits {
            used += self.write(x + used, y, room - used, CUT, style);
        }
        used
    }

    /// Writes a text so that it ends at the right edge of `area`.
    pub fn put_right(&mut self, area: Rect, row: u16, text: &str, tone: Tone) {
        let gap = area.width.saturating_sub(self.width(text));
        self.put_at(area, gap, row, text, tone);
    }

    /// Writes texts one after the other into a row.
    pub fn spans(&mut self, area: Rect, row: u16, texts: &[(&str, Tone)]) -> u16 {
        let mut used = 0;
        for (text, tone) in texts {
            used += self.put_at(area, used, row, text, *tone);
        }
        used
    }

    /// Writes one row of a table.
    pub fn cells(&mut self, area: Rect, row: u16, columns: &[Column], texts: &[(&str, Tone)]) {
        let places = places(columns, area.width);
        for ((column, (start, width)), (text, tone)) in columns.iter().zip(places).zip(texts) {
            let place = Rect { x: area.x + start, width, ..area };
            match column.side {
                Side::Left => {
                    self.put(place, row, text, *tone);
                }
                Side::Right => self.put_right(place, row, text, *tone),
            }
        }
    }

    /// Draws a rule across `area`, with a title in it.
    pub fn rule(&mut self, area: Rect, row: u16, title: &str) {
        let line = self.look.glyphs.rule().repeat(usize::from(area.width));
        self.put(area, row, &line, Tone::Dim);
        if !title.is_empty() {
            let room = Rect { width: area.width.saturating_sub(2), ..area };
            let used = self.put_at(room, 3, row, title, Tone::Title);
            self.put_at(room, 2, row, " ", Tone::Plain);
            self.put_at(area, 3 + used, row, " ", Tone::Plain);
        }
    }

    /// Writes a text over several rows, broken between words or between wide signs.
    ///
    /// Returns the rows that were used.
    pub fn wrapped(&mut self, area: Rect, row: u16, text: &str, tone: Tone) -> u16 {
        let mut used = 0;
        for line in self.wrap(text, area.width) {
            if row + used >= area.height {
                break;
            }
            self.put(area, row + used, &line, tone);
            used += 1;
        }
        used
    }

    /// Breaks a text into lines of at most `width` cells.
    pub fn wrap(&self, text: &str, width: u16) -> Vec<String> {
        wrap(&visible(text), width, self.look.ambiguous)
    }

    /// Gives every cell of a row the style of a tone, under the text that follows.
    pub fn tint(&mut self, area: Rect, row: u16, tone: Tone) {
        let style = self.style(tone);
        if let Some((x, y, room)) = self.room(area, 0, row) {
            self.buf.set_style(Rect { x, y, width: room, height: 1 }, style);
        }
    }

    /// Empties an area for something that lies over others; a wide sign that its edge would cut
    /// goes as a whole.
    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buf.area);
        if area.is_empty() {
            return;
        }
        let edge = area.x.checked_sub(1).filter(|&x| x >= self.buf.area.x);
        for y in area.top()..area.bottom() {
            if let Some(x) = edge
                && cells(self.buf[(x, y)].symbol(), self.look.ambiguous) > 1
            {
                self.buf[(x, y)].set_symbol(" ").diff_option = CellDiffOption::None;
            }
            for x in area.left()..area.right() {
                self.buf[(x, y)].reset();
            }
        }
    }

    /// Returns where a cell lies on the screen and how many cells follow it in its row.
    fn room(&self, area: Rect, column: u16, row: u16) -> Option<(u16, u16, u16)> {
        let seen = area.intersection(self.buf.area);
        let x = area.x.checked_add(column)?;
        let y = area.y.checked_add(row)?;
        let inside = x >= seen.left() && x < seen.right() && y >= seen.top() && y < seen.bottom();
        inside.then(|| (x, y, seen.right() - x))
    }

    fn write(&mut self, x: u16, y: u16, room: u16, text: &str, style: Style) -> u16 {
        let mut used = 0;
        for grapheme in Span::raw(text).styled_graphemes(style) {
            let width = cells(grapheme.symbol, self.look.ambiguous);
            if width == 0 {
                continue;
            }
            if used + width > room {
                break;
            }
            let cell = &mut self.buf[(x + used, y)];
            cell.set_symbol(grapheme.symbol).set_style(style);
            // What ratatui takes for narrow and the terminal draws wide: it must move past it.
            if usize::from(width) != grapheme.symbol.width()
                && let Some(width) = NonZeroU16::new(width)
            {
                cell.diff_option = CellDiffOption::ForcedWidth(width);
            }
            for behind in 1..width {
                let cell = &mut self.buf[(x + used + behind, y)];
                cell.set_symbol(" ").set_style(style);
            }
            used += width;
        }
        used
    }
}

/// Returns the cells that a text takes.
fn cells(text: &str, ambiguous: Ambiguous) -> u16 {
    let width = match ambiguous {
        Ambiguous::Narrow => text.width(),
        Ambiguous::Wide => text.width_cjk(),
    };
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// Returns the first cell and the width of each column; one cell stands between two.
fn places(columns: &[Column], width: u16) -> Vec<(u16, u16)> {
    let gaps = u16::try_from(columns.len()).unwrap_or(0).saturating_sub(1);
    let fixed: u16 = columns.iter().map(|column| column.width).sum();
    let open = columns.iter().filter(|column| column.width == 0).count();
    let left_over = width.saturating_sub(fixed + gaps);
    let share = left_over.checked_div(u16::try_from(open).unwrap_or(1)).unwrap_or(0);
    let mut start = 0;
    columns
        .iter()
        .map(|column| {
            let wanted = if column.width == 0 { share } else { column.width };
            let place = (start, wanted.min(width.saturating_sub(start)));
            start = (start + wanted + 1).min(width);
            place
        })
        .collect()
}

fn wrap(text: &str, width: u16, ambiguous: Ambiguous) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if cells(line.trim_end(), ambiguous) > 0
            && cells(&line, ambiguous) + cells(word.trim_end(), ambiguous) > width
        {
            lines.push(std::mem::take(&mut line));
        }
        for grapheme in Span::raw(word).styled_graphemes(Style::new()) {
            let more = cells(grapheme.symbol, ambiguous);
            if cells(&line, ambiguous) + more > width && !line.is_empty() {
                if grapheme.symbol == " " {
                    continue;
                }
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(grapheme.symbol);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AREA: Rect = Rect { x: 0, y: 0, width: 10, height: 2 };

    fn look(ambiguous: Ambiguous) -> Look {
        Look { theme: Theme::None, glyphs: Glyphs::Ascii, ambiguous, greyed: false }
    }

    fn drawn(text: &str, ambiguous: Ambiguous) -> String {
        let mut buf = Buffer::empty(AREA);
        Canvas::new(&mut buf, look(ambiguous)).put(AREA, 0, text, Tone::Plain);
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..AREA.width {
            let symbol = buf[(x, 0)].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = cells(symbol, ambiguous);
            }
            skip = skip.saturating_sub(1);
        }
        line
    }

    #[test]
    fn a_wide_sign_is_never_cut_in_half() {
        assert_eq!(drawn("冬のセールのお知らせ", Ambiguous::Narrow), "冬のセー..");
        assert_eq!(drawn("a冬のセールのお知らせ", Ambiguous::Narrow), "a冬のセ.. ");
    }

    #[test]
    fn controls_and_direction_marks_are_shown_and_not_obeyed() {
        assert_eq!(drawn("\u{1b}[2J", Ambiguous::Narrow), "\\u{1b}[2J ");
        assert_eq!(drawn("a\u{202e}b", Ambiguous::Narrow), "a\\u{202e}b");
    }

    #[test]
    fn signs_of_uncertain_width_take_what_the_terminal_gives_them() {
        assert_eq!(drawn("①②③④⑤⑥", Ambiguous::Narrow), "①②③④⑤⑥    ");
        assert_eq!(drawn("①②③④⑤⑥", Ambiguous::Wide), "①②③④..");
    }

    #[test]
    fn clearing_takes_the_whole_sign_that_it_would_cut() {
        let mut buf = Buffer::empty(AREA);
        let mut canvas = Canvas::new(&mut buf, look(Ambiguous::Narrow));
        canvas.put(AREA, 0, "冬冬冬冬冬", Tone::Plain);
        canvas.clear(Rect { x: 3, y: 0, width: 4, height: 1 });
        assert_eq!(buf[(2, 0)].symbol(), " ");
        assert_eq!(buf[(0, 0)].symbol(), "冬");
    }

    #[test]
    fn lines_break_between_words_and_between_wide_signs() {
        let wrapped = |text| wrap(text, 10, Ambiguous::Narrow);
        assert_eq!(wrapped("one two three"), ["one two ", "three"]);
        assert_eq!(wrapped("冬のセールのお知らせ"), ["冬のセール", "のお知らせ"]);
    }

    proptest! {
        #[test]
        fn nothing_is_drawn_outside_of_its_area(
            text: String, x in 0u16..20, y in 0u16..20, width in 0u16..30, height in 0u16..5,
        ) {
            let mut buf = Buffer::empty(Rect { x: 0, y: 0, width: 16, height: 4 });
            let area = Rect { x, y, width, height };
            let mut canvas = Canvas::new(&mut buf, look(Ambiguous::Wide));
            canvas.put(area, 1, &text, Tone::Plain);
            canvas.put_right(area, 0, &text, Tone::Plain);
            canvas.wrapped(area, 0, &text, Tone::Plain);
            canvas.rule(area, 0, &text);
            canvas.cells(area, 0, &[left(4), right(0)], &[(text.as_str(), Tone::Plain); 2]);
            canvas.clear(area);
            canvas.tint(area, 0, Tone::Chosen);
        }
    }
}
