//! Address and fields by id from the shop's own database, on each engine.

use std::path::Path;

use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection, PgConnection, SqliteConnection};

use super::shop::Shop;
use crate::support::engines::{Engine, Place, on_every_engine};

on_every_engine! {
    orders_are_looked_up_in_the_shops_database,
}

/// Runs statements in a shop's database.
pub(super) async fn tell(url: &str, statements: &[&str]) {
    for sql in statements {
        let sql = AssertSqlSafe((*sql).to_owned());
        if url.starts_with("postgres") {
            let mut shop = PgConnection::connect(url).await.unwrap();
            shop.execute(sql).await.unwrap();
        } else if url.starts_with("mysql") {
            let mut shop = MySqlConnection::connect(url).await.unwrap();
            shop.execute(sql).await.unwrap();
        } else {
            let mut shop = SqliteConnection::connect(&format!("{url}?mode=rwc")).await.unwrap();
            shop.execute(sql).await.unwrap();
        }
    }
}

/// Makes an SQLite shop with this many orders.
pub(super) fn sqlite_shop(path: &Path, orders: i64) {
    let url = format!("sqlite:{}", path.display());
    let rows: Vec<String> =
        (1..=orders).map(|id| format!("({id}, 'c{id}@shop.example', 'name {id}')")).collect();
    let insert = format!("insert into orders values {}", rows.join(", "));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(tell(
        &url,
        &["create table orders (id integer primary key, email text, name text)", &insert],
    ));
}

async fn orders_are_looked_up_in_the_shops_database(place: Place) {
    let database = Place::on(place.engine).await;
    tell(
        &database.url,
        &[
            "create table orders (id bigint, email varchar(100), name varchar(100))",
            "insert into orders values (1, 'c1@shop.example', 'One'), (2, null, 'Two'),
             (3, 'c3@shop.example', 'Three'), (3, 'other@shop.example', 'Three'),
             (4, 'c4@shop.example', null), (5, 'c5@shop.example', 'Five'),
             (5, 'c5@shop.example', 'Five'), (6, 'no address', 'Six')",
        ],
    )
    .await;
    let url = &database.url;
    let lookup = format!(
        r#"lookup = {{ database = "{url}", sql = "select id, email, name from orders where id in (:ids)", ids = "integer" }}"#
    );
    let shop = Shop::open(&place.url, &lookup);
    for key in ["1", "2", "3", "4", "5", "6", "7", "x'); drop table orders; --"] {
        shop.redis.add("orders", key);
    }
    let worked = shop.run("work --until-idle");
    assert_eq!(worked.code, Some(0), "{worked}");
    let mut keys: Vec<String> = shop.times().into_keys().collect();
    keys.sort();
    assert_eq!(keys, ["1", "4", "5"], "{worked}");
    let rejects = shop.json("rejects list")["rejects"].clone();
    let why = |key: &str| {
        let all = rejects.as_array().unwrap();
        let found = all.iter().find(|reject| reject["key"] == key);
        found.unwrap_or_else(|| panic!("{rejects:#}"))["why"].as_str().unwrap().to_owned()
    };
    assert!(why("2").contains("without an address"));
    assert!(why("3").contains("2 rows that differ"));
    assert!(why("6").starts_with("the address: "));
    assert!(why("7").contains("does not find"));
    assert!(why("x'); drop table orders; --").contains("no whole number"));
    assert_eq!(shop.redis.pending("orders"), 0);
    assert!(matches!(place.engine, Engine::Sqlite | Engine::Postgres | Engine::MariaDb));
}

#[test]
fn a_shop_database_that_is_away_is_waited_for_and_no_job_is_lost() {
    let lookup = r#"lookup = { database = "sqlite:shop.db", sql = "select id as key, email as address, name from orders where id in (:ids)", ids = "integer" }"#;
    let shop = Shop::open("sqlite:ittsu.db", lookup);
    shop.redis.add("orders", "1");
    let away = shop.run("work --until-idle");
    assert!(away.stderr.contains("Jobs of order cannot be taken in"), "{away}");
    assert!(away.stderr.contains("shop.db"), "{away}");
    assert_eq!((shop.sums().total, shop.redis.pending("orders")), (0, 1));
    sqlite_shop(&shop.shell.path("shop.db"), 1);
    shop.until("the job was taken over and sent", || {
        shop.does("work --until-idle");
        shop.sums().sent == 1
    });
    assert_eq!((shop.redis.pending("orders"), shop.nobody_twice()), (0, 1));
}
