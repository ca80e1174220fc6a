//! Foreign databases that people are read from.

use futures_util::StreamExt as _;
use ittsu::db::{DbError, Location, Source, SourceRow};

use crate::support::engines::{Engine, Place, on_every_engine};

on_every_engine! {
    every_column_arrives_as_text_or_null,
    a_parameter_is_a_number_or_a_text_as_the_column_wants,
    nothing_can_be_written,
    a_failing_query_says_what_the_server_said,
}

/// Makes the shop's `member` table, through the waist; a source only reads.
async fn shop(place: &Place) -> Location {
    let location = Location::parse(&place.url, std::path::Path::new("/")).unwrap();
    let db = super::db(place).await;
    let sql = match place.engine {
        Engine::Sqlite => {
            "create table member (no integer, email text, born text, pay real, code text)"
        }
        Engine::Postgres => {
            "create table member (no bigint, email text, born date, pay numeric(10, 2), code text)"
        }
        Engine::MariaDb => {
            "create table member (no bigint, email varchar(99), born date, pay decimal(10, 2),
                                  code varchar(9)) character set utf8mb4"
        }
    };
    super::run(&db, sql).await.unwrap();
    let sql = "insert into member values (7, '佐藤@example.jp', '1990-01-02', 12.5, '007'),
                                         (8, null, null, null, '8')";
    super::run(&db, sql).await.unwrap();
    db.close().await;
    location
}

async fn read(
    location: &Location,
    sql: &str,
    parameters: &[(String, String)],
) -> Result<Vec<SourceRow>, DbError> {
    let mut source = Source::open(location).await?;
    let rows: Vec<_> = source.query(sql, parameters)?.collect().await;
    rows.into_iter().collect()
}

async fn every_column_arrives_as_text_or_null(place: Place) {
    let shop = shop(&place).await;
    let sql = "select no as \"key\", email, born, pay, 1 + 1 as two from member order by no";
    let sql = if place.engine == Engine::MariaDb { sql.replace('"', "`") } else { sql.to_owned() };
    let rows = read(&shop, &sql, &[]).await.unwrap();
    assert_eq!(*rows[0].columns, ["key", "email", "born", "pay", "two"].map(str::to_owned));
    let first: Vec<&str> = rows[0].values.iter().map(|value| value.as_deref().unwrap()).collect();
    assert_eq!(first[..3], ["7", "佐藤@example.jp", "1990-01-02"]);
    assert!(["12.5", "12.50"].contains(&first[3]), "{}", first[3]);
    assert_eq!(first[4], "2");
    assert_eq!(rows[1].values[1..4], [None, None, None]);
}

async fn a_parameter_is_a_number_or_a_text_as_the_column_wants(place: Place) {
    let shop = shop(&place).await;
    let one = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let by_number = "select no from member where no >= :grade";
    assert_eq!(read(&shop, by_number, &one("grade", "8")).await.unwrap().len(), 1);
    let by_text = "select no from member where code = :code";
    assert_eq!(read(&shop, by_text, &one("code", "007")).await.unwrap().len(), 1);
    assert_eq!(read(&shop, by_text, &one("code", "8")).await.unwrap().len(), 1);
    let evil = one("code", "x' or 'a' = 'a");
    assert_eq!(read(&shop, by_text, &evil).await.unwrap(), []);
    let missing = read(&shop, by_text, &[]).await.unwrap_err();
    assert!(missing.to_string().contains(":code"), "{missing}");
}

async fn nothing_can_be_written(place: Place) {
    let shop = shop(&place).await;
    for sql in ["delete from member", "insert into member (no) values (9)", "drop table member"] {
        assert!(read(&shop, sql, &[]).await.is_err(), "{sql}");
    }
    assert_eq!(read(&shop, "select no from member", &[]).await.unwrap().len(), 2);
}

async fn a_failing_query_says_what_the_server_said(place: Place) {
    let shop = shop(&place).await;
    let err = read(&shop, "select nothing from member", &[]).await.unwrap_err();
    let said = std::error::Error::source(&err).map(ToString::to_string).unwrap_or_default();
    assert!(said.contains("nothing"), "{err}: {said}");
}
