//! People from a source into the ledger.
//!
//! Promise: every line is counted once (as new, already there, elsewhere, duplicate, suppressed or
//! rejected); running it again changes nothing and says so; killed anywhere, running it again goes
//! on. A row that is there keeps its contents unless it was never attempted and the caller asks.
//! Absent on purpose: nothing here reads a file or knows what a good address is.
//! Start reading at `Load`, then `sort`, then `write`.

mod again;
mod chunk;
mod end;
mod look;
mod seen;
mod sort;
mod write;

use tokio::task::JoinSet;

use crate::domain::batch::Wanted;
use crate::domain::id::BatchId;
use crate::domain::past::Past;
use crate::domain::state::State;
use crate::domain::time::Timestamp;

use super::batches::{self, Batch, NewBatch};
use super::journal::By;
use super::{Ledger, LedgerError, Refused};

use look::Known;
use seen::Seen;

/// Why a line is left out whose key came before in the same source.
pub const SAME_KEY: &str = "the same key came before in this source";
/// Why a line is left out whose address must not be mailed.
pub const DO_NOT_SEND: &str = "on the do-not-send list";

/// The name of a source that cannot be read again: what it left out before stays listed.
pub const STANDARD_INPUT: &str = "-";

/// What is to be loaded, and how.
#[derive(Clone, Debug)]
pub struct LoadRequest {
    pub batch: BatchId,
    /// The file or query, as it is shown to people.
    pub source: String,
    pub existing: Existing,
    pub writes: Writes,
}

/// What happens to a row that is there with other contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Keep,
    /// It takes the new contents if it was never attempted and no worker holds it.
    Replace,
}

/// How much may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Nothing: it is only counted what would happen.
    Nothing,
    /// Everything, into a batch that was not started.
    Everything,
    /// As long as no more rows are added than were confirmed.
    UpTo(i64),
}

/// One person of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRow {
    pub line: i64,
    /// At most 190 characters.
    pub key: String,
    /// As it is sent.
    pub address: String,
    /// In compare form.
    pub address_key: String,
    /// The person's columns, as JSON.
    pub fields: String,
    /// What an older system says became of the mail; a row that is sent may have no address.
    pub past: Option<Past>,
}

/// A line of the source that becomes no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub line: i64,
    pub key: String,
    /// In compare form where it could be read.
    pub address: String,
    pub why: String,
    /// What stands in the line.
    pub value: String,
}

/// What became of the lines of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadSums {
    pub read: i64,
    /// Became ready by this run.
    pub new: i64,
    /// Became what an older system says of them, by this run.
    pub adopted: Adopted,
    /// Are in this batch already.
    pub already: i64,
    /// Are in another batch within which they get one mail.
    pub elsewhere: i64,
    pub duplicates: i64,
    pub suppressed: i64,
    pub rejected: i64,
    /// Part of `already`: the source has other contents than the row.
    pub changed: i64,
    /// Part of `changed`: the row waits here, and an older system has settled it.
    pub settled_meanwhile: i64,
    /// Part of `changed`: the row took the new contents.
    pub replaced: i64,
    /// Part of `new`: never sent by a cancelled batch and taken over from it.
    pub taken_over: i64,
    /// Rows of the batch that the source does not name.
    pub gone: i64,
    /// Lines whose address came before in this source under another key.
    pub same_address: i64,
    /// Rows of other batches that failed or are unknown; at most `MOST_NAMED`.
    pub open_elsewhere: Vec<Elsewhere>,
}

/// Rows that came with an end, or in doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    pub sent: i64,
    pub failed: i64,
    pub unknown: i64,
}

impl Adopted {
    pub const fn total(&self) -> i64 {
        self.sent + self.failed + self.unknown
    }

    /// Counts the rows that an older system has settled; those that wait are `new`.
    fn count<'a>(&mut self, rows: impl Iterator<Item = &'a NewRow>) {
        for past in rows.filter_map(|row| row.past) {
            match past.state {
                State::Ready => {}
                State::Sending => self.unknown += 1,
                State::Sent => self.sent += 1,
                State::Failed => self.failed += 1,
            }
        }
    }
}

