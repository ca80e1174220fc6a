//! Rows that fail without an attempt.

use std::sync::Arc;

use crate::db::Tx;
use crate::domain::id::{Attempt, RecipientId};
use crate::domain::outcome::{Outcome, Phase};
use crate::domain::state::{How, State};
use crate::domain::time::Timestamp;
use crate::ledger::delivery::{self, Delivery};
use crate::ledger::evidence::{self, Line, Seen};
use crate::ledger::moves::{self, Moves};
use crate::ledger::workers::Registered;
use crate::ledger::{Ledger, LedgerError};

/// A row that will not be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unstarted {
    pub row: RecipientId,
    /// `Suppressed`, `Unbuildable` or `Expired`.
    pub how: How,
    /// Why, for people.
    pub note: String,
}

/// What became of suspect refusals that were to be believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Believed {
    pub failed: i64,
    /// Rows of this worker whose refusal is not recorded yet: they come again.
    pub early: Vec<(RecipientId, Attempt)>,
}

impl Ledger {
    /// Fails claimed rows without an attempt; returns how many were still this worker's.
    pub async fn fail_unstarted(
        &self,
        me: Registered,
        rows: Vec<Unstarted>,
        now: Timestamp,
    ) -> Result<i64, LedgerError> {
        let rows = Arc::new(rows);
        self.db
            .write(move |tx| {
                let rows = Arc::clone(&rows);
                Box::pin(async move { fail_unstarted(tx, me, &rows, now).await })
            })
            .await
    }

    /// Fails rows whose suspect refusals a breaker has decided to believe (protocol 18).
    ///
    /// Only rows that are still ready at exactly that attempt, in nobody's hands or in mine.
    pub async fn fail_suspects(
        &self,
        me: Registered,
        rows: Vec<(RecipientId, Attempt)>,
        now: Timestamp,
    ) -> Result<Believed, LedgerError> {
        let rows = Arc::new(rows);
        self.db
            .write(move |tx| {
                let rows = Arc::clone(&rows);
                Box::pin(async move { fail_suspects(tx, me, &rows, now).await })
            })
            .await
    }
}

async fn fail_unstarted(
    tx: &mut Tx,
    me: Registered,
    rows: &[Unstarted],
    now: Timestamp,
) -> Result<i64, LedgerError> {
    let mut locked = locked(tx, rows.iter().map(|row| row.row)).await?;
    locked.retain(|row| row.state == State::Ready && row.worker == Some(me.worker));
    let mut moves = Moves::default();
    for row in &mut locked {
        let Some(asked) = rows.iter().find(|asked| asked.row == row.id) else { continue };
        let before = row.seen();
        row.fail(asked.how, now);
        Phase::Local.as_str().clone_into(&mut row.phase);
        moves.moved(row.batch, &before, &row.seen());
        let line = Line {
            row: row.id,
            attempt: row.attempt,
            generation: row.generation,
            worker: me.worker,
            source: Seen::Local,
            outcome: Outcome::NotSent,
            code: 0,
            reply: asked.note.as_bytes(),
            became: "settled",
        };
        evidence::keep(tx, &line, now).await?;
    }
    write(tx, me, &locked, &moves).await
}

async fn fail_suspects(
    tx: &mut Tx,
    me: Registered,
    rows: &[(RecipientId, Attempt)],
    now: Timestamp,
) -> Result<Believed, LedgerError> {
    let mut locked = locked(tx, rows.iter().map(|(row, _)| *row)).await?;
    locked.retain(|row| {
        row.worker.is_none_or(|worker| worker == me.worker) && rows.contains(&(row.id, row.attempt))
    });
    let is_early = |row: &&Delivery| row.state == State::Sending && row.flag.is_none();
    let early = locked.iter().filter(is_early).map(|row| (row.id, row.attempt)).collect();
    locked.retain(|row| row.state == State::Ready);
    let mut moves = Moves::default();
    for row in &mut locked {
        let before = row.seen();
        row.fail(How::Refused, now);
        moves.moved(row.batch, &before, &row.seen());
    }
    Ok(Believed { failed: write(tx, me, &locked, &moves).await?, early })
}

async fn locked(
    tx: &mut Tx,
    rows: impl Iterator<Item = RecipientId>,
) -> Result<Vec<Delivery>, LedgerError> {
    let mut ids: Vec<i64> = rows.map(|row| row.0).collect();
    ids.sort_unstable();
    ids.dedup();
    delivery::lock(tx, ids.into_iter().collect()).await
}

async fn write(
    tx: &mut Tx,
    me: Registered,
    rows: &[Delivery],
    moves: &Moves,
) -> Result<i64, LedgerError> {
    delivery::write(tx, &rows.iter().collect::<Vec<_>>()).await?;
    moves::write(tx, me.slot, moves).await?;
    Ok(i64::try_from(rows.len()).unwrap_or(i64::MAX))
}
