//! What a person settles by hand: sent, failed, once more, and back again.
//!
//! Promise: what would change is decided by `domain::plan` on locked rows, compared with the number
//! that was confirmed, and written with its journal entry, all in one transaction. A row in the hands
//! of a living worker is left, and counted.
//! Start reading at `Ledger::settle`, then `undo`.

mod decided;
mod put;
mod undo;

use std::collections::{BTreeMap, HashSet};

use crate::db::{Row, Tx};
use crate::domain::batch::Wanted;
use crate::domain::id::{Attempt, BatchId, Generation, JournalId, RecipientId, WorkerId};
use crate::domain::plan::{Act, Change, Left, Seen, decide};
use crate::domain::selection::Selection;
use crate::domain::time::Timestamp;

use super::batches::{self, Batch};
use super::counts::{self, Moves};
use super::journal::{self, By, Entry};
use super::rows::{Chosen, flag, how, state};
use super::{Ledger, LedgerError, Refused, ids};

use put::Put;

pub(super) use decided::decided_since;
pub(super) use put::remember;

/// Something a person wants done to rows of a batch.
#[derive(Clone, Debug)]
pub struct SettleRequest {
    pub batch: BatchId,
    pub selection: Selection,
    pub act: Act,
    /// Where the mail goes from now on; for one row only.
    pub to: Option<NewAddress>,
    /// The number of rows that were seen to change.
    pub confirm: i64,
    /// The selection in the words of the command line, for the journal.
    pub words: String,
}

/// A corrected address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAddress {
    pub as_written: String,
    pub compare_form: String,
}

/// What was done, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Rows that the selection meets.
    pub matched: i64,
    pub changed: i64,
    /// Rows left as they are, by reason.
    pub left: Vec<LeftAlone>,
    /// Rows among the changed that go out again although they may have arrived.
    pub maybe_twice: i64,
    /// Rows among the changed that are called failed although they may have arrived.
    pub maybe_delivered: i64,
    /// None when nothing changed.
    pub journal: Option<JournalId>,
}

/// Rows that were left for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAlone {
    pub why: Left,
    pub rows: i64,
    /// The key of the first one.
    pub key: String,
    /// Who changed that one last by hand, and when.
    pub by: Option<(String, Timestamp)>,
}

/// Rows that are looked at and changed in one statement.
const AT_ONCE: i64 = 5_000;

/// A row as it is before a person's change.
#[derive(Clone, Debug)]
struct Before {
    id: RecipientId,
    key: String,
    seen: Seen,
    generation: Generation,
    attempt: Attempt,
    tries: i64,
    handed_again: i64,
    first_started: i64,
    worker: WorkerId,
}

impl Before {
    /// Reads `id, key, state, how, flag, generation, attempt, tries, unknown_attempts,
    /// handed_again, first_started, worker` from column 0.
    fn of(row: &Row, living: &HashSet<i64>) -> Result<Self, LedgerError> {
        let worker = row.int(11)?;
        Ok(Self {
            id: RecipientId(row.int(0)?),
            key: row.text(1)?,
            seen: Seen {
                state: state(&row.text(2)?)?,
                how: how(&row.text(3)?)?,
                flag: flag(row.text_or_null(4)?.as_deref())?,
                held: living.contains(&worker),
                unknown_attempts: row.int(8)?,
                handed_again: row.int(9)? > 0,
            },
            generation: Generation(row.int(5)?),
            attempt: Attempt(row.int(6)?),
            tries: row.int(7)?,
            handed_again: row.int(9)?,
            first_started: row.int(10)?,
            worker: WorkerId(worker),
        })
    }
}

/// What a walk over the rows has gathered.
#[derive(Default)]
struct Tally {
    settled: Settled,
    left: BTreeMap<Left, (i64, RecipientId, String)>,
    moves: Moves,
    /// The only row that changed, while there is only one.
    only: Option<RecipientId>,
    seen: Attempts,
}

/// The attempts that a person saw, by key; rows that are not named are not compared.
pub type Attempts = BTreeMap<String, Attempt>;

