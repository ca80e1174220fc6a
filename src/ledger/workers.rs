//! Who works: registering, heartbeats, slots, and asking a worker to stop.
//!
//! Promise: an identity is new at each start, and `lost_at` is never taken back: whoever was swept
//! or has left stays fenced for ever.

use std::sync::Arc;

use crate::db::{Row, Tx};
use crate::domain::id::WorkerId;
use crate::domain::state::State;
use crate::domain::time::Timestamp;
use crate::domain::watch::Process;

use super::delivery::word;
use super::{Ledger, LedgerError, claims, ids};

/// Who a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub host: String,
    pub process: Process,
    pub state_dir: String,
    /// The kinds it serves; empty: all.
    pub kinds: Vec<String>,
}

/// A registered worker: its number and its slot among the counters, 1 to 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Registered {
    pub worker: WorkerId,
    pub slot: i64,
}

/// A worker as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    pub id: WorkerId,
    pub identity: Identity,
    pub started_at: Timestamp,
    /// Rises with every transaction of its recorder; when it stands still, it may be dead.
    pub beat: i64,
    pub beat_at: Timestamp,
    pub slot: i64,
    pub lost_at: Option<Timestamp>,
    pub lost_how: LostHow,
    /// Until when an answer to something it had on the wire may still come.
    pub late_until: Option<Timestamp>,
    /// Since when it is asked to stop.
    pub stop_at: Option<Timestamp>,
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostHow {
    /// It has not ended.
    Not,
    /// It gave everything back and said so.
    Left,
    /// Its process is proved gone.
    Gone,
    /// Its beat stood still; it may still be alive somewhere.
    Silent,
}

impl LostHow {
    /// Returns the word that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Not => "",
            Self::Left => "left",
            Self::Gone => "gone",
            Self::Silent => "silent",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Not, Self::Left, Self::Gone, Self::Silent]
            .into_iter()
            .find(|how| how.as_str() == word)
    }
}

/// The slots among the counters that workers share; 0 is for operators and imports.
const SLOTS: i64 = 63;

const COLUMNS: &str = "id, host, boot, pid_ns, pid, pid_start, state_dir, kinds, started_at, beat, \
    beat_at, slot, lost_at, lost_how, late_until, stop_at";

impl Worker {
    fn of(row: &Row) -> Result<Self, LedgerError> {
        let kinds = row.text(7)?;
        Ok(Self {
            id: WorkerId(row.int(0)?),
            identity: Identity {
                host: row.text(1)?,
                process: Process {
                    boot: row.text(2)?,
                    pid_ns: row.text(3)?,
                    pid: row.int(4)?,
                    pid_start: row.int(5)?,
                },
                state_dir: row.text(6)?,
                kinds: kinds.split_terminator('\n').map(str::to_owned).collect(),
            },
            started_at: Timestamp(row.int(8)?),
            beat: row.int(9)?,
            beat_at: Timestamp(row.int(10)?),
            slot: row.int(11)?,
            lost_at: row.int_or_null(12)?.map(Timestamp),
            lost_how: word("end of a worker", &row.text(13)?, LostHow::from_word)?,
            late_until: row.int_or_null(14)?.map(Timestamp),
            stop_at: row.int_or_null(15)?.map(Timestamp),
        })
    }
}

impl Ledger {
    /// Gives this process a number and the lowest free slot.
    pub async fn register(
        &self,
        identity: Identity,
        now: Timestamp,
    ) -> Result<Registered, LedgerError> {
        let identity = Arc::new(identity);
        self.db
            .write(move |tx| {
                let identity = Arc::clone(&identity);
                Box::pin(async move { register(tx, &identity, now).await })
            })
            .await
    }

    /// Returns the workers that were not swept and have not left, the oldest first.
    pub async fn workers(&self) -> Result<Vec<Worker>, LedgerError> {
        let sql = format!("select {COLUMNS} from worker where lost_at is null order by id");
        let rows = self.db.read().await?.query(sql).fetch_all().await?;
        rows.iter().map(Worker::of).collect()
    }

