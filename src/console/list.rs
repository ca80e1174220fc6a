//! Where the cursor stands in a list, by what it stands on.

use super::keys::Command;

/// The cursor of a list and the first row that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct List {
    pub cursor: usize,
    first: usize,
    /// Rows that were shown at once when the size was last known.
    height: usize,
}

impl List {
    /// Returns the rows that are shown of `len`, given the height that drawing has.
    pub fn shown(&self, len: usize, height: u16) -> std::ops::Range<usize> {
        let height = usize::from(height);
        let cursor = self.cursor.min(len.saturating_sub(1));
        let first = self.first.min(cursor).max((cursor + 1).saturating_sub(height));
        first..(first + height).min(len)
    }

    /// Moves for a command; false if it is no move.
    pub fn step(&mut self, command: Command, len: usize) -> bool {
        let last = len.saturating_sub(1);
        let page = self.height.max(5);
        self.cursor = match command {
            Command::Up => self.cursor.saturating_sub(1),
            Command::Down => self.cursor + 1,
            Command::PageUp => self.cursor.saturating_sub(page),
            Command::PageDown => self.cursor + page,
            Command::First => 0,
            Command::Last => last,
            _ => return false,
        }
        .min(last);
        self.settle(len);
        true
    }

    /// Notes how many rows fit.
    pub fn fits(&mut self, height: u16, len: usize) {
        self.height = usize::from(height);
        self.settle(len);
    }

    /// Keeps the cursor on the same thing after the list has changed.
    pub fn follow(&mut self, place: Option<usize>, len: usize) {
        self.cursor = place.unwrap_or(self.cursor).min(len.saturating_sub(1));
        self.settle(len);
    }

    fn settle(&mut self, len: usize) {
        let height = self.height.max(1);
        self.cursor = self.cursor.min(len.saturating_sub(1));
        self.first = self.first.min(self.cursor).max((self.cursor + 1).saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_in_the_list_and_in_sight() {
        let mut list = List::default();
        list.fits(3, 10);
        for _ in 0..5 {
            list.step(Command::Down, 10);
        }
        assert_eq!((list.cursor, list.shown(10, 3)), (5, 3..6));
        list.step(Command::Last, 10);
        list.step(Command::Down, 10);
        assert_eq!((list.cursor, list.shown(10, 3)), (9, 7..10));
        list.step(Command::First, 10);
        assert_eq!(list.shown(10, 3), 0..3);
        assert_eq!(List::default().shown(0, 3), 0..0);
        assert!(!list.step(Command::Help, 10));
    }

    #[test]
    fn a_list_that_shrinks_takes_the_cursor_with_it() {
        let mut list = List::default();
        list.step(Command::Last, 10);
        list.follow(None, 4);
        assert_eq!(list.cursor, 3);
        list.follow(Some(1), 4);
        assert_eq!(list.cursor, 1);
    }
}
