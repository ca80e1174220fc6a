//! The tables, and how an older ledger becomes a present one.

use crate::db::{Db, DbError, Dialect, Open, Tx};

use super::LedgerError;

/// One step of the schema, in the words of each engine.
struct Migration {
    sqlite: &'static str,
    postgres: &'static str,
    mariadb: &'static str,
}

macro_rules! migration {
    ($name:literal) => {
        Migration {
            sqlite: include_str!(concat!("../../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/", $name, ".sql")),
            mariadb: include_str!(concat!("../../migrations/mariadb/", $name, ".sql")),
        }
    };
}

/// Every step so far; the schema's version is their number.
const MIGRATIONS: &[Migration] = &[migration!("0001_ledger")];

/// What is written once, when a ledger is made.
#[derive(Clone)]
pub(super) struct Meta {
    pub(super) ledger_id: String,
    pub(super) mac_key: Vec<u8>,
}

impl std::fmt::Debug for Meta {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meta").field("ledger_id", &self.ledger_id).finish_non_exhaustive()
    }
}

impl Migration {
    const fn of(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
            Dialect::MariaDb => self.mariadb,
        }
    }
}

fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Makes or updates the tables as far as `open` allows, and reads who this ledger is.
pub(super) async fn prepare(db: &Db, open: Open) -> Result<Meta, LedgerError> {
    let found = version(&mut db.read().await?).await?;
    match found {
        None if open != Open::Create => {
            return Err(LedgerError::Missing(db.location().to_string()));
        }
        Some(found) if found > known() => {
            return Err(LedgerError::Newer { found, known: known() });
        }
        Some(found) if found < known() && open == Open::ReadOnly => {
            return Err(LedgerError::Older { found, known: known() });
        }
        Some(found) if found == known() => {}
        None | Some(_) => migrate(db).await?,
    }
    let mut tx = db.read().await?;
    let ledger_id = meta(&mut tx, "ledger_id").await?;
    let key = meta(&mut tx, "mac_key").await?;
    let mac_key = data_encoding::HEXLOWER
        .decode(key.as_bytes())
        .map_err(|_not_hex| LedgerError::Nonsense { what: "key", word: "***".to_owned() })?;
    Ok(Meta { ledger_id, mac_key })
}

async fn migrate(db: &Db) -> Result<(), LedgerError> {
    let fresh = [("ledger_id", random_hex(8)?), ("mac_key", random_hex(32)?)];
    let dialect = db.dialect();
    // Two processes that start at once take turns here; the second finds the work done.
    let mut own = db.private().await?;
    own.begin().await?;
    own.tx().lock_schema().await?;
    let done = migrate_locked(own.tx(), dialect, &fresh).await;
    match done {
        Ok(()) => {
            own.commit().await?;
            own.tx().unlock_schema().await?;
            Ok(())
        }
        Err(err) => {
            own.rollback().await.ok();
            Err(err)
        }
    }
}

async fn migrate_locked(
    tx: &mut Tx,
    dialect: Dialect,
    fresh: &[(&str, String)],
) -> Result<(), LedgerError> {
    let found = version(tx).await?.unwrap_or(0);
    if found > known() {
        return Err(LedgerError::Newer { found, known: known() });
    }
    let done = usize::try_from(found).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        tx.script(migration.of(dialect)).await?;
    }
    let keep = format!(
        "insert into meta (name, value) values (?, ?){}",
        dialect.keep_existing("meta", "name")
    );
    for (name, value) in fresh {
        tx.query(keep.clone()).bind(*name).bind(value).execute().await?;
    }
    let put = "insert into meta (name, value) values ('schema_version', ?)".to_owned()
        + &dialect.or_update("meta", "name", "value = new(value)");
    tx.query(put).bind(known().to_string()).execute().await?;
    Ok(())
}

/// Returns the schema's version, or `None` where there is no ledger.
async fn version(tx: &mut Tx) -> Result<Option<i64>, LedgerError> {
    let there = tx.query(tx.dialect().has_table()).bind("meta").fetch_one().await?.int(0)?;
    if there == 0 {
        return Ok(None);
    }
    let sql = "select value from meta where name = ?";
    let Some(row) = tx.query(sql).bind("schema_version").fetch_optional().await? else {
        return Ok(None);
    };
    let word = row.text(0)?;
    match word.parse() {
        Ok(version) => Ok(Some(version)),
        Err(_) => Err(LedgerError::Nonsense { what: "schema version", word }),
    }
}

async fn meta(tx: &mut Tx, name: &'static str) -> Result<String, LedgerError> {
    let sql = "select value from meta where name = ?";
    let row = tx.query(sql).bind(name).fetch_optional().await?;
    let missing = || LedgerError::Nonsense { what: name, word: String::new() };
    Ok(row.ok_or_else(missing)?.text(0)?)
}

/// Returns `bytes` random bytes of the operating system, as hex.
fn random_hex(bytes: usize) -> Result<String, LedgerError> {
    let mut buffer = vec![0; bytes];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| std::io::Read::read_exact(&mut source, &mut buffer))
        .map_err(DbError::random)?;
    Ok(data_encoding::HEXLOWER.encode(&buffer))
}
