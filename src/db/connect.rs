//! Opens connections with the settings that our promises rest on.
//!
//! Statement logging is off: sqlx logs whole statements, which may hold addresses.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlPool, MySqlPoolOptions};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, SqlSafeStr as _, Transaction};
use tokio::time::{Instant, sleep};

use super::location::Place;
use super::same_file::SameFile;
use super::tx::{Held, Inner};
use super::{DbError, Dialect, Location, Open, Tx};

/// The connections of an open database.
#[derive(Clone, Debug)]
pub(super) enum Pools {
    Sqlite { write: SqlitePool, read: SqlitePool, file: SameFile },
    Postgres(PgPool),
    MariaDb(MySqlPool),
}

/// How many connections one process keeps for claims, reads and operator actions.
const POOL: u32 = 8;
const PATIENCE: Duration = Duration::from_secs(10);

impl Pools {
    pub(super) const fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite { .. } => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
            Self::MariaDb(_) => Dialect::MariaDb,
        }
    }

    /// Refuses when the file that was opened is not the one at its path any more.
    pub(super) fn check_file(&self) -> Result<(), DbError> {
        match self {
            Self::Sqlite { file, .. } => file.check(),
            Self::Postgres(_) | Self::MariaDb(_) => Ok(()),
        }
    }

    pub(super) async fn begin_write(&self) -> Result<Tx, DbError> {
        self.check_file()?;
        let begin = self.dialect().begin_write();
        let opened = match self {
            Self::Sqlite { write, .. } => {
                write.begin_with(begin).await.map(|tx| Inner::Sqlite(Held::Begun(tx)))
            }
            Self::Postgres(pool) => {
                pool.begin_with(begin).await.map(|tx| Inner::Postgres(Held::Begun(tx)))
            }
            Self::MariaDb(pool) => {
                pool.begin_with(begin).await.map(|tx| Inner::MariaDb(Held::Begun(tx)))
            }
        };
        opened.map(Tx).map_err(|err| DbError::of(self.dialect(), err))
    }

    pub(super) async fn reader(&self) -> Result<Tx, DbError> {
        self.check_file()?;
        let held = match self {
            Self::Sqlite { read, .. } => {
                read.acquire().await.map(|c| Inner::Sqlite(Held::Plain(c)))
            }
            Self::Postgres(pool) => pool.acquire().await.map(|c| Inner::Postgres(Held::Plain(c))),
            Self::MariaDb(pool) => pool.acquire().await.map(|c| Inner::MariaDb(Held::Plain(c))),
        };
        held.map(Tx).map_err(|err| DbError::of(self.dialect(), err))
    }

    pub(super) async fn begin_snapshot(&self) -> Result<Tx, DbError> {
        self.check_file()?;
        let begin = self.dialect().begin_snapshot();
        let opened = match self {
            Self::Sqlite { read, .. } => {
                read.begin_with(begin).await.map(|tx| Inner::Sqlite(Held::Begun(tx)))
            }
            Self::Postgres(pool) => {
                pool.begin_with(begin).await.map(|tx| Inner::Postgres(Held::Begun(tx)))
            }
            Self::MariaDb(pool) => mariadb_snapshot(pool, begin).await,
        };
        opened.map(Tx).map_err(|err| DbError::of(self.dialect(), err))
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite { write, read, .. } => {
                read.close().await;
                write.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
            Self::MariaDb(pool) => pool.close().await,
        }
    }
}

async fn mariadb_snapshot(pool: &MySqlPool, begin: &'static str) -> sqlx::Result<Inner> {
    let mut conn = pool.acquire().await?;
    if let Some(before) = Dialect::MariaDb.before_snapshot() {
        conn.execute(before).await?;
    }
    let tx = Transaction::begin(conn, Some(begin.into_sql_str())).await?;
    Ok(Inner::MariaDb(Held::Begun(tx)))
}

/// Opens the pools and checks the engine once.
pub(super) async fn pools(location: &Location, open: Open) -> Result<Pools, DbError> {
    let pools = match &location.place {
        Place::Sqlite(path) => {
            sqlite_file(path, open)?;
            let file = SameFile::at(path)?;
            let write = SqlitePoolOptions::new()
                .max_connections(1)
                .acquire_timeout(PATIENCE)
                .connect_lazy_with(sqlite(path, open));
            let read = SqlitePoolOptions::new()
                .max_connections(POOL)
                .acquire_timeout(PATIENCE)
                .connect_lazy_with(sqlite(path, open).pragma("query_only", "on"));
            Pools::Sqlite { write, read, file }
        }
        Place::Postgres(options) => {
            let settings = postgres_settings(location);
            Pools::Postgres(
                PgPoolOptions::new()
                    .max_connections(POOL)
                    .acquire_timeout(PATIENCE)
                    .after_connect(move |conn, _| {
                        let settings = settings.clone();
                        Box::pin(async move {
                            sqlx::raw_sql(AssertSqlSafe(settings)).execute(conn).await.map(drop)
                        })
                    })
                    .connect_lazy_with(postgres(options)),
            )
        }
        Place::MariaDb(options) => {
            let settings = mariadb_settings(location);
            Pools::MariaDb(
                MySqlPoolOptions::new()
                    .max_connections(POOL)
                    .acquire_timeout(PATIENCE)
                    .after_connect(move |conn, _| {
                        let settings = settings.clone();
                        Box::pin(async move {
                            sqlx::raw_sql(AssertSqlSafe(settings)).execute(conn).await.map(drop)
                        })
                    })
                    .connect_lazy_with(mariadb(options)),
            )
        }
    };
    first_reader(&pools).await?.check_engine().await?;
    Ok(pools)
}