impl Ledger {
    /// Says what `settle` would change now, without changing it.
    pub async fn settle_plan(
        &self,
        request: &SettleRequest,
        now: Timestamp,
    ) -> Result<Settled, LedgerError> {
        self.settle_seen_plan(request, &Attempts::new(), now).await
    }

    /// Says what `settle_seen` would change now.
    pub async fn settle_seen_plan(
        &self,
        request: &SettleRequest,
        seen: &Attempts,
        now: Timestamp,
    ) -> Result<Settled, LedgerError> {
        let mut tx = self.db.snapshot().await?;
        let batch = batches::by_id(&mut tx, request.batch).await?;
        refuse_early(request, &batch)?;
        let mut tally = Tally { seen: seen.clone(), ..Tally::default() };
        walk(&mut tx, request, &batch, None, &mut tally, now).await?;
        finish(&mut tx, tally).await
    }

    /// Does what a person asks to the rows of a selection, if as many change as were confirmed.
    ///
    /// When nothing would change, nothing is compared: that is an answer with counts.
    pub async fn settle(
        &self,
        request: SettleRequest,
        by: By,
        now: Timestamp,
    ) -> Result<Settled, LedgerError> {
        self.settle_seen(request, Attempts::new(), by, now).await
    }

    /// Does the same, but leaves rows alone whose attempt is no longer the one that was seen.
    pub async fn settle_seen(
        &self,
        request: SettleRequest,
        seen: Attempts,
        by: By,
        now: Timestamp,
    ) -> Result<Settled, LedgerError> {
        let batch = request.batch;
        let journal = self.journal_number().await?;
        let request = (request, by, seen);
        let settled = self
            .act(request, move |tx, (request, by, seen)| {
                Box::pin(settle(tx, request, seen, journal, by, now))
            })
            .await?;
        self.end_if_cancelled(batch, &settled, now).await?;
        Ok(settled)
    }

    /// Takes a number for an entry in a transaction of its own.
    ///
    /// A change of a million rows takes its time; nobody who pauses something meanwhile may have to
    /// wait for the numbers of the journal. For the same reason it does not lock the batch.
    async fn journal_number(&self) -> Result<JournalId, LedgerError> {
        self.act((), |tx, ()| Box::pin(ids::reserve(tx, ids::JOURNAL, 1))).await.map(JournalId)
    }

    /// Ends rows that came back to `ready` while somebody cancelled their batch.
    async fn end_if_cancelled(
        &self,
        batch: BatchId,
        settled: &Settled,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        if settled.changed > 0 {
            self.cancel_leftovers(batch, now).await?;
        }
        Ok(())
    }
}

fn refuse_early(request: &SettleRequest, batch: &Batch) -> Result<(), Refused> {
    match (request.act, batch.wanted) {
        (Act::Resend | Act::AnotherCopy, Wanted::Cancelled) => {
            Err(Refused::Cancelled(batch.name.clone()))
        }
        _ => Ok(()),
    }
}

async fn settle(
    tx: &mut Tx,
    request: &SettleRequest,
    seen: &Attempts,
    journal: JournalId,
    by: &By,
    now: Timestamp,
) -> Result<Settled, LedgerError> {
    let batch = batches::by_id(tx, request.batch).await?;
    refuse_early(request, &batch)?;
    let mut tally = Tally { seen: seen.clone(), ..Tally::default() };
    walk(tx, request, &batch, Some(journal), &mut tally, now).await?;
    let changed = tally.settled.changed;
    if changed == 0 {
        return finish(tx, tally).await;
    }
    // An error takes everything back: nothing has changed.
    if changed != request.confirm {
        return Err(Refused::CountDiffers { confirmed: request.confirm, now: changed }.into());
    }
    let mut details = serde_json::json!({ "left": tally.settled.matched - changed });
    if let Some(to) = &request.to {
        let Some(row) = tally.only else { return Err(Refused::NotOneRow(changed).into()) };
        put::address(tx, row, &to.as_written, &to.compare_form).await?;
        details["to"] = to.as_written.as_str().into();
    }
    counts::write(tx, &tally.moves).await?;
    let entry = Entry {
        selection: request.words.clone(),
        matched: tally.settled.matched,
        changed,
        details,
        ..Entry::of(request.act.as_str(), batch.id)
    };
    journal::write_as(tx, journal, &entry, by, now).await?;
    tally.settled.journal = Some(journal);
    finish(tx, tally).await
}

