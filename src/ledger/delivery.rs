//! What became of one mail: its row, read under lock, changed here and written back.
//!
//! Promise: this file is where a row moves. `recorder::postgres` and `recorder::mariadb` say the
//! same in one statement; the model test holds the two together.

use crate::db::{Cell, Field, List, Row, Tx};
use crate::domain::id::{Attempt, BatchId, Generation, RecipientId, WorkerId};
use crate::domain::outcome::Outcome;
use crate::domain::plan::Seen;
use crate::domain::settle::Settled;
use crate::domain::state::{Cause, Flag, How, State};
use crate::domain::time::Timestamp;

use super::LedgerError;

/// A row of `delivery`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    pub(super) id: RecipientId,
    pub(super) batch: BatchId,
    pub(super) state: State,
    pub(super) how: Option<How>,
    pub(super) flag: Option<Flag>,
    pub(super) cause: Option<Cause>,
    pub(super) attempt: Attempt,
    pub(super) tries: i64,
    pub(super) generation: Generation,
    pub(super) unknown_attempts: i64,
    /// Starts of this generation after an unknown attempt of it.
    pub(super) handed_again: i64,
    /// 0: never.
    pub(super) first_started: Timestamp,
    pub(super) due_at: Option<Timestamp>,
    /// `None`: nobody has it.
    pub(super) worker: Option<WorkerId>,
    pub(super) phase: String,
    pub(super) code: i64,
    pub(super) enhanced: String,
    pub(super) updated: Timestamp,
}

/// The columns `Delivery::of` reads, of the alias `d`.
pub(super) const COLUMNS: &str = "d.id, d.batch, d.state, d.how, d.flag, d.cause, d.attempt, \
    d.tries, d.generation, d.unknown_attempts, d.handed_again, d.first_started, d.due_at, \
    d.worker, d.phase, d.code, d.enhanced, d.updated";

/// Reads a stored word; another one was written by a later version or by hand.
pub(super) fn word<T>(
    what: &'static str,
    text: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, LedgerError> {
    read(text).ok_or_else(|| LedgerError::Nonsense { what, word: text.to_owned() })
}

/// Reads a stored word where the empty text means "none".
pub(super) fn word_or_none<T>(
    what: &'static str,
    text: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, LedgerError> {
    if text.is_empty() { Ok(None) } else { word(what, text, read).map(Some) }
}

impl Delivery {
    /// Reads a row of `COLUMNS`.
    pub(super) fn of(row: &Row) -> Result<Self, LedgerError> {
        let flag = row.text_or_null(4)?.unwrap_or_default();
        Ok(Self {
            id: RecipientId(row.int(0)?),
            batch: BatchId(row.int(1)?),
            state: word("state", &row.text(2)?, State::from_word)?,
            how: word_or_none("reason", &row.text(3)?, How::from_word)?,
            flag: word_or_none("flag", &flag, Flag::from_word)?,
            cause: word_or_none("cause", &row.text(5)?, Cause::from_word)?,
            attempt: Attempt(row.int(6)?),
            tries: row.int(7)?,
            generation: Generation(row.int(8)?),
            unknown_attempts: row.int(9)?,
            handed_again: row.int(10)?,
            first_started: Timestamp(row.int(11)?),
            due_at: row.int_or_null(12)?.map(Timestamp),
            worker: Some(row.int(13)?).filter(|&id| id != 0).map(WorkerId),
            phase: row.text(14)?,
            code: row.int(15)?,
            enhanced: row.text(16)?,
            updated: Timestamp(row.int(17)?),
        })
    }

    /// Returns the part that counters and decisions look at.
    pub(super) const fn seen(&self) -> Seen {
        Seen {
            state: self.state,
            how: self.how,
            flag: self.flag,
            held: self.worker.is_some(),
            unknown_attempts: self.unknown_attempts,
            handed_again: self.handed_again > 0,
        }
    }

    /// Starts the next attempt in the hands of the worker that has it.
    pub(super) fn start(&mut self, at: Timestamp) {
        self.state = State::Sending;
        self.attempt = self.attempt.next();
        if self.unknown_attempts > 0 {
            self.handed_again += 1;
        }
        if self.first_started == Timestamp(0) {
            self.first_started = at;
        }
        // What is known about the last attempt stands with that attempt.
        (self.phase, self.code, self.enhanced) = (String::new(), 0, String::new());
        self.cause = None;
        self.due_at = None;
        self.updated = at;
    }

    /// Ends the attempt under way and takes the row out of every hand.
    pub(super) fn end(&mut self, outcome: Outcome, settled: Settled, counts: bool, at: Timestamp) {
        if let Outcome::Unknown(_) = outcome {
            self.unknown_attempts += 1;
        }
        if counts {
            self.tries += 1;
        }
        self.settle(settled, cause_of(outcome), at);
    }

    /// Puts the row where `settled` says, in nobody's hands.
    pub(super) fn settle(&mut self, settled: Settled, cause: Option<Cause>, at: Timestamp) {
        let stored = Stored::of(settled);
        self.state = stored.state;
        self.how = stored.how;
        self.flag = stored.flag;
        self.due_at = stored.due;
        self.cause = cause;
        self.worker = None;
        self.updated = at;
    }

    /// Takes a row that was only reserved out of its worker's hands.
    pub(super) fn free(&mut self, due: Timestamp) {
        self.worker = None;
        self.due_at = Some(due);
    }

    /// Fails the row without an attempt.
    pub(super) fn fail(&mut self, how: How, at: Timestamp) {
        self.settle(Settled::Failed(how), None, at);
    }
}

/// Why nobody knows what became of an attempt that ended so.
pub(super) const fn cause_of(outcome: Outcome) -> Option<Cause> {
    match outcome {
        Outcome::Unknown(cause) => Some(cause),
        Outcome::Accepted | Outcome::Refused | Outcome::Deferred | Outcome::NotSent => None,
    }
}

/// The columns that say where a row was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) state: State,
    pub(super) how: Option<How>,
    pub(super) flag: Option<Flag>,
    pub(super) due: Option<Timestamp>,
}

impl Stored {
    pub(super) const fn of(settled: Settled) -> Self {
        let (state, how, flag, due) = match settled {
            Settled::Sent(How::Assumed) => {
                (State::Sent, Some(How::Assumed), Some(Flag::Assumed), None)
            }
            Settled::Sent(how) => (State::Sent, Some(how), None, None),
            Settled::Failed(how) => (State::Failed, Some(how), Some(Flag::Failed), None),
            Settled::Ready { due } => (State::Ready, None, None, Some(due)),
            Settled::Unknown(_) => (State::Sending, None, Some(Flag::Unknown), None),
        };
        Self { state, how, flag, due }
    }
}

/// Reads rows by number, each locked until the transaction ends, in rising order.
pub(super) async fn lock(tx: &mut Tx, ids: List) -> Result<Vec<Delivery>, LedgerError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let dialect = tx.dialect();
    let sql = format!(
        "select {COLUMNS} from {} v {} delivery d on d.id = v.id order by d.id{}",
        dialect.json_rows(&[Field::Int("id")]),
        dialect.then_join(),
        dialect.for_update()
    );
    let rows = tx.query(sql).bind(ids).fetch_all().await?;
    rows.iter().map(Delivery::of).collect()
}