/// Waits its turn where several make one file at once: SQLite refuses a second switch to WAL without
/// waiting, because it comes from a lock that it would have to raise.
async fn first_reader(pools: &Pools) -> Result<Tx, DbError> {
    let gives_up = Instant::now() + PATIENCE;
    loop {
        match pools.reader().await {
            Err(err) if err.is_busy() && Instant::now() < gives_up => {
                sleep(Duration::from_millis(fastrand::u64(1..=20))).await;
            }
            opened => return opened,
        }
    }
}

/// Opens one connection outside the pools.
pub(super) async fn own(location: &Location, open: Open) -> Result<Tx, DbError> {
    let opened = match &location.place {
        Place::Sqlite(path) => {
            sqlite(path, open).connect().await.map(|c| Inner::Sqlite(Held::Own(c)))
        }
        Place::Postgres(options) => own_postgres(options, postgres_settings(location)).await,
        Place::MariaDb(options) => own_mariadb(options, mariadb_settings(location)).await,
    };
    opened.map(Tx).map_err(|err| DbError::of(location.dialect(), err))
}

async fn own_postgres(options: &PgConnectOptions, settings: String) -> sqlx::Result<Inner> {
    let mut conn = postgres(options).connect().await?;
    sqlx::raw_sql(AssertSqlSafe(settings)).execute(&mut conn).await?;
    Ok(Inner::Postgres(Held::Own(conn)))
}

async fn own_mariadb(options: &MySqlConnectOptions, settings: String) -> sqlx::Result<Inner> {
    let mut conn = mariadb(options).connect().await?;
    sqlx::raw_sql(AssertSqlSafe(settings)).execute(&mut conn).await?;
    Ok(Inner::MariaDb(Held::Own(conn)))
}

/// Makes the file readable by its owner only; SQLite gives `-wal` and `-shm` the same mode.
fn sqlite_file(path: &Path, open: Open) -> Result<(), DbError> {
    if open != Open::Create {
        return if path.exists() {
            Ok(())
        } else {
            Err(DbError::Missing(path.display().to_string()))
        };
    }
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map(drop)
        .map_err(|err| DbError::Away(sqlx::Error::Io(err)))
}

fn sqlite(path: &Path, open: Open) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(PATIENCE)
        .statement_cache_capacity(1_000)
        .disable_statement_logging();
    if open == Open::ReadOnly {
        return options.read_only(true);
    }
    options
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", "-8000")
        .pragma("wal_autocheckpoint", "4000")
        .pragma("journal_size_limit", "67108864")
}

fn postgres(options: &PgConnectOptions) -> PgConnectOptions {
    options
        .clone()
        .application_name("ittsu")
        .statement_cache_capacity(1_000)
        .disable_statement_logging()
}

fn mariadb(options: &MySqlConnectOptions) -> MySqlConnectOptions {
    options
        .clone()
        .charset("utf8mb4")
        .collation("utf8mb4_bin")
        .statement_cache_capacity(1_000)
        .disable_statement_logging()
}

/// The settings of every PostgreSQL connection, in one message.
///
/// A plan made while a table was small costs 107 ms a group after an import of a million rows, so
/// plans are never kept.
fn postgres_settings(location: &Location) -> String {
    format!(
        "set plan_cache_mode = force_custom_plan;
         set default_transaction_isolation = 'read committed';
         set standard_conforming_strings = on;
         set idle_in_transaction_session_timeout = {};
         select set_config('synchronous_commit', 'on', false)
          where current_setting('synchronous_commit') = 'off'",
        location.lost_after.as_millis()
    )
}

/// The settings of every MariaDB connection; MySQL passes over what stands in `/*M! … */`.
fn mariadb_settings(location: &Location) -> String {
    format!(
        "set session transaction isolation level read committed;
         set session sql_mode = 'STRICT_ALL_TABLES,ANSI_QUOTES,PIPES_AS_CONCAT,NO_ENGINE_SUBSTITUTION';
         /*M! set session idle_transaction_timeout = {} */",
        location.lost_after.as_secs().max(1)
    )
}

impl Tx {
    /// Refuses an engine on which our promises would not hold.
    async fn check_engine(&mut self) -> Result<(), DbError> {
        let dialect = self.dialect();
        let unfit = |why: String| Err(DbError::Unfit { engine: dialect.as_str(), why });
        let version = self.query(dialect.version()).fetch_one().await?.text(0)?;
        if !dialect.is_recent(&version) {
            return unfit(format!("its version is {version}; {} is needed", dialect.needed()));
        }
        if dialect == Dialect::MariaDb {
            let mode = self.query("select @@session.sql_mode").fetch_one().await?.text(0)?;
            if !mode.contains("STRICT_ALL_TABLES") {
                return unfit(format!("its sql_mode is {mode}, which cuts values silently"));
            }
        }
        if dialect == Dialect::Postgres {
            let encoding = self.query("show server_encoding").fetch_one().await?.text(0)?;
            if encoding != "UTF8" {
                return unfit(format!("the database is in {encoding}; UTF8 is needed"));
            }
        }
        Ok(())
    }
}
