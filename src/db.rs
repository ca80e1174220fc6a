//! One way to talk to SQLite, PostgreSQL and MariaDB.
//!
//! Promise: SQL is written once, with `?`; a write runs in a task of its own that no caller can
//! cancel, and is repeated whole when somebody else was in the way.
//! Absent on purpose: this room knows no table. Only it knows sqlx, and only `dialect` knows how the
//! engines differ.
//! Start reading at `Db`, then `query`, then `dialect`.

mod bulk;
mod connect;
mod dialect;
mod error;
mod list;
mod location;
mod private;
mod query;
mod row;
mod same_file;
mod source;
mod tx;
mod value;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

pub use bulk::{Bulk, Cell, Clash};
pub use dialect::{Dialect, Field, Table};
pub use error::DbError;
pub use list::List;
pub use location::Location;
pub use private::Private;
pub use query::Query;
pub use row::Row;
pub use source::{Ids, Source, SourceRow};
pub use tx::Tx;
pub use value::Value;

use connect::Pools;

/// What may happen when a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// It is made when it is not there.
    Create,
    /// It must be there.
    Existing,
    /// It must be there, and nothing is written.
    ReadOnly,
}

/// An open database of any of the three engines; cheap to clone.
#[derive(Clone, Debug)]
pub struct Db {
    pools: Pools,
    open: Open,
    location: Arc<Location>,
    /// Held while this process writes to SQLite, so that its own writers take turns without
    /// sleeping in SQLite's busy handler.
    turn: Arc<Mutex<()>>,
    writes: TaskTracker,
}

/// An error that work inside a transaction may end with.
pub trait WorkError: From<DbError> + Send + 'static {
    /// Reports whether the whole transaction should be tried again.
    fn is_busy(&self) -> bool;
}

/// How often a transaction is repeated when somebody else was in the way.
const BUSY_TRIES: u32 = 8;

impl Db {
    /// Opens the database at `location` and checks that the engine can keep our promises.
    pub async fn open(location: &Location, open: Open) -> Result<Self, DbError> {
        let pools = connect::pools(location, open).await?;
        Ok(Self {
            pools,
            open,
            location: Arc::new(location.clone()),
            turn: Arc::default(),
            writes: TaskTracker::new(),
        })
    }

    pub const fn dialect(&self) -> Dialect {
        self.pools.dialect()
    }

    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Runs `work` in one transaction and commits it.
    ///
    /// It runs to its end even if the caller is dropped. `work` may be called several times, each
    /// time in a new transaction, so it must not touch anything but the transaction.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: WorkError,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        if self.open == Open::ReadOnly {
            return Err(E::from(DbError::ReadOnly));
        }
        let db = self.clone();
        self.owned(async move {
            let mut tries = 0;
            loop {
                match db.attempt(&work).await {
                    Err(err) if err.is_busy() && tries < BUSY_TRIES => {
                        tries += 1;
                        let wait = fastrand::u64(1..=10) << tries.min(6);
                        tokio::time::sleep(Duration::from_millis(wait)).await;
                    }
                    done => return done,
                }
            }
        })
        .await
    }

    async fn attempt<T, E, F>(&self, work: &F) -> Result<T, E>
    where
        E: WorkError,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, E>>,
    {
        let _turn = self.turn().await;
        let mut tx = self.pools.begin_write().await?;
        match work(&mut tx).await {
            Ok(value) => {
                tx.commit().await?;
                Ok(value)
            }
            Err(err) => {
                // A rollback that fails closes the connection; the error that matters is `err`.
                tx.rollback().await.ok();
                Err(err)
            }
        }
    }

    /// Waits for this process's turn to write, where the engine takes one writer at a time.
    async fn turn(&self) -> Option<tokio::sync::OwnedMutexGuard<()>> {
        match self.dialect() {
            Dialect::Sqlite => Some(Arc::clone(&self.turn).lock_owned().await),
            Dialect::Postgres | Dialect::MariaDb => None,
        }
    }

    /// Returns a connection for single reads; each query sees what is committed when it runs.
    pub async fn read(&self) -> Result<Tx, DbError> {
        let pools = self.pools.clone();
        self.owned(async move { pools.reader().await }).await
    }

    /// Returns a read-only transaction in which every query sees the same moment.
    pub async fn snapshot(&self) -> Result<Tx, DbError> {
        let pools = self.pools.clone();
        self.owned(async move { pools.begin_snapshot().await }).await
    }

    /// Runs `work` in a task that outlives its caller and that `close` waits for.
    async fn owned<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        match self.writes.spawn(work).await {
            Ok(value) => value,
            Err(err) => std::panic::resume_unwind(err.into_panic()),
        }
    }

    /// Waits for the writes under way, then closes every connection.
    pub async fn close(&self) {
        self.writes.close();
        self.writes.wait().await;
        self.pools.close().await;
    }
}
