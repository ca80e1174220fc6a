//! Which character separates the fields of a text.

use std::collections::BTreeMap;

use super::csv::{Parser, Record};

/// What is tried, the likeliest first.
const CANDIDATES: [u8; 4] = [b',', b'\t', b';', b'|'];

/// More records tell nothing new.
const RECORDS: usize = 100;

/// Returns the character that splits the text most evenly; a comma if none splits it.
pub(super) fn detect(text: &str) -> u8 {
    let evenness = |delimiter: u8| {
        let (mut counts, mut records) = (BTreeMap::<usize, usize>::new(), 0_usize);
        let mut parser = Parser::new(text.as_bytes(), delimiter);
        let mut record = Record::default();
        while records < RECORDS && matches!(parser.read(&mut record), Ok(true)) {
            *counts.entry(record.len()).or_default() += 1;
            records += 1;
        }
        let (fields, times) =
            counts.into_iter().max_by_key(|(_, times)| *times).unwrap_or_default();
        // The share of records of the commonest length, in percent; then how many fields.
        if fields < 2 { (0, 0) } else { (100 * times / records.max(1), fields) }
    };
    let mut best = (b',', (0, 0));
    for delimiter in CANDIDATES {
        let found = evenness(delimiter);
        if found > best.1 {
            best = (delimiter, found);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_splits_evenly() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b;c\n1;\"x;y\";3,5\n2;z;4,5\n", b';'),
            ("a\tb\n1, 2\t3\n4\t5, 6, 7\n", b'\t'),
            ("a|b\n1|2,3\n", b'|'),
            ("a@example.jp\nb@example.jp\n", b','),
            ("", b','),
            ("name,mail\n\"a; b; c\",x\n\"d\ne\",y\n", b','),
        ] {
            assert_eq!(char::from(detect(text)), char::from(delimiter), "{text}");
        }
    }
}
