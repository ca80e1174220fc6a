//! People out of a shop's own database, and rows that another batch hands over.

use std::path::Path;

use futures_util::StreamExt as _;
use ittsu::db::{Db, DbError, Location, Open};
use ittsu::intake::{Options, Query, Row, Rows, Source, open};

use super::{Found, read};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    a_query_finds_people_with_every_column_as_text,
    a_query_takes_its_parameters_as_values,
    a_query_that_would_write_fails_and_changes_nothing,
    a_query_that_finds_nobody_is_no_error,
    many_rows_are_streamed,
}

/// Makes the shop's table with `count` members.
async fn shop(place: &Place, count: u32) -> Location {
    let location = Location::parse(&place.url, Path::new("/")).unwrap();
    let db = Db::open(&location, Open::Create).await.unwrap();
    db.write::<_, DbError, _>(move |tx| {
        Box::pin(async move {
            tx.query(
                "create table member (member_no bigint primary key, email varchar(100), \
                 name varchar(100), grade bigint, points numeric(10, 2), joined date)",
            )
            .execute()
            .await?;
            for number in 1..=count {
                tx.query("insert into member values (?, ?, ?, ?, 12.50, '2026-11-30')")
                    .bind(i64::from(number))
                    .bind(format!("user{number}@example.jp"))
                    .bind((number != 2).then(|| format!("会員 '{number}'")))
                    .bind(i64::from(number % 4))
                    .execute()
                    .await?;
            }
            Ok(())
        })
    })
    .await
    .unwrap();
    db.close().await;
    location
}

fn query(database: Location, sql: &str, params: &[(&str, &str)]) -> Source {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Source::Query(Query {
        name: "query:members".to_owned(),
        database,
        sql: sql.to_owned(),
        params: params.iter().map(own).collect(),
    })
}

async fn found(source: Source) -> Found {
    read(source, &Options::default()).await.unwrap()
}

async fn a_query_finds_people_with_every_column_as_text(place: Place) {
    let database = shop(&place, 2).await;
    let sql = "select member_no as key, email as address, name, grade, points, joined from member \
               order by member_no";
    // `key` is a reserved word on MariaDB, where it stands in backquotes.
    let sql = if place.url.starts_with("mysql") {
        sql.replace("as key", "as `key`")
    } else {
        sql.to_owned()
    };
    let found = found(query(database, &sql, &[])).await;
    assert_eq!(found.head.mapping.key.as_deref(), Some("key"));
    assert_eq!(found.told(), ["1 1 <user1@example.jp> 会員 '1'", "2 2 <user2@example.jp> -"]);
    let fields: serde_json::Value = serde_json::from_str(&found.people()[0].fields).unwrap();
    assert_eq!((&fields["name"], &fields["grade"]), (&"会員 '1'".into(), &"1".into()));
    assert!(fields["points"].as_str().unwrap().starts_with("12.5"), "{fields}");
    assert_eq!(fields["joined"], "2026-11-30");
    let fields: serde_json::Value = serde_json::from_str(&found.people()[1].fields).unwrap();
    assert!(fields["name"].is_null(), "absent is not empty: {fields}");
}

async fn a_query_takes_its_parameters_as_values(place: Place) {
    let database = shop(&place, 8).await;
    let sql = "select member_no, email from member where grade >= :grade order by member_no";
    let keys =
        |found: &Found| found.people().iter().map(|line| line.key.clone()).collect::<Vec<_>>();
    assert_eq!(
        keys(&found(query(database.clone(), sql, &[("grade", "2")])).await),
        ["2", "3", "6", "7"]
    );
    let evil = query(
        database.clone(),
        "select email from member where name = :name",
        &[("name", "' or 1=1 --")],
    );
    assert_eq!(found(evil).await.entries, []);
    let err = read(query(database, sql, &[]), &Options::default()).await.unwrap_err();
    assert_eq!(err.to_string(), "query:members failed");
    let why = std::error::Error::source(&err).unwrap().to_string();
    assert!(why.contains("`:grade` has no value"), "{why}");
}

async fn a_query_that_would_write_fails_and_changes_nothing(place: Place) {
    let database = shop(&place, 3).await;
    let err = read(query(database.clone(), "delete from member", &[]), &Options::default()).await;
    assert!(err.is_err(), "{err:?}");
    let left = found(query(database, "select member_no, email from member", &[])).await;
    assert_eq!(left.people().len(), 3);
}

async fn a_query_that_finds_nobody_is_no_error(place: Place) {
    let database = shop(&place, 1).await;
    let found = found(query(database, "select email from member where grade = 99", &[])).await;
    assert_eq!(found.entries, []);
}

async fn many_rows_are_streamed(place: Place) {
    let database = shop(&place, 2_500).await;
    let sql = "select member_no, email from member order by member_no";
    let mut reader = open(query(database, sql, &[]), &Options::default()).await.unwrap();
    let mut sizes = Vec::new();
    loop {
        let entries = reader.next().await.unwrap();
        if entries.is_empty() {
            break;
        }
        sizes.push(entries.len());
    }
    assert_eq!(sizes, [1_000, 1_000, 500]);
}

#[tokio::test]
async fn rows_of_another_batch_keep_key_and_fields() {
    let row = |key: &str, address: &str| Row {
        key: key.to_owned(),
        address: address.to_owned(),
        fields: r#"{"氏名":"髙橋"}"#.to_owned(),
    };
    let rows = [Ok(row("7", "a@example.jp")), Ok(row("8", "nobody"))];
    let rows = Rows {
        name: "batch:notice-12?state=failed".to_owned(),
        rows: futures_util::stream::iter(rows).boxed(),
    };
    let found = found(Source::Rows(rows)).await;
    assert_eq!(
        found.told(),
        ["1 7 <a@example.jp> -", "2 address: no @ in the address (\"nobody\")"]
    );
    assert_eq!(found.people()[0].fields, r#"{"氏名":"髙橋"}"#);
}

#[tokio::test]
async fn rows_that_break_off_end_with_their_reason() {
    let rows = [Err("the ledger is away".into())];
    let rows = Rows { name: "batch:x".to_owned(), rows: futures_util::stream::iter(rows).boxed() };
    let err = read(Source::Rows(rows), &Options::default()).await.unwrap_err();
    assert_eq!(std::error::Error::source(&err).unwrap().to_string(), "the ledger is away");
}
