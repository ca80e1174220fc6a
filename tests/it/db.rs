//! The waist: the same statements, values and promises on the three engines.

mod source;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ittsu::db::{Bulk, Cell, Clash, Db, DbError, Field, List, Location, Open};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::support::engines::{Engine, Place, on_every_engine};

on_every_engine! {
    a_write_outlives_its_caller,
    a_transaction_that_met_another_is_repeated_whole,
    an_error_takes_everything_back,
    a_snapshot_sees_one_moment,
    a_forgotten_snapshot_leaves_a_clean_connection,
    rows_in_bulk_keep_every_value,
    rows_in_bulk_keep_what_was_there_or_fail_whole,
    a_list_brings_every_value_into_sql,
    a_value_that_does_not_fit_is_refused_and_never_cut,
    keys_differ_byte_by_byte,
    rows_stream_without_being_held,
}

async fn db(place: &Place) -> Db {
    let location = Location::parse(&place.url, std::path::Path::new("/")).unwrap();
    let db = Db::open(&location, Open::Create).await.unwrap();
    let sql = match place.engine {
        Engine::Sqlite => {
            "create table t (id integer primary key, k text unique, v text, b blob) strict"
        }
        Engine::Postgres => {
            "create table t (id bigint primary key, k text unique, v text, b bytea)"
        }
        Engine::MariaDb => {
            "create table t (id bigint primary key, k varchar(9) unique, v text, b blob)
             character set utf8mb4 collate utf8mb4_nopad_bin"
        }
    };
    run(&db, sql).await.unwrap();
    db
}

async fn run(db: &Db, sql: &str) -> Result<u64, DbError> {
    let sql = sql.to_owned();
    db.write(move |tx| {
        let sql = sql.clone();
        Box::pin(async move { tx.query(sql).execute().await })
    })
    .await
}

async fn count(db: &Db) -> i64 {
    let mut tx = db.read().await.unwrap();
    tx.query("select count(*) from t").fetch_one().await.unwrap().int(0).unwrap()
}

