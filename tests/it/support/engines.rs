//! A database of its own for every test, on SQLite, PostgreSQL and MariaDB.
//!
//! The servers are found by `ITTSU_TEST_POSTGRES` and `ITTSU_TEST_MARIADB`, which `tests/run`
//! sets. A test without its server fails: an engine that was not tested must not look tested.

use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection, PgConnection};
use tempfile::TempDir;
use tokio::runtime;

/// The engines that every promise is kept on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
    MariaDb,
}

/// An empty ledger's place and a folder; both are gone when it is dropped.
///
/// Open the ledger with `Ledger::open(&place.url, ..)`, after the place and so dropped before it.
pub(crate) struct Place {
    pub(crate) engine: Engine,
    /// What `--ledger` and the configuration take.
    pub(crate) url: String,
    folder: TempDir,
    #[expect(dead_code, reason = "it is here to be dropped")]
    guard: Option<Guard>,
}

impl Place {
    /// Makes an empty database on `engine`.
    pub(crate) async fn on(engine: Engine) -> Self {
        let folder = tempfile::Builder::new().prefix("ittsu-").tempdir().expect("a folder");
        let (url, guard) = match engine {
            Engine::Sqlite => {
                (format!("sqlite:{}", folder.path().join("ledger.db").display()), None)
            }
            Engine::Postgres | Engine::MariaDb => {
                let guard = Guard { engine, server: engine.server(), name: unique_name() };
                let sql = match engine {
                    Engine::MariaDb => {
                        format!("create database {} character set utf8mb4", guard.name)
                    }
                    _ => format!("create database {}", guard.name),
                };
                guard.tell(&[sql]).await.expect("the test server makes a database");
                (guard.url(), Some(guard))
            }
        };
        Self { engine, url, folder, guard }
    }

    /// Returns a path in the test's own folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Engine {
    fn server(self) -> String {
        let name = match self {
            Self::Sqlite => unreachable!("SQLite has no server"),
            Self::Postgres => "ITTSU_TEST_POSTGRES",
            Self::MariaDb => "ITTSU_TEST_MARIADB",
        };
        std::env::var(name).unwrap_or_else(|_| {
            panic!("{name} is not set: this engine would go untested; run tests/run")
        })
    }
}

/// Drops the database, also when the test panicked and its connections are still open.
struct Guard {
    engine: Engine,
    server: String,
    name: String,
}

impl Guard {
    fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').expect("the server's URL names a database");
        format!("{server}/{}", self.name)
    }

    async fn tell(&self, statements: &[String]) -> Result<(), sqlx::Error> {
        match self.engine {
            Engine::Sqlite => {}
            Engine::Postgres => {
                let mut connection = PgConnection::connect(&self.server).await?;
                for sql in statements {
                    connection.execute(AssertSqlSafe(sql.clone())).await?;
                }
                connection.close().await?;
            }
            Engine::MariaDb => {
                let mut connection = MySqlConnection::connect(&self.server).await?;
                for sql in statements {
                    connection.execute(AssertSqlSafe(sql.clone())).await?;
                }
                connection.close().await?;
            }
        }
        Ok(())
    }

    async fn remove(&self) -> Result<(), sqlx::Error> {
        match self.engine {
            Engine::Sqlite => Ok(()),
            Engine::Postgres => {
                self.tell(&[format!("drop database if exists {} with (force)", self.name)]).await
            }
            // An open transaction would hold the drop for ever: its connection goes first.
            Engine::MariaDb => {
                let kill = format!(
                    "begin not atomic
                       -- It may have ended between the list and the kill.
                       declare continue handler for 1094 begin end;
                       for c in (select id from information_schema.processlist where db = '{}') do
                         execute immediate concat('kill ', c.id);
                       end for;
                     end",
                    self.name
                );
                let drop = format!("drop database if exists {}", self.name);
                self.tell(&["set lock_wait_timeout = 20".to_owned(), kill, drop]).await
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A runtime of its own on a thread of its own: the test's may be unwinding.
        thread::scope(|scope| {
            let done = scope.spawn(|| {
                let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(self.remove()).map_err(std::io::Error::other)
            });
            let result = done.join().expect("dropping a database does not panic");
            if let (Err(err), false) = (result, thread::panicking()) {
                panic!("the database {} of this test could not be dropped: {err}", self.name);
            }
        });
    }
}

fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("ittsu_{}_{number}_{:08x}", std::process::id(), fastrand::u32(..))
}

/// Runs one test on one engine, on a runtime like the product's.
pub(crate) fn run<F: Future<Output = ()>>(engine: Engine, test: impl FnOnce(Place) -> F) {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async { test(Place::on(engine).await).await });
}

/// Lists tests once and runs each on the three engines.
///
/// ```ignore
/// on_every_engine! { a_row_is_claimed_once, a_second_import_adds_nothing }
/// async fn a_row_is_claimed_once(place: Place) { … }
/// ```
macro_rules! on_every_engine {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() {
                $crate::support::engines::run($crate::support::engines::Engine::Sqlite, super::$name);
            })*
        }
        mod postgres {
            $(#[test] fn $name() {
                $crate::support::engines::run($crate::support::engines::Engine::Postgres, super::$name);
            })*
        }
        mod mariadb {
            $(#[test] fn $name() {
                $crate::support::engines::run($crate::support::engines::Engine::MariaDb, super::$name);
            })*
        }
    };
}
pub(crate) use on_every_engine;
