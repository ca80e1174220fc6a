//! The three schemas agree, and a ledger opens only where it can be understood.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use futures_util::future::join_all;
use ittsu::db::Open;
use ittsu::domain::policy::Policy;
use ittsu::ledger::{Ledger, LedgerError};

use crate::support::engines::{Engine, Place, on_every_engine, run};
use crate::support::ledgers::{Books, location};

on_every_engine! {
    a_ledger_is_made_once_and_opens_again,
    many_that_make_a_ledger_at_once_make_one,
    only_a_creating_command_makes_a_ledger,
    a_newer_ledger_is_refused,
    a_reader_writes_nothing,
    the_views_count_and_show_times_as_dates,
}

async fn a_ledger_is_made_once_and_opens_again(place: Place) {
    let first = Ledger::open(&location(&place), Open::Create).await.unwrap();
    let again = Ledger::open(&location(&place), Open::Create).await.unwrap();
    let existing = Ledger::open(&location(&place), Open::Existing).await.unwrap();
    let reading = Ledger::open(&location(&place), Open::ReadOnly).await.unwrap();
    for other in [&again, &existing, &reading] {
        assert_eq!((first.id(), first.mac_key()), (other.id(), other.mac_key()));
    }
}

async fn many_that_make_a_ledger_at_once_make_one(place: Place) {
    let location = location(&place);
    let opened = join_all((0..8).map(|_| Ledger::open(&location, Open::Create))).await;
    let ledgers: Vec<Ledger> = opened.into_iter().map(Result::unwrap).collect();
    let (first, others) = ledgers.split_first().unwrap();
    for other in others {
        assert_eq!((first.id(), first.mac_key()), (other.id(), other.mac_key()));
    }
}

async fn only_a_creating_command_makes_a_ledger(place: Place) {
    for open in [Open::Existing, Open::ReadOnly] {
        let err = Ledger::open(&location(&place), open).await.unwrap_err();
        assert!(matches!(err, LedgerError::Missing(_)), "{err:?}");
        let text = err.to_string();
        let location = location(&place).to_string();
        assert!(text.contains(location.trim_start_matches("sqlite:")), "{text}");
    }
}

async fn a_newer_ledger_is_refused(place: Place) {
    let location = location(&place);
    let books = Books::with(place, 1, Policy::Hold).await;
    books.run("update meta set value = '99' where name = 'schema_version'").await;
    for open in [Open::Create, Open::Existing, Open::ReadOnly] {
        let err = Ledger::open(&location, open).await.unwrap_err();
        assert!(matches!(err, LedgerError::Newer { found: 99, .. }), "{err:?}");
    }
}

async fn a_reader_writes_nothing(place: Place) {
    let location = location(&place);
    let books = Books::with(place, 1, Policy::Hold).await;
    let hand = books.worker().await;
    let reading = Ledger::open(&location, Open::ReadOnly).await.unwrap();
    assert_eq!(reading.workers().await.unwrap().len(), 1);
    let err = reading.request_stop(hand.me.worker, crate::support::ledgers::NOW).await;
    assert!(err.unwrap_err().to_string().contains("ledger"));
    let stop = books.number("select count(*) from worker where stop_at is not null").await;
    assert_eq!(stop, 0);
}

async fn the_views_count_and_show_times_as_dates(place: Place) {
    let books = Books::with(place, 2, Policy::Hold).await;
    let mut one = books.worker().await;
    one.begin().await;
    let sql = "select batch, ready, sending, sent from progress";
    let row = &books.rows(sql).await[0];
    assert_eq!(row.text(0).unwrap(), "notice-1");
    let counts: Vec<i64> = (1..=3).map(|i| row.int(i).unwrap()).collect();
    assert_eq!(counts, [1, 1, 0]);
    let text = match books.db.dialect().as_str() {
        "PostgreSQL" => "select cast(first_started as text) from mail where \"key\" = 'k1'",
        "MariaDB" => "select cast(first_started as char) from mail where \"key\" = 'k1'",
        _ => "select first_started from mail where \"key\" = 'k1'",
    };
    let shown = books.rows(text).await[0].text(0).unwrap();
    assert!(shown.starts_with("2027-01-15 08:00:00"), "{shown}");
}