async fn a_write_outlives_its_caller(place: Place) {
    let db = db(&place).await;
    let (under_way, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (began, waits) = (Arc::clone(&under_way), Arc::clone(&go_on));
    let write = db.write(move |tx| {
        let (started, held) = (Arc::clone(&began), Arc::clone(&waits));
        Box::pin(async move {
            tx.query("insert into t (id) values (1)").execute().await?;
            started.notify_one();
            held.notified().await;
            tx.query("insert into t (id) values (2)").execute().await
        })
    });
    tokio::select! {
        done = write => panic!("it waits for us: {done:?}"),
        () = under_way.notified() => {}
    }
    go_on.notify_one();
    db.close().await;
    let db = Db::open(db.location(), Open::Existing).await.unwrap();
    assert_eq!(count(&db).await, 2);
}

/// Two lock two rows in opposite order: the servers call it a deadlock, SQLite a busy file.
async fn a_transaction_that_met_another_is_repeated_whole(place: Place) {
    let db = db(&place).await;
    run(&db, "insert into t (id, v) values (1, '0'), (2, '0')").await.unwrap();
    // SQLite's writers of one process take turns: only another opening is in the way.
    let other = Db::open(db.location(), Open::Existing).await.unwrap();
    let tries = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for (db, first, second) in [(db.clone(), 1, 2), (other, 2, 1)] {
        for _ in 0..4 {
            let (db, tries) = (db.clone(), Arc::clone(&tries));
            tasks.spawn(async move {
                db.write(move |tx| {
                    let tries = Arc::clone(&tries);
                    Box::pin(async move {
                        tries.fetch_add(1, Ordering::Relaxed);
                        for id in [first, second] {
                            let sql = "update t set v = cast(cast(v as decimal) + 1 as char(9))
                                        where id = ?";
                            tx.query(sql).bind(i64::from(id)).execute().await?;
                        }
                        Ok::<_, DbError>(())
                    })
                })
                .await
            });
        }
    }
    for done in tasks.join_all().await {
        done.unwrap();
    }
    let mut tx = db.read().await.unwrap();
    let rows = tx.query("select v from t order by id").fetch_all().await.unwrap();
    for row in rows {
        assert_eq!(row.text(0).unwrap().trim(), "8", "each of the eight counted once");
    }
    assert!(tries.load(Ordering::Relaxed) >= 8);
}

async fn an_error_takes_everything_back(place: Place) {
    let db = db(&place).await;
    let done: Result<(), DbError> = db
        .write(|tx| {
            Box::pin(async move {
                tx.query("insert into t (id, k) values (1, 'a')").execute().await?;
                tx.query("insert into t (id, k) values (2, 'a')").execute().await?;
                Ok(())
            })
        })
        .await;
    assert!(done.unwrap_err().is_taken());
    assert_eq!(count(&db).await, 0);
}

async fn a_snapshot_sees_one_moment(place: Place) {
    let db = db(&place).await;
    let mut then = db.snapshot().await.unwrap();
    let sql = "select count(*) from t";
    assert_eq!(then.query(sql).fetch_one().await.unwrap().int(0).unwrap(), 0);
    run(&db, "insert into t (id) values (1)").await.unwrap();
    assert_eq!(then.query(sql).fetch_one().await.unwrap().int(0).unwrap(), 0);
    assert!(then.query("insert into t (id) values (2)").execute().await.is_err());
    assert_eq!(count(&db).await, 1);
}

async fn a_forgotten_snapshot_leaves_a_clean_connection(place: Place) {
    let db = db(&place).await;
    for _ in 0..30 {
        let mut then = db.snapshot().await.unwrap();
        then.query("select count(*) from t").fetch_one().await.unwrap();
        drop(then);
        // One that nobody waits for, dropped while it begins.
        let _ = futures_util::poll!(std::pin::pin!(db.snapshot()));
    }
    run(&db, "insert into t (id) values (1)").await.unwrap();
    for _ in 0..30 {
        assert_eq!(count(&db).await, 1, "a connection still stands in an old moment");
    }
}

const TEXTS: [&str; 6] = ["", "a'b\"c", "\\ \\n \\' ''", "\t\r\n", "佐藤 👨‍👩‍👧 é", "?{}$1:x"];

async fn rows_in_bulk_keep_every_value(place: Place) {
    let db = db(&place).await;
    for clash in [Clash::Fail, Clash::Keep("id")] {
        run(&db, "delete from t").await.unwrap();
        let dialect = db.dialect();
        db.write(move |tx| {
            Box::pin(async move {
                let mut bulk = Bulk::new(dialect, "t", "id, v, b", clash);
                for (id, text) in (1..).zip(TEXTS) {
                    let bytes = [0, 39, 92, 255, u8::try_from(id).unwrap()];
                    bulk.push(&[Cell::Int(id), Cell::Text(text), Cell::Bytes(&bytes)]);
                }
                bulk.push(&[Cell::Int(i64::MIN), Cell::Null, Cell::Bytes(b"")]);
                bulk.write(tx).await
            })
        })
        .await
        .unwrap();
        let mut tx = db.read().await.unwrap();
        let rows = tx.query("select id, v, b from t order by id").fetch_all().await.unwrap();
        assert_eq!(rows[0].int(0).unwrap(), i64::MIN);
        assert_eq!((rows[0].text_or_null(1).unwrap(), rows[0].bytes(2).unwrap()), (None, vec![]));
        for (row, text) in rows[1..].iter().zip(TEXTS) {
            assert_eq!(row.text(1).unwrap(), text, "{clash:?}");
            assert_eq!(row.bytes(2).unwrap()[..4], [0, 39, 92, 255]);
        }
    }
}

async fn rows_in_bulk_keep_what_was_there_or_fail_whole(place: Place) {
    let db = db(&place).await;
    run(&db, "insert into t (id, k, v) values (1, 'a', 'old')").await.unwrap();
    let fill = |clash: Clash| {
        let dialect = db.dialect();
        db.write(move |tx| {
            Box::pin(async move {
                let mut bulk = Bulk::new(dialect, "t", "id, k, v", clash);
                bulk.push(&[Cell::Int(2), Cell::Text("b"), Cell::Text("new")]);
                bulk.push(&[Cell::Int(3), Cell::Text("a"), Cell::Text("new")]);
                bulk.write(tx).await
            })
        })
    };
    assert!(fill(Clash::Fail).await.unwrap_err().is_taken());
    assert_eq!(count(&db).await, 1);
    fill(Clash::Keep("k")).await.unwrap();
    let mut tx = db.read().await.unwrap();
    let rows = tx.query("select v from t order by k").fetch_all().await.unwrap();
    let values: Vec<String> = rows.iter().map(|row| row.text(0).unwrap()).collect();
    assert_eq!(values, ["old", "new"]);
}

async fn a_list_brings_every_value_into_sql(place: Place) {
    let db = db(&place).await;
    let dialect = db.dialect();
    let sql = format!(
        "select v.id, v.word, {} from {} v order by v.id",
        dialect.bytes_of("v.raw"),
        dialect.json_rows(&[Field::Int("id"), Field::Text("word"), Field::Bytes("raw")])
    );
    let mut list = List::new();
    for (id, text) in (1..).zip(TEXTS) {
        list.push(&[Cell::Int(id), Cell::Text(text), Cell::Bytes(&[0, 255])]);
    }
    list.push(&[Cell::Int(99), Cell::Null, Cell::Bytes(b"")]);
    let mut tx = db.read().await.unwrap();
    let rows = tx.query(sql).bind(list).fetch_all().await.unwrap();
    for (row, text) in rows.iter().zip(TEXTS) {
        assert_eq!(row.text(1).unwrap(), text);
        assert_eq!(row.bytes(2).unwrap(), [0, 255]);
    }
    assert_eq!(rows[6].text_or_null(1).unwrap(), None);
}

async fn a_value_that_does_not_fit_is_refused_and_never_cut(place: Place) {
    let db = db(&place).await;
    let done = run(&db, "insert into t (id, k) values (1, 'longer than nine')").await;
    match place.engine {
        Engine::MariaDb => assert!(done.unwrap_err().is_about_value()),
        Engine::Sqlite | Engine::Postgres => assert_eq!(done.unwrap(), 1),
    }
    let mut tx = db.read().await.unwrap();
    let cut = "select count(*) from t where k <> 'longer than nine'";
    assert_eq!(tx.query(cut).fetch_one().await.unwrap().int(0).unwrap(), 0);
}

async fn keys_differ_byte_by_byte(place: Place) {
    let db = db(&place).await;
    for (id, key) in (1..).zip(["a", "A", "a ", "á", "ａ"]) {
        let sql = format!("insert into t (id, k) values ({id}, '{key}')");
        run(&db, &sql).await.unwrap_or_else(|err| panic!("`{key}`: {err:?}"));
    }
    let mut tx = db.read().await.unwrap();
    let found = tx.query("select id from t where k = ?").bind("a").fetch_all().await.unwrap();
    assert_eq!(found.len(), 1);
}

async fn rows_stream_without_being_held(place: Place) {
    use futures_util::StreamExt as _;
    let db = db(&place).await;
    run(&db, "insert into t (id) values (1), (2), (3)").await.unwrap();
    let mut tx = db.read().await.unwrap();
    let ids: Vec<i64> = tx
        .query("select id from t where id > ? order by id")
        .bind(1)
        .stream()
        .map(|row| row.unwrap().int(0).unwrap())
        .collect()
        .await;
    assert_eq!(ids, [2, 3]);
}