/// Goes over the rows in the order of their numbers; changes them if there is a `journal`.
async fn walk(
    tx: &mut Tx,
    request: &SettleRequest,
    batch: &Batch,
    journal: Option<JournalId>,
    tally: &mut Tally,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let living = living_workers(tx).await?;
    let chosen = Chosen::new(batch, &request.selection, now);
    let lock = if journal.is_some() { tx.dialect().for_update() } else { "" };
    let sql = chosen.sql(
        tx.dialect(),
        "d.id, r.key, d.state, d.how, d.flag, d.generation, d.attempt, d.tries, d.unknown_attempts,
         d.handed_again, d.first_started, d.worker",
        "",
        &format!(" order by d.id limit ?{lock}"),
    );
    let mut after = RecipientId(0);
    loop {
        let rows = chosen.bind(tx.query(sql.clone()), after).bind(AT_ONCE).fetch_all().await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = RecipientId(last.int(0)?);
        let mut puts = Vec::new();
        for row in &rows {
            let before = Before::of(row, &living)?;
            puts.extend(tally.decide(request.act, &before, batch, now));
        }
        if let Some(journal) = journal {
            put::write(tx, journal, &puts, now).await?;
        }
    }
}

impl Tally {
    /// Decides about one row and counts the decision; returns how the row is to be written.
    fn decide(&mut self, act: Act, before: &Before, batch: &Batch, now: Timestamp) -> Option<Put> {
        self.settled.matched += 1;
        if self.seen.get(&before.key).is_some_and(|seen| *seen != before.attempt) {
            self.leave(Left::Moved, before);
            return None;
        }
        let change = match decide(act, &before.seen, batch.wanted) {
            Ok(change) => change,
            Err(why) => {
                self.leave(why, before);
                return None;
            }
        };
        let after = change.of(&before.seen);
        let doubtful = before.seen.unknown_attempts > 0;
        match change {
            Change::Again | Change::Copy if doubtful => self.settled.maybe_twice += 1,
            Change::Failed if doubtful => self.settled.maybe_delivered += 1,
            _ => {}
        }
        self.change(batch.id, before, &after);
        Some(Put::changed(before, change, &after, now))
    }

    fn change(&mut self, batch: BatchId, before: &Before, after: &Seen) {
        self.settled.changed += 1;
        self.only = (self.settled.changed == 1).then_some(before.id);
        self.moves.moved(batch, &before.seen, after);
    }

    fn leave(&mut self, why: Left, before: &Before) {
        let place = self.left.entry(why).or_insert_with(|| (0, before.id, before.key.clone()));
        place.0 += 1;
    }
}

/// Names who changed the first of the rows that are left, for "already changed by X at T".
async fn finish(tx: &mut Tx, tally: Tally) -> Result<Settled, LedgerError> {
    let mut settled = tally.settled;
    for (why, (rows, id, key)) in tally.left {
        let by = last_hand(tx, id).await?;
        settled.left.push(LeftAlone { why, rows, key, by });
    }
    Ok(settled)
}

async fn last_hand(
    tx: &mut Tx,
    row: RecipientId,
) -> Result<Option<(String, Timestamp)>, LedgerError> {
    let row = tx
        .query(
            "select j.operator, j.at from journal_row w join journal j on j.id = w.journal
              where w.row = ? order by w.journal desc limit 1",
        )
        .bind(row)
        .fetch_optional()
        .await?;
    row.map(|row| Ok((row.text(0)?, Timestamp(row.int(1)?)))).transpose()
}

async fn living_workers(tx: &mut Tx) -> Result<HashSet<i64>, LedgerError> {
    let rows = tx.query("select id from worker where lost_at is null").fetch_all().await?;
    rows.iter().map(|row| Ok(row.int(0)?)).collect()
}
