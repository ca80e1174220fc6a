//! A selection of rows as SQL.

use std::collections::BTreeSet;

use crate::db::{Cell, Dialect, Field, List, Query, Tx};
use crate::domain::id::RecipientId;
use crate::domain::selection::Selection;
use crate::domain::state::{Flag, How, State};
use crate::domain::time::Timestamp;
use crate::ledger::batches::Batch;
use crate::ledger::{LedgerError, counts};

/// The rows of a batch that a selection meets.
pub(in crate::ledger) struct Chosen<'a> {
    batch: &'a Batch,
    selection: &'a Selection,
    /// Rows that changed later do not count; the end of time if age does not matter.
    changed_until: i64,
}

/// How the rows are reached.
enum Path {
    /// One step into an index per key.
    Keys,
    /// What makes a row worth finding is indexed.
    Flag(Flag),
    /// Along the row numbers of the batch.
    All,
}

/// The conditions that hold on every path; each can be switched off by its first value.
macro_rules! conditions {
    () => {
        "d.id > ?
           and (? = '' or d.state = ?)
           and (? = '' or d.how = ?)
           and (? = 0 or d.code = ?)
           and (? = '' or r.address_key like ? escape '!')
           and d.updated <= ?
           and (? = 0 or d.worker = ?)
           and (? = 0 or d.flag = 'unknown')"
    };
}

impl<'a> Chosen<'a> {
    pub(in crate::ledger) fn new(
        batch: &'a Batch,
        selection: &'a Selection,
        now: Timestamp,
    ) -> Self {
        let changed_until = selection.older_than.map_or(i64::MAX, |age| (now - age).0);
        Self { batch, selection, changed_until }
    }

    fn path(&self) -> Path {
        let Selection { keys, state, how, unknown, .. } = self.selection;
        match (state, how) {
            _ if !keys.is_empty() => Path::Keys,
            _ if *unknown => Path::Flag(Flag::Unknown),
            (Some(State::Failed), _) => Path::Flag(Flag::Failed),
            (_, Some(How::Assumed)) => Path::Flag(Flag::Assumed),
            _ => Path::All,
        }
    }

    /// Returns `select columns … joins … where … rest`.
    ///
    /// `d.batch + 0` keeps MariaDB from gathering and sorting the whole batch by another index when
    /// a page is wanted in the order of the primary key. There is one lower bound only: of two, SQLite
    /// begins at the first and walks (19 ms instead of 0.1 for a page in the middle of 100,000).
    pub(in crate::ledger) fn sql(
        &self,
        dialect: Dialect,
        columns: &str,
        joins: &str,
        rest: &str,
    ) -> String {
        match self.path() {
            Path::Keys => {
                let keys = dialect.json_rows(&[Field::Text("name")]);
                format!(
                    concat!(
                        "select {columns}
                           from {keys} v
                           {join} recipient r on r.scope = ? and r.key = v.name
                           {join} delivery d on d.id = r.id {joins}
                          where d.batch = ? and ",
                        conditions!(),
                        "{rest}"
                    ),
                    columns = columns,
                    keys = keys,
                    join = dialect.then_join(),
                    joins = joins,
                    rest = rest
                )
            }
            Path::Flag(_) => format!(
                concat!(
                    "select {columns}
                       from delivery d join recipient r on r.id = d.id {joins}
                      where d.batch = ? and d.flag = ? and ",
                    conditions!(),
                    "{rest}"
                ),
                columns = columns,
                joins = joins,
                rest = rest
            ),
            Path::All => format!(
                concat!(
                    "select {columns}
                       from delivery d join recipient r on r.id = d.id {joins}
                      where d.batch + 0 = ? and d.id <= ? and ",
                    conditions!(),
                    "{rest}"
                ),
                columns = columns,
                joins = joins,
                rest = rest
            ),
        }
    }

    /// Binds what `sql` asks for, up to what `rest` holds.
    pub(in crate::ledger) fn bind<'q>(&self, query: Query<'q>, after: RecipientId) -> Query<'q> {
        let Selection { keys, state, how, code, domain, worker, unknown, .. } = self.selection;
        let mut after = after;
        let query = match self.path() {
            Path::Keys => {
                let mut list = List::new();
                let keys: BTreeSet<_> = keys.iter().collect();
                for key in keys {
                    list.push(&[Cell::Text(key)]);
                }
                query.bind(list).bind(self.batch.scope).bind(self.batch.id)
            }
            Path::Flag(flag) => query.bind(self.batch.id).bind(flag),
            Path::All => {
                after = after.max(RecipientId(self.batch.first_row - 1));
                query.bind(self.batch.id).bind(self.batch.last_row)
            }
        };
        let state = state.map_or("", State::as_str);
        let how = how.map_or("", How::as_str);
        let code = i64::from(code.unwrap_or(0));
        let domain = domain.as_deref().map(ends_with).unwrap_or_default();
        let worker = worker.map_or(0, |id| id.0);
        query
            .bind(after)
            .bind(state)
            .bind(state)
            .bind(how)
            .bind(how)
            .bind(code)
            .bind(code)
            .bind(&domain)
            .bind(&domain)
            .bind(self.changed_until)
            .bind(worker)
            .bind(worker)
            .bind(i64::from(*unknown))
    }

    /// Counts the rows; where a counter says it, without looking at them.
    pub(in crate::ledger) async fn count(&self, tx: &mut Tx) -> Result<i64, LedgerError> {
        let Selection { keys, state, how, code, domain, older_than, worker, unknown } =
            self.selection;
        let plain = keys.is_empty()
            && code.is_none()
            && domain.is_none()
            && older_than.is_none()
            && worker.is_none();
        let counts = if plain { Some(counts::of(tx, self.batch.id).await?) } else { None };
        match (counts, state, how, unknown) {
            (Some(counts), None, None, false) => Ok(counts.total()),
            (Some(counts), Some(State::Ready), None, false) => Ok(counts.ready),
            (Some(counts), Some(State::Sending), None, false) => Ok(counts.sending),
            (Some(counts), Some(State::Sent), None, false) => Ok(counts.sent),
            (Some(counts), Some(State::Failed), None, false) => Ok(counts.failed),
            (Some(counts), None | Some(State::Sending), None, true) => Ok(counts.unknown),
            (Some(counts), None | Some(State::Sent), Some(How::Assumed), false) => {
                Ok(counts.assumed)
            }
            _ => {
                let sql = self.sql(tx.dialect(), "count(*)", "", "");
                Ok(self.bind(tx.query(sql), RecipientId(0)).fetch_one().await?.int(0)?)
            }
        }
    }
}

/// Returns the pattern of addresses in a domain; `!` takes the meaning from `_` and `%`.
fn ends_with(domain: &str) -> String {
    let mut pattern = String::from("%@");
    for letter in domain.chars() {
        if matches!(letter, '_' | '%' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_met_letter_by_letter() {
        assert_eq!(ends_with("example.org"), "%@example.org");
        assert_eq!(ends_with("a_b%.example"), "%@a!_b!%.example");
    }
}
