//! Rows that an older system has settled: sent and failed as it says, in doubt where it had begun.

use crate::db::{Bulk, Cell, Clash, Field, List, Tx};
use crate::domain::batch::Bucket;
use crate::domain::past::Past;
use crate::domain::state::{Cause, Flag, How, State};
use crate::ledger::counts::Moves;
use crate::ledger::evidence::Seen;
use crate::ledger::ids;

use super::{Job, JobError, NewRow, count, count_of};

impl Job {
    /// Writes what is to become of the new rows, where the source says it of some.
    pub(super) async fn adopt(&self, tx: &mut Tx, moves: &mut Moves) -> Result<(), JobError> {
        let columns =
            "id, batch, state, how, flag, cause, attempt, unknown_attempts, due_at, updated";
        let mut bulk = Bulk::new(tx.dialect(), "delivery", columns, Clash::Fail);
        let mut doubtful = Vec::new();
        for (id, row) in (self.first..).zip(&self.plan.new) {
            let past = row.past.unwrap_or_else(|| Past::of(State::Ready, None, None));
            let seen = past.row();
            bulk.push(&[
                Cell::Int(id),
                Cell::Int(self.batch.0),
                Cell::Text(seen.state.as_str()),
                Cell::Text(seen.how.map_or("", How::as_str)),
                seen.flag.map_or(Cell::Null, |flag| Cell::Text(flag.as_str())),
                Cell::Text(past.cause().map_or("", Cause::as_str)),
                Cell::Int(past.attempts),
                Cell::Int(seen.unknown_attempts),
                if past.is_waiting() { Cell::Int(0) } else { Cell::Null },
                Cell::Int(past.settled_at.map_or(self.now.0, |at| at.0)),
            ]);
            moves.came(self.batch, &seen);
            moves.add(self.batch, Bucket::Attempts, past.attempts);
            if seen.is_unknown() {
                doubtful.push((id, past.attempts));
            }
        }
        bulk.write(tx).await?;
        self.say_why(tx, &doubtful).await
    }

    /// Keeps beside each row in doubt that the doubt came with it.
    async fn say_why(&self, tx: &mut Tx, rows: &[(i64, i64)]) -> Result<(), JobError> {
        if rows.is_empty() {
            return Ok(());
        }
        let first = ids::reserve(tx, ids::EVIDENCE, count(rows.len())).await?;
        let columns =
            "id, row, attempt, generation, worker, source, outcome, code, reply, at, became";
        let mut bulk = Bulk::new(tx.dialect(), "evidence", columns, Clash::Fail);
        for (id, &(row, attempt)) in (first..).zip(rows) {
            bulk.push(&[
                Cell::Int(id),
                Cell::Int(row),
                Cell::Int(attempt),
                Cell::Int(1),
                Cell::Int(0),
                Cell::Text(Seen::Imported.as_str()),
                Cell::Text("unknown"),
                Cell::Int(0),
                Cell::Bytes(b"the older system had begun to send it"),
                Cell::Int(self.now.0),
                Cell::Text("kept"),
            ]);
        }
        bulk.write(tx).await?;
        Ok(())
    }

    /// Settles rows that are waiting here and that the source says were settled meanwhile.
    ///
    /// They are locked, were never attempted, and no worker holds them.
    pub(super) async fn settle_replaced(
        &self,
        tx: &mut Tx,
        moves: &mut Moves,
        rows: &[(i64, &NewRow)],
    ) -> Result<(), JobError> {
        let mut list = List::new();
        let (mut doubtful, mut many) = (Vec::new(), 0);
        let waiting = Past::of(State::Ready, None, None).row();
        for &(id, row) in rows {
            let Some(past) = row.past.filter(|past| !past.is_waiting()) else { continue };
            let seen = past.row();
            list.push(&[
                Cell::Int(id),
                Cell::Text(seen.state.as_str()),
                Cell::Text(seen.how.map_or("", How::as_str)),
                seen.flag.map_or(Cell::Null, |flag: Flag| Cell::Text(flag.as_str())),
                Cell::Text(past.cause().map_or("", Cause::as_str)),
                Cell::Int(past.attempts),
                Cell::Int(seen.unknown_attempts),
                Cell::Int(past.settled_at.map_or(self.now.0, |at| at.0)),
            ]);
            moves.moved(self.batch, &waiting, &seen);
            moves.add(self.batch, Bucket::Attempts, past.attempts);
            many += 1;
            if seen.is_unknown() {
                doubtful.push((id, past.attempts));
            }
        }
        if many == 0 {
            return Ok(());
        }
        let sql = tx.dialect().update_from(
            "delivery",
            "state = v.v_state, how = v.v_how, flag = v.v_flag, cause = v.v_cause,
             attempt = v.v_attempt, unknown_attempts = v.v_unknown, due_at = null,
             updated = v.v_at",
            &[
                Field::Int("v_id"),
                Field::Text("v_state"),
                Field::Text("v_how"),
                Field::Text("v_flag"),
                Field::Text("v_cause"),
                Field::Int("v_attempt"),
                Field::Int("v_unknown"),
                Field::Int("v_at"),
            ],
            "delivery.id = v.v_id and delivery.state = 'ready' and delivery.attempt = 0
             and delivery.worker = 0",
        );
        if count_of(tx.query(sql).bind(list).execute().await?) != many {
            return Err(JobError::Stale);
        }
        self.say_why(tx, &doubtful).await
    }
}