impl NewRow {
    /// Reports whether it is still to be sent.
    fn is_waiting(&self) -> bool {
        self.past.is_none_or(|past| past.is_waiting())
    }
}

/// A person who has a row in another batch that did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    pub key: String,
    pub batch: String,
    pub state: State,
    pub unknown: bool,
}

/// Rows elsewhere that are named one by one.
pub const MOST_NAMED: usize = 1_000;

/// Lines that are written in one transaction.
const CHUNK: usize = 10_000;

/// A load under way: lines are pushed in, `finish` answers with the sums.
///
/// One chunk is written while the next one gathers. Dropping it is like being killed: the batch
/// stays `loading`, and the same source again goes on where it stopped.
#[derive(Debug)]
pub struct Load {
    ledger: Ledger,
    name: String,
    /// None while a chunk is under way.
    work: Option<Box<Work>>,
    under_way: JoinSet<Done>,
    rows: Vec<NewRow>,
    left_out: Vec<LeftOut>,
    sums: LoadSums,
    read: i64,
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn count_of(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

type Done = (Box<Work>, Result<(), LedgerError>);

/// What a load knows from one chunk to the next.
#[derive(Debug)]
struct Work {
    batch: Batch,
    request: LoadRequest,
    by: By,
    now: Timestamp,
    /// Rows of the ledger that this source has named.
    seen: Seen,
    known: Known,
    ids: Ids,
    /// The next chunk is written without looking first.
    straight: bool,
    sums: LoadSums,
}

/// Row numbers that were reserved and not used yet.
#[derive(Clone, Copy, Debug, Default)]
struct Ids {
    next: i64,
    left: i64,
}

impl Ledger {
    /// Begins to load a source into a batch.
    ///
    /// A batch that was started takes no further rows unless their number was confirmed.
    pub async fn load(
        &self,
        request: LoadRequest,
        by: By,
        now: Timestamp,
    ) -> Result<Load, LedgerError> {
        let batch = match request.writes {
            Writes::Nothing => self.batch_by_id(request.batch).await?,
            Writes::Everything | Writes::UpTo(_) => {
                let writes = request.writes;
                self.act(request.batch, move |tx, &batch| Box::pin(open(tx, batch, writes, now)))
                    .await?
            }
        };
        self.begin(batch, request, by, now).await
    }
}

impl Ledger {
    /// Begins to count what loading a source into a batch that does not exist yet would do.
    pub async fn load_unmade(
        &self,
        new: &NewBatch,
        source: &str,
        by: By,
        now: Timestamp,
    ) -> Result<Load, LedgerError> {
        let request = LoadRequest {
            batch: BatchId(0),
            source: source.to_owned(),
            existing: Existing::Keep,
            writes: Writes::Nothing,
        };
        let batch = batches::unmade(&mut self.db.read().await?, new, now).await?;
        self.begin(batch, request, by, now).await
    }

    async fn begin(
        &self,
        batch: Batch,
        request: LoadRequest,
        by: By,
        now: Timestamp,
    ) -> Result<Load, LedgerError> {
        let known = look::known(self, &batch, &request).await?;
        let work = Work {
            batch,
            request,
            by,
            now,
            seen: Seen::default(),
            known,
            ids: Ids::default(),
            straight: true,
            sums: LoadSums::default(),
        };
        Ok(Load {
            ledger: self.clone(),
            name: work.batch.name.clone(),
            work: Some(Box::new(work)),
            under_way: JoinSet::new(),
            rows: Vec::with_capacity(CHUNK),
            left_out: Vec::new(),
            sums: LoadSums::default(),
            read: 0,
        })
    }
}

impl Ledger {
    /// Puts people into a running batch at once, each under its key or not at all.
    ///
    /// It is no import: nothing is confirmed, the batch does not count as loading in between, and
    /// any number of workers may do it at the same time.
    pub async fn take_in(
        &self,
        batch: BatchId,
        source: &str,
        rows: Vec<NewRow>,
        now: Timestamp,
    ) -> Result<LoadSums, LedgerError> {
        let batch = self.batch_by_id(batch).await?;
        if batch.wanted == Wanted::Cancelled {
            return Err(Refused::Cancelled(batch.name).into());
        }
        let mut work = Work {
            request: LoadRequest {
                batch: batch.id,
                source: source.to_owned(),
                existing: Existing::Keep,
                writes: Writes::Everything,
            },
            batch,
            by: By::new(batches::ITSELF, ""),
            now,
            seen: Seen::default(),
            known: Known::looks_up_all(),
            ids: Ids::default(),
            // The same job comes again and again: the keys are looked up first.
            straight: false,
            sums: LoadSums::default(),
        };
        chunk::chunk(self, &mut work, rows, Vec::new()).await?;
        Ok(work.sums)
    }
}

/// Says that the batch is loading, from the first chunk to the last.
async fn open(
    tx: &mut crate::db::Tx,
    batch: BatchId,
    writes: Writes,
    now: Timestamp,
) -> Result<Batch, LedgerError> {
    let batch = batches::locked(tx, batch).await?;
    let door_is_open = batch.open_until.is_some_and(|until| now < until);
    match (batch.wanted, writes) {
        (Wanted::Cancelled, _) => return Err(Refused::Cancelled(batch.name).into()),
        (Wanted::Scheduled | Wanted::Running | Wanted::Paused, Writes::Everything)
            if !door_is_open =>
        {
            return Err(Refused::Started(batch.name).into());
        }
        _ => {}
    }
    tx.query("update batch set loading = ? where id = ?")
        .bind(now)
        .bind(batch.id)
        .execute()
        .await?;
    Ok(Batch { loading: Some(now), ..batch })
}

impl Load {
    /// Takes one person of the source.
    pub async fn push(&mut self, row: NewRow) -> Result<(), LedgerError> {
        self.read += 1;
        self.rows.push(row);
        self.go_on().await
    }

    /// Takes a line that the caller found wanting.
    pub async fn leave_out(&mut self, line: LeftOut) -> Result<(), LedgerError> {
        self.read += 1;
        self.left_out.push(line);
        self.go_on().await
    }

    /// Returns the lines taken so far, for a progress line.
    pub const fn read(&self) -> i64 {
        self.read
    }

    /// Returns the sums of what is durably written so far.
    pub const fn so_far(&self) -> &LoadSums {
        &self.sums
    }

    async fn go_on(&mut self) -> Result<(), LedgerError> {
        if self.rows.len() + self.left_out.len() < CHUNK {
            return Ok(());
        }
        self.hand_over().await
    }

    /// Waits for the chunk under way and gives what has gathered to the next one.
    async fn hand_over(&mut self) -> Result<(), LedgerError> {
        let mut work = self.join().await?;
        let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(CHUNK));
        let left_out = std::mem::take(&mut self.left_out);
        let ledger = self.ledger.clone();
        self.under_way.spawn(async move {
            let done = chunk::chunk(&ledger, &mut work, rows, left_out).await;
            (work, done)
        });
        Ok(())
    }

    /// Waits for the chunk under way and takes back what the next one needs.
    async fn join(&mut self) -> Result<Box<Work>, LedgerError> {
        if let Some(work) = self.work.take() {
            return Ok(work);
        }
        // A chunk failed before, and the caller went on.
        let Some(joined) = self.under_way.join_next().await else {
            return Err(Refused::Loading(self.name.clone()).into());
        };
        let (work, done) = match joined {
            Ok(done) => done,
            Err(err) => std::panic::resume_unwind(err.into_panic()),
        };
        done?;
        self.sums = work.sums.clone();
        Ok(work)
    }

    /// Writes what is left, ends the load and returns its sums.
    pub async fn finish(mut self) -> Result<LoadSums, LedgerError> {
        if !self.rows.is_empty() || !self.left_out.is_empty() {
            self.hand_over().await?;
        }
        let mut work = self.join().await?;
        end::end(&self.ledger, &mut work).await?;
        Ok(work.sums)
    }
}
