//! Everything in which the three engines differ.
//!
//! Start reading at `json_rows`: lists travel as one JSON text on every engine, because a list of
//! marks of changing length would be a new prepared statement each time, and closing one costs 44 ms
//! on MariaDB while sqlx sets no `TCP_NODELAY` (sqlx issue 4335).

use std::borrow::Cow;
use std::fmt::Write as _;

use sqlx::error::DatabaseError;
use sqlx::mysql::MySqlDatabaseError;

use super::{DbError, Tx};

/// The engine at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
    MariaDb,
}

/// One column of a list that travels as JSON: its name and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Int(&'static str),
    Text(&'static str),
    /// Hex digits in the JSON, bytes in SQL.
    Bytes(&'static str),
}

impl Dialect {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::MariaDb => "MariaDB",
        }
    }

    /// Asks for the engine's version.
    pub(super) const fn version(self) -> &'static str {
        match self {
            Self::Sqlite => "select sqlite_version()",
            Self::Postgres => "show server_version",
            Self::MariaDb => "select version()",
        }
    }

    /// The oldest version that will do, as a person reads it.
    pub(super) const fn needed(self) -> &'static str {
        match self {
            // Before it, a reset of the write-ahead log could lose a commit.
            Self::Sqlite => "3.51.3 or newer",
            Self::Postgres => "13 or newer",
            Self::MariaDb => "MariaDB 10.6.1 or MySQL 8.0.19, or newer,",
        }
    }

    /// Reports whether `version` will do.
    pub(super) fn is_recent(self, version: &str) -> bool {
        let mut numbers = version
            .split(|c: char| !c.is_ascii_digit())
            .map(|part| part.parse::<u32>().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        let version_numbers = (next(), next(), next());
        version_numbers
            >= match self {
                Self::Sqlite => (3, 51, 3),
                Self::Postgres => (13, 0, 0),
                Self::MariaDb if version.contains("MariaDB") => (10, 6, 1),
                Self::MariaDb => (8, 0, 19),
            }
    }

    /// Numbers the marks where the engine wants that; a literal `?` in SQL is not allowed.
    pub(super) fn marks(self, sql: Cow<'static, str>) -> Cow<'static, str> {
        if self != Self::Postgres || !sql.contains('?') {
            return sql;
        }
        let mut out = String::with_capacity(sql.len() + 16);
        for (n, part) in sql.split('?').enumerate() {
            if n > 0 {
                let _ = write!(out, "${n}");
            }
            out.push_str(part);
        }
        Cow::Owned(out)
    }

    /// Begins a transaction that will write; SQLite must take its lock before it reads anything.
    pub(super) const fn begin_write(self) -> &'static str {
        match self {
            Self::Sqlite => "begin immediate",
            Self::Postgres | Self::MariaDb => "begin",
        }
    }

    /// Begins a transaction whose reads all see one moment.
    pub(super) const fn begin_snapshot(self) -> &'static str {
        match self {
            Self::Sqlite => "begin",
            Self::Postgres => "begin isolation level repeatable read, read only",
            Self::MariaDb => "start transaction with consistent snapshot, read only",
        }
    }

    /// Begins a transaction on a foreign database, which is never written to.
    ///
    /// The session is told as well: on MariaDB a change of shape ends the transaction first, and
    /// whatever ends it must not open the door. SQLite's file is opened for reading only.
    pub(super) const fn begin_source(self) -> &'static str {
        match self {
            Self::Sqlite => "begin",
            Self::Postgres => "set default_transaction_read_only = on; begin read only",
            Self::MariaDb => "set session transaction read only; start transaction read only",
        }
    }

    /// What must be said before `begin_snapshot`.
    pub(super) const fn before_snapshot(self) -> Option<&'static str> {
        match self {
            Self::Sqlite | Self::Postgres => None,
            Self::MariaDb => Some("set transaction isolation level repeatable read"),
        }
    }

    /// Ends a select that takes rows to work on: locked, passing over rows that others hold.
    pub const fn skip_locked(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres | Self::MariaDb => " for update skip locked",
        }
    }

    /// Ends a select whose rows must not change until the transaction ends.
    pub const fn for_update(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres | Self::MariaDb => " for update",
        }
    }

    /// Ends a select whose rows others may read but not change until the transaction ends.
    pub const fn for_share(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " for share",
            Self::MariaDb => " lock in share mode",
        }
    }

    /// Updates rows of `table` from a list `v` that travels as JSON; takes one mark, the list.
    ///
    /// A `where id in (select …)` would be asked for every row of the table on MariaDB.
    pub fn update_from(self, table: &str, sets: &str, fields: &[Field], on: &str) -> String {
        let rows = self.json_rows(fields);
        match self {
            Self::Sqlite | Self::Postgres => {
                format!("update {table} set {sets} from {rows} v where {on}")
            }
            Self::MariaDb => format!("update {rows} v straight_join {table} on {on} set {sets}"),
        }
    }

    /// Deletes the rows of `table` whose `column` stands in a list of numbers; takes one mark.
    pub fn delete_listed(self, table: &str, column: &str) -> String {
        let rows = self.json_rows(&[Field::Int("listed")]);
        match self {
            Self::Sqlite | Self::Postgres => {
                format!("delete from {table} where {column} in (select v.listed from {rows} v)")
            }
            Self::MariaDb => format!(
                "delete {table} from {rows} v straight_join {table} on {table}.{column} = v.listed"
            ),
        }
    }

    /// Ends an insert: a row whose `key` is there already stays as it is.
    ///
    /// Do not count the affected rows: MariaDB counts the kept ones too.
    pub fn keep_existing(self, table: &str, key: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres => format!(" on conflict ({key}) do nothing"),
            Self::MariaDb => {
                let first = key.split(',').next().unwrap_or(key).trim();
                format!(" on duplicate key update {first} = {table}.{first}")
            }
        }
    }

    /// Ends an insert: where `key` is there already, `sets` happens instead (`n = {new.n}` style).
    ///
    /// In `sets`, write `old(n)` for the value that is there and `new(n)` for the offered one.
    pub fn or_update(self, table: &str, key: &str, sets: &str) -> String {
        let mut text = String::new();
        let mut rest = sets;
        while let Some(at) = rest.find("old(").into_iter().chain(rest.find("new(")).min() {
            let (before, call) = rest.split_at(at);
            let (name, after) = call.split_once(')').unwrap_or((call, ""));
            let column = name.split_once('(').map_or("", |(_, column)| column);
            let value = match (self, name.starts_with("old")) {
                (_, true) => format!("{table}.{column}"),
                (Self::MariaDb, false) => format!("values({column})"),
                (Self::Sqlite | Self::Postgres, false) => format!("excluded.{column}"),
            };
            let _ = write!(text, "{before}{value}");
            rest = after;
        }
        text.push_str(rest);
        match self {
            Self::Sqlite | Self::Postgres => format!(" on conflict ({key}) do update set {text}"),
            Self::MariaDb => format!(" on duplicate key update {text}"),
        }
    }

    /// Joins a table after a list: row by row of the list, by the table's key.
    ///
    /// Left to themselves, SQLite and MariaDB take a list for a few rows and, while they know nothing
    /// of a table, walk that table once per row of the list: 18 s instead of 36 ms for 5,000 keys.
    pub const fn then_join(self) -> &'static str {
        match self {
            Self::Sqlite => "cross join",
            Self::Postgres => "join",
            Self::MariaDb => "straight_join",
        }
    }

    /// A derived table of the rows in one JSON text; takes one mark.
    ///
    /// Use it as `from {json_rows(..)} v {then_join()} table t on ..`. The text is a `List`.
    pub fn json_rows(self, fields: &[Field]) -> String {
        let is_plain = fields.len() == 1;
        let mut columns = String::new();
        for (i, &field) in fields.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let value = match (self, is_plain) {
                (Self::Sqlite | Self::Postgres, true) => "value".to_owned(),
                (Self::Sqlite | Self::Postgres, false) => format!("(value ->> {i})"),
                (Self::MariaDb, true) => "path '$'".to_owned(),
                (Self::MariaDb, false) => format!("path '$[{i}]'"),
            };
            let _ = match (self, field) {
                (Self::Sqlite, Field::Int(name)) => {
                    write!(columns, "{comma}cast({value} as integer) as {name}")
                }
                (Self::Sqlite | Self::Postgres, Field::Text(name)) => {
                    write!(columns, "{comma}{value} as {name}")
                }
                (Self::Sqlite, Field::Bytes(name)) => {
                    write!(columns, "{comma}unhex({value}) as {name}")
                }
                (Self::Postgres, Field::Int(name)) => {
                    write!(columns, "{comma}{value}::bigint as {name}")
                }
                (Self::Postgres, Field::Bytes(name)) => {
                    write!(columns, "{comma}decode({value}, 'hex') as {name}")
                }
                (Self::MariaDb, Field::Int(name)) => {
                    write!(columns, "{comma}{name} bigint {value}")
                }
                (Self::MariaDb, Field::Text(name) | Field::Bytes(name)) => write!(
                    columns,
                    "{comma}{name} longtext character set utf8mb4 collate utf8mb4_nopad_bin {value}"
                ),
            };
        }
        match (self, is_plain) {
            (Self::Sqlite, _) => format!("(select {columns} from json_each(?))"),
            (Self::Postgres, true) => {
                format!("(select {columns} from json_array_elements_text(?::json) as e(value))")
            }
            (Self::Postgres, false) => {
                format!("(select {columns} from json_array_elements(?::json) as e(value))")
            }
            (Self::MariaDb, _) => format!("json_table(?, '$[*]' columns ({columns}))"),
        }
    }

    /// A column of `json_rows` that holds bytes: on MariaDB it is still hex there.
    pub fn bytes_of(self, column: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres => column.to_owned(),
            Self::MariaDb => format!("unhex({column})"),
        }
    }

    /// Sums are not bigint by themselves everywhere (numeric, decimal).
    pub fn bigint(self, expression: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres => format!("cast({expression} as bigint)"),
            Self::MariaDb => format!("cast({expression} as signed)"),
        }
    }

    /// Counts the tables named by one mark, in the database we are connected to.
    pub const fn has_table(self) -> &'static str {
        match self {
            Self::Sqlite => "select count(*) from sqlite_schema where type = 'table' and name = ?",
            Self::Postgres => {
                "select count(*) from pg_catalog.pg_class c
                  where c.relname = ? and c.relkind = 'r' and pg_table_is_visible(c.oid)"
            }
            Self::MariaDb => {
                "select count(*) from information_schema.tables
                  where table_schema = database() and table_name = ?"
            }
        }
    }

    /// Keeps every other process from changing the schema; SQLite's own lock does that.
    const fn lock_schema(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("select pg_advisory_xact_lock(7281105)"),
            Self::MariaDb => Some("select get_lock(concat('ittsu.', database()), 60)"),
        }
    }

    const fn unlock_schema(self) -> Option<&'static str> {
        match self {
            Self::Sqlite | Self::Postgres => None,
            Self::MariaDb => Some("select release_lock(concat('ittsu.', database()))"),
        }
    }

    /// Updates the planner's statistics; worth it after an import.
    pub const fn analyze(self, table: Table) -> &'static str {
        match (self, table) {
            (Self::Sqlite | Self::Postgres, Table::Recipient) => "analyze recipient",
            (Self::Sqlite | Self::Postgres, Table::Delivery) => "analyze delivery",
            (Self::MariaDb, Table::Recipient) => "analyze table recipient",
            (Self::MariaDb, Table::Delivery) => "analyze table delivery",
        }
    }

    /// Reports whether somebody else was in the way and the whole transaction may be repeated.
    ///
    /// A lock wait that timed out has SQLSTATE `HY000` on MariaDB; only the number says 1205. It
    /// rolls back one statement only, so the caller rolls back the rest.
    pub(super) fn is_busy(self, err: &dyn DatabaseError) -> bool {
        match self {
            Self::Sqlite => sqlite_code(err).is_some_and(|code| matches!(code & 0xff, 5 | 6)),
            Self::Postgres => {
                matches!(err.code().as_deref(), Some("40001" | "40P01" | "55P03"))
            }
            Self::MariaDb => {
                mysql_number(err).is_some_and(|number| matches!(number, 1020 | 1205 | 1213))
            }
        }
    }

    /// Reports whether a value was to blame: too long, not text, out of range, against a constraint.
    pub(super) fn is_about_value(self, err: &dyn DatabaseError) -> bool {
        match self {
            Self::Sqlite => {
                sqlite_code(err).is_some_and(|code| matches!(code & 0xff, 18 | 19 | 20 | 25))
            }
            Self::Postgres => {
                err.code().is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
            }
            Self::MariaDb => mysql_number(err).is_some_and(|number| {
                matches!(number, 1048 | 1264 | 1265 | 1366 | 1406 | 3819 | 4025)
            }),
        }
    }

    /// What the recorder's connection is told about plans.
    ///
    /// Its few statements go by primary keys whatever the statistics say, so their plans are made
    /// once and kept. Without this PostgreSQL would plan each group anew (`force_custom_plan`, as
    /// on the other connections) or keep a plan made while the table was small.
    pub(super) const fn settle_plans(self) -> Option<&'static str> {
        match self {
            Self::Sqlite | Self::MariaDb => None,
            Self::Postgres => Some(
                "set plan_cache_mode = force_generic_plan; set enable_seqscan = off;
                 set enable_hashjoin = off; set enable_mergejoin = off; set jit = off",
            ),
        }
    }

    /// Reports whether the server is going away or refuses everybody just now.
    pub(super) fn is_away(self, err: &dyn DatabaseError) -> bool {
        match self {
            // Unable to open, disk I/O error, full disk: nothing can be recorded just now.
            Self::Sqlite => {
                sqlite_code(err).is_some_and(|code| matches!(code & 0xff, 10 | 13 | 14))
            }
            Self::Postgres => err.code().is_some_and(|code| {
                code.starts_with("08")
                    || code.starts_with("57P")
                    || code.starts_with("53")
                    || code == "25P03"
                    || code == "25006"
            }),
            // 1290: the server is read-only; 1021: disk full; 1040: too many connections.
            Self::MariaDb => mysql_number(err).is_some_and(|number| {
                matches!(number, 1021 | 1040 | 1053 | 1077 | 1079 | 1290 | 1836 | 1927 | 4031)
            }),
        }
    }
}

impl Tx {
    /// Waits until no other process changes the schema.
    pub async fn lock_schema(&mut self) -> Result<(), DbError> {
        match self.dialect().lock_schema() {
            Some(sql) => self.packet_rows(sql.to_owned()).await.map(drop),
            None => Ok(()),
        }
    }

    /// Lets others change the schema, where the end of the transaction does not do that.
    pub async fn unlock_schema(&mut self) -> Result<(), DbError> {
        match self.dialect().unlock_schema() {
            Some(sql) => self.packet_rows(sql.to_owned()).await.map(drop),
            None => Ok(()),
        }
    }
}

/// A table whose statistics are worth refreshing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Recipient,
    Delivery,
}

fn sqlite_code(err: &dyn DatabaseError) -> Option<i32> {
    err.code().and_then(|code| code.parse().ok())
}

fn mysql_number(err: &dyn DatabaseError) -> Option<u16> {
    err.try_downcast_ref::<MySqlDatabaseError>().map(MySqlDatabaseError::number)
}
