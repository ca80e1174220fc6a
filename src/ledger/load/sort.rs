//! What is to become of the lines of a chunk, decided without touching anything.

use std::collections::{HashMap, HashSet};

use crate::domain::batch::Wanted;
use crate::domain::id::BatchId;
use crate::domain::state::{How, State};

use super::look::{Known, fingerprint};
use super::seen::Seen;
use super::{DO_NOT_SEND, Elsewhere, Existing, LeftOut, NewRow, SAME_KEY};

/// A row that is there under the key of a line.
#[derive(Clone, Debug)]
pub(super) struct There {
    pub(super) id: i64,
    pub(super) address: String,
    pub(super) fields: String,
    pub(super) batch: BatchId,
    pub(super) batch_name: String,
    pub(super) batch_wanted: Wanted,
    pub(super) state: State,
    pub(super) how: Option<How>,
    pub(super) unknown: bool,
    pub(super) attempt: i64,
    pub(super) first_started: i64,
}

/// What a chunk does to the ledger.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Become rows, in the order of the source.
    pub(super) new: Vec<NewRow>,
    /// Are there in a cancelled batch that never sent them, and become rows of this one.
    pub(super) taken_over: Vec<(i64, BatchId, NewRow)>,
    /// Are there with other contents that may be replaced.
    pub(super) replaced: Vec<(i64, NewRow)>,
    pub(super) left_out: Vec<LeftOut>,
    /// Rows that the lines named.
    pub(super) named: Vec<i64>,
    pub(super) already: i64,
    pub(super) elsewhere: i64,
    pub(super) duplicates: i64,
    pub(super) suppressed: i64,
    pub(super) changed: i64,
    pub(super) settled_meanwhile: i64,
    pub(super) open_elsewhere: Vec<Elsewhere>,
    /// Fingerprints of the addresses that the lines named.
    pub(super) addresses: Vec<u64>,
    /// Keys named for the first time, as fingerprints; only while nothing is written.
    pub(super) keys: Vec<u64>,
}

/// What the lines are held against.
pub(super) struct Against<'a> {
    pub(super) batch: BatchId,
    pub(super) existing: Existing,
    pub(super) seen: &'a Seen,
    pub(super) known: &'a Known,
    /// The rows that are there, by key; keys that were not looked up are taken for new.
    pub(super) there: &'a HashMap<String, There>,
    /// Addresses that must not be mailed.
    pub(super) suppressed: &'a HashSet<String>,
    /// Nothing is written, so a key that comes again is known by its fingerprint only.
    pub(super) only_counts: bool,
}

impl Plan {
    /// Sorts the lines of a chunk.
    ///
    /// A person who has a row already is `already`, also when the address was put on the
    /// do-not-send list since; the first line of a key counts, a later one is a duplicate.
    pub(super) fn of(rows: &[NewRow], against: &Against<'_>) -> Self {
        let mut plan = Self::default();
        let mut keys: HashSet<&str> = HashSet::with_capacity(rows.len());
        let mut named: HashSet<i64> = HashSet::new();
        for row in rows {
            match against.there.get(&row.key) {
                Some(there) => {
                    if against.seen.contains(there.id) || !named.insert(there.id) {
                        plan.leave_out(row, SAME_KEY);
                        plan.duplicates += 1;
                    } else {
                        plan.is_there(row, there, against);
                    }
                }
                // What became of a mail is kept, whoever must not be mailed any more.
                None if row.is_waiting() && against.suppressed.contains(&row.address_key) => {
                    plan.leave_out(row, DO_NOT_SEND);
                    plan.suppressed += 1;
                }
                None => {
                    let print = fingerprint(&row.key);
                    let again = against.only_counts && against.known.counted.contains(&print);
                    if again || !keys.insert(&row.key) {
                        plan.leave_out(row, SAME_KEY);
                        plan.duplicates += 1;
                    } else {
                        plan.address(row);
                        if against.only_counts {
                            plan.keys.push(print);
                        }
                        plan.new.push(row.clone());
                    }
                }
            }
        }
        plan
    }

    fn is_there(&mut self, row: &NewRow, there: &There, against: &Against<'_>) {
        self.named.push(there.id);
        self.address(row);
        if there.batch == against.batch {
            self.already += 1;
            let is_settled = row.past.is_some_and(|past| past.state != there.state);
            let may_double = is_settled && !row.is_waiting() && there.state == State::Ready;
            self.settled_meanwhile += i64::from(may_double);
            if is_settled || differs(row, there) {
                self.changed += 1;
                if against.existing == Existing::Replace && there.attempt == 0 {
                    self.replaced.push((there.id, row.clone()));
                }
            }
        } else if row.is_waiting() && there.was_never_sent_by_a_cancelled_batch() {
            self.taken_over.push((there.id, there.batch, row.clone()));
        } else {
            self.elsewhere += 1;
            if there.unknown || there.state == State::Failed {
                self.open_elsewhere.push(Elsewhere {
                    key: row.key.clone(),
                    batch: there.batch_name.clone(),
                    state: there.state,
                    unknown: there.unknown,
                });
            }
        }
    }

    fn leave_out(&mut self, row: &NewRow, why: &str) {
        self.left_out.push(LeftOut {
            line: row.line,
            key: row.key.clone(),
            address: row.address_key.clone(),
            why: why.to_owned(),
            value: row.address.clone(),
        });
    }

    /// An address that is its own key cannot come under two keys.
    fn address(&mut self, row: &NewRow) {
        if !row.address_key.is_empty() && row.key != row.address_key {
            self.addresses.push(fingerprint(&row.address_key));
        }
    }
}