/// Writes rows back that are locked by this transaction.
pub(super) async fn write(tx: &mut Tx, rows: &[&Delivery]) -> Result<(), LedgerError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut list = List::new();
    for row in rows {
        list.push(&[
            Cell::Int(row.id.0),
            Cell::Text(row.state.as_str()),
            Cell::Text(row.how.map_or("", How::as_str)),
            row.flag.map_or(Cell::Null, |flag| Cell::Text(flag.as_str())),
            Cell::Text(row.cause.map_or("", Cause::as_str)),
            Cell::Int(row.attempt.0),
            Cell::Int(row.tries),
            Cell::Int(row.unknown_attempts),
            Cell::Int(row.handed_again),
            Cell::Int(row.first_started.0),
            row.due_at.map_or(Cell::Null, |due| Cell::Int(due.0)),
            Cell::Int(row.worker.map_or(0, |worker| worker.0)),
            Cell::Text(&row.phase),
            Cell::Int(row.code),
            Cell::Text(&row.enhanced),
            Cell::Int(row.updated.0),
        ]);
    }
    let sql = tx.dialect().update_from(
        "delivery",
        "state = v_state, how = v_how, flag = v_flag, cause = v_cause, attempt = v_attempt,
         tries = v_tries, unknown_attempts = v_unknown, handed_again = v_again,
         first_started = v_first, due_at = v_due, worker = v_worker, phase = v_phase,
         code = v_code, enhanced = v_enhanced, updated = v_updated",
        &FIELDS,
        "delivery.id = v_id",
    );
    tx.query(sql).bind(list).execute().await?;
    Ok(())
}

/// The columns that `write` changes.
const FIELDS: [Field; 16] = [
    Field::Int("v_id"),
    Field::Text("v_state"),
    Field::Text("v_how"),
    Field::Text("v_flag"),
    Field::Text("v_cause"),
    Field::Int("v_attempt"),
    Field::Int("v_tries"),
    Field::Int("v_unknown"),
    Field::Int("v_again"),
    Field::Int("v_first"),
    Field::Int("v_due"),
    Field::Int("v_worker"),
    Field::Text("v_phase"),
    Field::Int("v_code"),
    Field::Text("v_enhanced"),
    Field::Int("v_updated"),
];
