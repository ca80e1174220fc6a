//! Taking a person's change back.

use std::collections::HashSet;

use crate::db::{Row, Tx};
use crate::domain::batch::Wanted;
use crate::domain::id::{BatchId, Generation, JournalId};
use crate::domain::plan::{Act, Left, Seen};
use crate::domain::state::State;
use crate::domain::time::Timestamp;
use crate::ledger::batches::{self, Batch};
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::rows::{cause, flag, how, state};
use crate::ledger::{Ledger, LedgerError, Refused, counts};

use super::put::{self, Put};
use super::{AT_ONCE, Before, Settled, Tally, finish, living_workers};

impl Ledger {
    /// Takes a mark or a resend back for the rows that have not moved since.
    ///
    /// It is a change of its own with its own entry; what was written before stays.
    pub async fn undo(
        &self,
        entry: JournalId,
        by: By,
        now: Timestamp,
    ) -> Result<Settled, LedgerError> {
        let journal = self.journal_number().await?;
        let (batch, settled) =
            self.act(by, move |tx, by| Box::pin(undo(tx, entry, journal, by, now))).await?;
        self.end_if_cancelled(batch, &settled, now).await?;
        Ok(settled)
    }
}

async fn undo(
    tx: &mut Tx,
    entry: JournalId,
    journal: JournalId,
    by: &By,
    now: Timestamp,
) -> Result<(BatchId, Settled), LedgerError> {
    let Some(done) = journal::entry(tx, entry).await? else {
        return Err(Refused::NoSuchEntry(entry.0).into());
    };
    let (Some(batch), Some(_)) = (done.batch, Act::from_word(&done.action)) else {
        return Err(Refused::NotUndoable(done.action).into());
    };
    let batch = batches::by_id(tx, batch).await?;
    let mut tally = Tally::default();
    walk_back(tx, entry, &batch, journal, &mut tally, now).await?;
    let changed = tally.settled.changed;
    if changed == 0 {
        return Ok((batch.id, finish(tx, tally).await?));
    }
    counts::write(tx, &tally.moves).await?;
    let entry = Entry {
        matched: tally.settled.matched,
        changed,
        details: serde_json::json!({ "undoes": entry.0 }),
        ..Entry::of("undo", batch.id)
    };
    journal::write_as(tx, journal, &entry, by, now).await?;
    tally.settled.journal = Some(journal);
    Ok((batch.id, finish(tx, tally).await?))
}

/// A row of the journal beside the row as it is now.
struct Step {
    now: Before,
    back: Put,
    before: Seen,
    /// It is as the entry left it.
    untouched: bool,
    /// The address it had, if it was corrected.
    address: Option<(String, String)>,
}

async fn walk_back(
    tx: &mut Tx,
    entry: JournalId,
    batch: &Batch,
    journal: JournalId,
    tally: &mut Tally,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let living = living_workers(tx).await?;
    let sql = "select d.id, r.key, d.state, d.how, d.flag, d.generation, d.attempt, d.tries,
                      d.unknown_attempts, d.handed_again, d.first_started, d.worker, d.updated, r.address, w.state, w.how, w.flag, w.cause,
                      w.generation, w.due_at, w.attempt, w.tries, w.unknown_attempts,
                      w.handed_again, w.first_started, w.address, w.address_key, w.updated_after
                 from journal_row w
                 join delivery d on d.id = w.row
                 join recipient r on r.id = d.id
                where w.journal = ? and w.row > ? and d.batch = ?
                order by w.row limit ?"
        .to_owned()
        + tx.dialect().for_update();
    let mut after = 0;
    loop {
        let rows = tx
            .query(sql.clone())
            .bind(entry)
            .bind(after)
            .bind(batch.id)
            .bind(AT_ONCE)
            .fetch_all()
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.int(0)?;
        let mut puts = Vec::new();
        let mut addresses = Vec::new();
        for row in &rows {
            let step = Step::of(row, &living, now)?;
            tally.settled.matched += 1;
            if let Some(why) = step.left(batch) {
                tally.leave(why, &step.now);
                continue;
            }
            tally.change(batch.id, &step.now, &step.before);
            addresses.extend(step.address.map(|address| (step.back.id, address)));
            puts.push(step.back);
        }
        put::write(tx, journal, &puts, now).await?;
        for (row, (as_written, compare_form)) in &addresses {
            put::address(tx, *row, as_written, compare_form).await?;
        }
    }
}

impl Step {
    fn of(row: &Row, living: &HashSet<i64>, now: Timestamp) -> Result<Self, LedgerError> {
        let present = Before::of(row, living)?;
        let before = Seen {
            state: state(&row.text(14)?)?,
            how: how(&row.text(15)?)?,
            flag: flag(row.text_or_null(16)?.as_deref())?,
            held: false,
            unknown_attempts: row.int(22)?,
            handed_again: row.int(23)? > 0,
        };
        let due_at = match before.state {
            // It may have been in a worker's hands then, without a time of its own.
            State::Ready => Some(Timestamp(row.int_or_null(19)?.unwrap_or(now.0))),
            State::Sending | State::Sent | State::Failed => None,
        };
        let back = Put {
            id: present.id,
            state: before.state,
            how: before.how,
            flag: before.flag,
            cause: cause(&row.text(17)?)?,
            generation: Generation(row.int(18)?),
            due_at,
            tries: row.int(21)?,
            unknown_attempts: before.unknown_attempts,
            handed_again: row.int(23)?,
            first_started: row.int(24)?,
        };
        let (is, was) = (row.text(13)?, row.text(25)?);
        let address = if is == was { None } else { Some((was, row.text(26)?)) };
        let untouched = row.int(12)? == row.int(27)?
            && present.attempt.0 == row.int(20)?
            && present.worker.0 == 0;
        Ok(Self { now: present, back, before, untouched, address })
    }

    fn left(&self, batch: &Batch) -> Option<Left> {
        if self.now.seen.held {
            Some(Left::BeingSent)
        } else if !self.untouched {
            Some(Left::Moved)
        } else if batch.wanted == Wanted::Cancelled && self.before.state == State::Ready {
            Some(Left::BatchCancelled)
        } else {
            None
        }
    }
}
