//! Rows that an older system has settled: sent and failed as it says, in doubt where it had begun.

use std::collections::BTreeMap;

use crate::db::{Bulk, Cell, Clash, Tx};
use crate::domain::batch::Bucket;
use crate::domain::id::Attempt;
use crate::domain::past::Past;
use crate::domain::state::{Cause, How, State};
use crate::domain::time::Timestamp;
use crate::ledger::counts::Moves;
use crate::ledger::delivery::{self, Delivery};
use crate::ledger::evidence::Seen;
use crate::ledger::ids;

use super::{Job, JobError, NewRow, count};

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
        let settled = |row: &NewRow| row.past.filter(|past| !past.is_waiting());
        let pasts = rows.iter().filter_map(|&(id, row)| Some((id, settled(row)?)));
        let pasts: BTreeMap<i64, Past> = pasts.collect();
        let mut locked = delivery::lock(tx, pasts.keys().copied().collect()).await?;
        let mut doubtful = Vec::new();
        for row in &mut locked {
            let Some(&past) = pasts.get(&row.id.0) else { continue };
            let before = row.seen();
            row.adopt(past, self.now);
            moves.moved(self.batch, &before, &row.seen());
            moves.add(self.batch, Bucket::Attempts, past.attempts);
            if row.seen().is_unknown() {
                doubtful.push((row.id.0, past.attempts));
            }
        }
        delivery::write(tx, &locked.iter().collect::<Vec<_>>()).await?;
        self.say_why(tx, &doubtful).await
    }
}

impl Delivery {
    /// Becomes what an older system says of the mail.
    fn adopt(&mut self, past: Past, now: Timestamp) {
        let seen = past.row();
        (self.state, self.how, self.flag) = (seen.state, seen.how, seen.flag);
        self.cause = past.cause();
        self.attempt = Attempt(past.attempts);
        self.unknown_attempts = seen.unknown_attempts;
        self.due_at = None;
        self.updated = past.settled_at.unwrap_or(now);
    }
}
