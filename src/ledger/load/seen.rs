//! Which rows a source has named, at one bit a row.

use std::collections::HashMap;

/// A set of row numbers; numbers of one batch lie close together.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pages: HashMap<i64, Box<[u64; WORDS]>>,
}

const WORDS: usize = 1024;
/// A page holds 65,536 rows in 8 KiB.
const PAGE: i64 = 64 * 1024;

fn place(row: i64) -> (i64, usize, u64) {
    let within = usize::try_from(row.rem_euclid(PAGE)).unwrap_or(0);
    (row.div_euclid(PAGE), within / 64, 1 << (within % 64))
}

impl Seen {
    pub(super) fn contains(&self, row: i64) -> bool {
        let (page, word, bit) = place(row);
        self.pages.get(&page).is_some_and(|words| words[word] & bit != 0)
    }

    pub(super) fn insert(&mut self, row: i64) {
        let (page, word, bit) = place(row);
        self.pages.entry(page).or_insert_with(|| Box::new([0; WORDS]))[word] |= bit;
    }

    /// Inserts the `n` numbers from `first`.
    pub(super) fn insert_all(&mut self, first: i64, n: i64) {
        (first..first + n).for_each(|row| self.insert(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_seen_once_it_was_named_and_no_other_with_it() {
        let mut seen = Seen::default();
        for row in [1, 63, 64, PAGE - 1, PAGE, 10_000_000] {
            assert!(!seen.contains(row));
            seen.insert(row);
            assert!(seen.contains(row));
        }
        for row in [0, 2, 62, 65, PAGE - 2, PAGE + 1, 9_999_999] {
            assert!(!seen.contains(row), "{row}");
        }
        seen.insert_all(100, 3);
        assert_eq!((99..=103).filter(|&row| seen.contains(row)).count(), 3);
    }
}