impl There {
    /// A row of a cancelled batch would hold its key for ever; one that never went out is free.
    fn was_never_sent_by_a_cancelled_batch(&self) -> bool {
        self.state == State::Failed
            && self.how == Some(How::Cancelled)
            && self.attempt == 0
            && self.first_started == 0
            && self.batch_wanted == Wanted::Cancelled
    }
}

/// Reports whether the source says something else than the row; the order of columns is nothing.
fn differs(row: &NewRow, there: &There) -> bool {
    if row.address != there.address {
        return true;
    }
    if row.fields == there.fields {
        return false;
    }
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    read(&row.fields) != read(&there.fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: i64, key: &str) -> NewRow {
        NewRow {
            line,
            key: key.to_owned(),
            address: format!("{key}@Example.org"),
            address_key: format!("{key}@example.org"),
            fields: r#"{"name":"山田","rank":"1"}"#.to_owned(),
            past: None,
        }
    }

    fn there(id: i64, key: &str) -> There {
        let NewRow { address, fields, .. } = row(0, key);
        There {
            id,
            address,
            fields,
            batch: BatchId(1),
            batch_name: "notice-1".to_owned(),
            batch_wanted: Wanted::Running,
            state: State::Ready,
            how: None,
            unknown: false,
            attempt: 0,
            first_started: 0,
        }
    }

    fn sorted(rows: &[NewRow], there: &[(&str, There)], suppressed: &[&str], seen: &[i64]) -> Plan {
        let there = there.iter().map(|(key, there)| ((*key).to_owned(), there.clone())).collect();
        let suppressed = suppressed.iter().map(|&address| address.to_owned()).collect();
        let mut named = Seen::default();
        for &row in seen {
            named.insert(row);
        }
        Plan::of(
            rows,
            &Against {
                batch: BatchId(1),
                existing: Existing::Replace,
                seen: &named,
                known: &Known::default(),
                there: &there,
                suppressed: &suppressed,
                only_counts: false,
            },
        )
    }

    #[test]
    fn the_first_line_of_a_key_counts_and_a_later_one_is_left_out() {
        let plan = sorted(&[row(1, "a"), row(2, "b"), row(3, "a")], &[], &[], &[]);
        assert_eq!(plan.new, [row(1, "a"), row(2, "b")]);
        assert_eq!((plan.duplicates, plan.left_out[0].line), (1, 3));
    }

    #[test]
    fn a_key_this_source_named_in_an_earlier_chunk_is_a_duplicate_and_replaces_nothing() {
        let other = NewRow { fields: "{}".to_owned(), ..row(9, "a") };
        let plan = sorted(&[other], &[("a", there(7, "a"))], &[], &[7]);
        assert_eq!((plan.duplicates, plan.already, plan.replaced.len()), (1, 0, 0));
    }

    #[test]
    fn other_contents_are_seen_whatever_the_order_of_the_columns() {
        let same = NewRow { fields: r#"{"rank":"1","name":"山田"}"#.to_owned(), ..row(1, "a") };
        let plan = sorted(&[same], &[("a", there(7, "a"))], &[], &[]);
        assert_eq!((plan.already, plan.changed), (1, 0));
        let other = NewRow { fields: r#"{"rank":"2","name":"山田"}"#.to_owned(), ..row(1, "a") };
        let plan = sorted(std::slice::from_ref(&other), &[("a", there(7, "a"))], &[], &[]);
        assert_eq!((plan.already, plan.changed), (1, 1));
        assert_eq!(plan.replaced, [(7, other.clone())]);
        let tried = There { attempt: 1, ..there(7, "a") };
        let plan = sorted(&[other], &[("a", tried)], &[], &[]);
        assert_eq!((plan.changed, plan.replaced.len()), (1, 0));
    }

    #[test]
    fn who_must_not_be_mailed_gets_no_row_but_keeps_one_that_is_there() {
        let list = ["a@example.org"];
        let plan = sorted(&[row(1, "a")], &[], &list, &[]);
        assert_eq!((plan.suppressed, plan.new.len()), (1, 0));
        assert_eq!(plan.left_out[0].why, DO_NOT_SEND);
        let plan = sorted(&[row(1, "a")], &[("a", there(7, "a"))], &list, &[]);
        assert_eq!((plan.suppressed, plan.already), (0, 1));
    }

    #[test]
    fn only_a_row_that_a_cancelled_batch_never_sent_is_taken_over() {
        let cancelled = There {
            batch: BatchId(2),
            batch_wanted: Wanted::Cancelled,
            state: State::Failed,
            how: Some(How::Cancelled),
            ..there(7, "a")
        };
        let plan = sorted(&[row(1, "a")], &[("a", cancelled.clone())], &[], &[]);
        assert_eq!(plan.taken_over.len(), 1);
        for stays in [
            There { attempt: 1, ..cancelled.clone() },
            There { how: Some(How::Refused), ..cancelled.clone() },
            There { batch_wanted: Wanted::Running, ..cancelled.clone() },
            There { state: State::Sent, how: Some(How::Accepted), ..cancelled },
        ] {
            let plan = sorted(&[row(1, "a")], &[("a", stays.clone())], &[], &[]);
            assert_eq!((plan.taken_over.len(), plan.elsewhere), (0, 1), "{stays:?}");
            let open = usize::from(stays.state == State::Failed);
            assert_eq!(plan.open_elsewhere.len(), open);
        }
    }
}