/// A table's columns, each with its kind (`int`, `text`, `bytes`) and whether it may be null.
type Tables = BTreeMap<String, BTreeMap<String, (String, bool)>>;

/// Indexes by table, as the columns they begin with.
type Indexes = BTreeMap<String, Vec<String>>;

async fn tables(books: &Books) -> Tables {
    let sql = match books.place.engine {
        Engine::Sqlite => {
            "select m.name, c.name, lower(c.type), 1 - c.\"notnull\"
               from sqlite_schema m join pragma_table_info(m.name) c
              where m.type = 'table' and m.name not like 'sqlite%'"
        }
        Engine::Postgres => {
            "select c.table_name::text, c.column_name::text, c.data_type::text,
                    case when c.is_nullable = 'YES' then 1 else 0 end
               from information_schema.columns c join information_schema.tables t
                 on t.table_name = c.table_name and t.table_schema = c.table_schema
              where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'"
        }
        Engine::MariaDb => {
            "select c.table_name, c.column_name, c.data_type,
                    case when c.is_nullable = 'YES' then 1 else 0 end
               from information_schema.columns c join information_schema.tables t
                 on t.table_name = c.table_name and t.table_schema = c.table_schema
              where c.table_schema = database() and t.table_type = 'BASE TABLE'"
        }
    };
    let mut tables = Tables::new();
    for row in books.rows(sql).await {
        let kind = match row.text(2).unwrap().as_str() {
            "integer" | "bigint" => "int",
            "blob" | "bytea" | "mediumblob" => "bytes",
            "text" | "varchar" | "char" | "longtext" => "text",
            other => panic!("a column is a {other}"),
        };
        let column = (kind.to_owned(), row.int(3).unwrap() == 1);
        tables.entry(row.text(0).unwrap()).or_default().insert(row.text(1).unwrap(), column);
    }
    tables
}

async fn indexes(books: &Books) -> Indexes {
    let sql = match books.place.engine {
        Engine::Sqlite => {
            "select m.name, group_concat(c.name, ',')
               from sqlite_schema m join pragma_index_list(m.name) i
               join pragma_index_info(i.name) c
              where m.type = 'table' group by m.name, i.name order by i.name, c.seqno"
        }
        Engine::Postgres => {
            "select t.relname::text, string_agg(a.attname::text, ',' order by k.n)
               from pg_index i join pg_class t on t.oid = i.indrelid
               join pg_namespace s on s.oid = t.relnamespace and s.nspname = current_schema()
               join unnest(i.indkey::int[]) with ordinality as k(attnum, n) on true
               join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum
              group by t.relname, i.indexrelid"
        }
        Engine::MariaDb => {
            "select table_name, group_concat(column_name order by seq_in_index)
               from information_schema.statistics where table_schema = database()
              group by table_name, index_name"
        }
    };
    let mut indexes = Indexes::new();
    for row in books.rows(sql).await {
        indexes.entry(row.text(0).unwrap()).or_default().push(row.text(1).unwrap());
    }
    // A number that is the key of its table has an index of its own only on the servers.
    for (table, found) in &mut indexes {
        let key = if table == "suppression" { "seq" } else { "id" };
        found.retain(|columns| columns != key);
        found.sort();
    }
    indexes.retain(|_, found| !found.is_empty());
    indexes
}

#[test]
fn the_three_schemas_agree() {
    run(Engine::Sqlite, |place| async {
        let sqlite = Books::with(place, 0, Policy::Hold).await;
        for engine in [Engine::Postgres, Engine::MariaDb] {
            let other = Books::with(Place::on(engine).await, 0, Policy::Hold).await;
            assert_eq!(tables(&sqlite).await, tables(&other).await, "{engine:?}");
            assert_eq!(indexes(&sqlite).await, indexes(&other).await, "{engine:?}");
        }
        let delivery = indexes(&sqlite).await.remove("delivery").unwrap();
        assert_eq!(delivery, ["batch,due_at,id", "batch,flag,id"], "nothing that changes often");
    });
}

#[test]
fn a_ledger_file_is_its_owners_alone() {
    run(Engine::Sqlite, |place| async {
        let file = place.path("ledger.db");
        let books = Books::with(place, 3, Policy::Hold).await;
        books.worker().await.begin().await;
        for end in ["", "-wal", "-shm"] {
            let path = format!("{}{end}", file.display());
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{path}");
        }
    });
}