    /// Returns any worker, also a lost one.
    pub async fn worker(&self, id: WorkerId) -> Result<Option<Worker>, LedgerError> {
        let sql = format!("select {COLUMNS} from worker where id = ?");
        let row = self.db.read().await?.query(sql).bind(id).fetch_optional().await?;
        row.as_ref().map(Worker::of).transpose()
    }

    /// Asks a worker to finish what is on the wire and to stop; false if it has ended already.
    pub async fn request_stop(&self, id: WorkerId, now: Timestamp) -> Result<bool, LedgerError> {
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let sql = "update worker set stop_at = coalesce(stop_at, ?)
                                where id = ? and lost_at is null";
                    Ok(tx.query(sql).bind(now).bind(id).execute().await? == 1)
                })
            })
            .await
    }

    /// Gives every claim back and ends the worker: it is fenced from now on.
    ///
    /// Refused while a row of it is still `sending`: every started row gets its end first, or the
    /// worker stays and is swept. Returns whether it has ended.
    pub async fn leave(&self, me: Registered, now: Timestamp) -> Result<bool, LedgerError> {
        self.db.write(move |tx| Box::pin(async move { leave(tx, me.worker, now).await })).await
    }
}

async fn register(
    tx: &mut Tx,
    identity: &Identity,
    now: Timestamp,
) -> Result<Registered, LedgerError> {
    // The block of numbers stays locked until the commit: two that register at once take turns.
    let worker = WorkerId(ids::reserve(tx, ids::WORKER, 1).await?);
    let taken = tx.query("select slot from worker where lost_at is null").fetch_all().await?;
    let taken: Vec<i64> = taken.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    let slot = (1..=SLOTS).find(|slot| !taken.contains(slot)).ok_or(LedgerError::TooManyWorkers)?;
    let process = &identity.process;
    let kinds: String = identity.kinds.iter().flat_map(|kind| [kind, "\n"]).collect();
    tx.query(
        "insert into worker (id, host, boot, pid_ns, pid, pid_start, state_dir, kinds, started_at,
                             beat, beat_at, slot, lost_how)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, '')",
    )
    .bind(worker)
    .bind(&identity.host)
    .bind(&process.boot)
    .bind(&process.pid_ns)
    .bind(process.pid)
    .bind(process.pid_start)
    .bind(&identity.state_dir)
    .bind(kinds)
    .bind(now)
    .bind(now)
    .bind(slot)
    .execute()
    .await?;
    Ok(Registered { worker, slot })
}

async fn leave(tx: &mut Tx, worker: WorkerId, now: Timestamp) -> Result<bool, LedgerError> {
    let sql = "update worker set beat = beat + 1, beat_at = ? where id = ? and lost_at is null";
    if tx.query(sql).bind(now).bind(worker).execute().await? == 0 {
        return Ok(true);
    }
    let rows = claims::rows_of(tx, worker, None).await?;
    if rows.iter().any(|row| row.state == State::Sending) {
        return Ok(false);
    }
    claims::free(tx, rows, now).await?;
    let_go(tx, worker, now).await?;
    let sql = "update worker set lost_at = ?, lost_how = 'left' where id = ?";
    tx.query(sql).bind(now).bind(worker).execute().await?;
    Ok(true)
}

/// Frees what a worker held beside its rows: claims, connections, the probe of a transport.
pub(super) async fn let_go(
    tx: &mut Tx,
    worker: WorkerId,
    now: Timestamp,
) -> Result<(), LedgerError> {
    tx.query("delete from claim where worker = ?").bind(worker).execute().await?;
    let sql = "update lane set worker = 0, since = ? where worker = ?";
    tx.query(sql).bind(now).bind(worker).execute().await?;
    let sql = "update endpoint set probe_worker = 0 where probe_worker = ?";
    tx.query(sql).bind(worker).execute().await?;
    Ok(())
}
