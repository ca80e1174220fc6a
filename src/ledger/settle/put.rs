//! Rows written as a person decided, with what they were before.

use crate::db::{Cell, Field, List, Tx};
use crate::domain::id::{Generation, JournalId, RecipientId};
use crate::domain::plan::{Change, Seen};
use crate::domain::state::{Cause, Flag, How, State};
use crate::domain::time::Timestamp;
use crate::ledger::LedgerError;

use super::Before;

/// What a row is to be.
#[derive(Clone, Debug)]
pub(super) struct Put {
    pub(super) id: RecipientId,
    pub(super) state: State,
    pub(super) how: Option<How>,
    pub(super) flag: Option<Flag>,
    pub(super) cause: Option<Cause>,
    pub(super) generation: Generation,
    pub(super) due_at: Option<Timestamp>,
    pub(super) tries: i64,
    pub(super) unknown_attempts: i64,
    pub(super) handed_again: i64,
    pub(super) first_started: i64,
}

impl Put {
    /// Returns the row as a person's change leaves it.
    ///
    /// A row that goes out again starts with all its tries: a person asked for it.
    pub(super) fn changed(before: &Before, change: Change, after: &Seen, now: Timestamp) -> Self {
        let copy = change == Change::Copy;
        let again = matches!(change, Change::Again | Change::Copy);
        Self {
            id: before.id,
            state: after.state,
            how: after.how,
            flag: after.flag,
            cause: None,
            generation: Generation(before.generation.0 + i64::from(copy)),
            due_at: again.then_some(now),
            tries: if again { 0 } else { before.tries },
            unknown_attempts: after.unknown_attempts,
            handed_again: if copy { 0 } else { before.handed_again },
            first_started: if copy { 0 } else { before.first_started },
        }
    }
}

/// Writes what the rows were into the journal, then what they are to be.
pub(super) async fn write(
    tx: &mut Tx,
    journal: JournalId,
    puts: &[Put],
    now: Timestamp,
) -> Result<(), LedgerError> {
    if puts.is_empty() {
        return Ok(());
    }
    remember(tx, journal, puts.iter().map(|put| put.id), now).await?;
    let mut list = List::new();
    for put in puts {
        list.push(&[
            Cell::Int(put.id.0),
            Cell::Text(put.state.as_str()),
            Cell::Text(put.how.map_or("", How::as_str)),
            put.flag.map_or(Cell::Null, |flag| Cell::Text(flag.as_str())),
            Cell::Text(put.cause.map_or("", Cause::as_str)),
            Cell::Int(put.generation.0),
            put.due_at.map_or(Cell::Null, |at| Cell::Int(at.0)),
            Cell::Int(put.tries),
            Cell::Int(put.unknown_attempts),
            Cell::Int(put.handed_again),
            Cell::Int(put.first_started),
            Cell::Int(now.0),
        ]);
    }
    let sql = tx.dialect().update_from(
        "delivery",
        "state = v.v_state, how = v.v_how, flag = v.v_flag, cause = v.v_cause,
         generation = v.v_generation, due_at = v.v_due, tries = v.v_tries,
         unknown_attempts = v.v_unknown, handed_again = v.v_again, first_started = v.v_first,
         worker = 0, updated = v.v_now",
        &[
            Field::Int("v_id"),
            Field::Text("v_state"),
            Field::Text("v_how"),
            Field::Text("v_flag"),
            Field::Text("v_cause"),
            Field::Int("v_generation"),
            Field::Int("v_due"),
            Field::Int("v_tries"),
            Field::Int("v_unknown"),
            Field::Int("v_again"),
            Field::Int("v_first"),
            Field::Int("v_now"),
        ],
        "delivery.id = v.v_id",
    );
    let matched = tx.query(sql).bind(list).execute().await?;
    // They are locked since they were read; anything else would be a fault of ours.
    assert_eq!(matched, puts.len() as u64, "locked rows stay where they are");
    Ok(())
}

/// Keeps what rows are now, so that `undo` can bring it back.
pub(in crate::ledger) async fn remember(
    tx: &mut Tx,
    journal: JournalId,
    rows: impl Iterator<Item = RecipientId>,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let list: List = rows.map(|row| row.0).collect();
    let sql = format!(
        "insert into journal_row (journal, \"row\", state, how, flag, cause, generation, due_at,
                                  address, attempt, tries, unknown_attempts, handed_again,
                                  first_started, address_key, updated_after)
         select ?, d.id, d.state, d.how, d.flag, d.cause, d.generation, d.due_at, r.address,
                d.attempt, d.tries, d.unknown_attempts, d.handed_again, d.first_started,
                r.address_key, ?
           from {rows} v {join} delivery d on d.id = v.id {join} recipient r on r.id = d.id",
        rows = tx.dialect().json_rows(&[Field::Int("id")]),
        join = tx.dialect().then_join()
    );
    tx.query(sql).bind(journal).bind(now).bind(list).execute().await?;
    Ok(())
}

/// Gives a row another address.
pub(super) async fn address(
    tx: &mut Tx,
    row: RecipientId,
    as_written: &str,
    compare_form: &str,
) -> Result<(), LedgerError> {
    tx.query("update recipient set address = ?, address_key = ? where id = ?")
        .bind(as_written)
        .bind(compare_form)
        .bind(row)
        .execute()
        .await?;
    Ok(())
}
