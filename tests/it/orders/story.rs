//! The order story of the design's first page: PostgreSQL, Redis, four workers, and an API that
//! accepts a mail and drops the connection, while workers are killed at random moments.

use super::lookup::tell;
use super::shop::{STREAM, Shop, Sums};
use crate::support::api::Says;
use crate::support::engines::{Engine, Place, run};

const ORDERS: i64 = 400;

/// Tells the story under a policy; returns the shop and its counts at the end.
async fn story(ledger: &Place, policy: &str) -> (Shop, Sums) {
    let database = Place::on(Engine::Postgres).await;
    tell(
        &database.url,
        &[
            "create table orders (id bigint primary key, email text not null, name text)",
            "insert into orders select n, 'c' || n || '@shop.example', 'name ' || n
               from generate_series(1, 400) n",
        ],
    )
    .await;
    let kind = format!(
        r#"on_unknown = {{ no_answer = "{policy}", crash = "{policy}", server_error = "hold" }}
lookup = {{ database = "{}", sql = "select id as key, email as address, name from orders where id in (:ids)", ids = "integer" }}"#,
        database.url
    );
    // Every twentieth mail is accepted, and then the connection drops.
    let shop = Shop::with(&ledger.url, STREAM, &kind, |call| match call.number % 20 {
        13 => Says::takes_and_closes(),
        _ => Says::yes(),
    });
    let mut workers: Vec<_> = (0..4).map(|_| shop.hire()).collect();
    let mut chance = fastrand::Rng::with_seed(4);
    for id in 1..=ORDERS {
        // Every job comes twice, as it does when a shop is not sure.
        shop.redis.add("orders", &id.to_string());
        shop.redis.add("orders", &id.to_string());
        if id % 50 == 0 {
            let victim = chance.usize(..workers.len());
            workers[victim].kill();
            workers[victim] = shop.hire();
        }
    }
    shop.until("every order is settled or held", || {
        // Batches that paused themselves because of unanswered calls are looked at and resumed.
        shop.does("resume --all");
        let sums = shop.sums();
        sums.total == ORDERS && sums.sent + sums.failed + sums.unknown == ORDERS
    });
    shop.until("every job is acknowledged", || shop.redis.pending("orders") == 0);
    workers.into_iter().for_each(super::shop::Hired::drain);
    let sums = shop.sums();
    (shop, sums)
}

#[test]
fn with_assume_sent_no_order_is_mailed_twice_and_none_is_lost_without_a_trace() {
    run(Engine::Postgres, |ledger| async move {
        let (shop, sums) = story(&ledger, "assume_sent").await;
        let mailed = i64::try_from(shop.nobody_twice()).unwrap();
        assert_eq!((sums.sent, sums.failed, sums.unknown), (ORDERS, 0, 0), "{sums:?}");
        assert!(sums.assumed >= 1, "{sums:?}");
        // What did not go out is among those that were only assumed.
        assert!(ORDERS - mailed <= sums.assumed, "{mailed} mailed, {sums:?}");
        // The second run says zero.
        let again = shop.run("work --until-idle");
        assert_eq!(again.code, Some(0), "{again}");
        assert_eq!(i64::try_from(shop.nobody_twice()).unwrap(), mailed);
    });
}

#[test]
fn with_hold_every_doubtful_order_waits_for_a_person_with_what_is_known() {
    run(Engine::Postgres, |ledger| async move {
        let (shop, sums) = story(&ledger, "hold").await;
        let mailed = i64::try_from(shop.nobody_twice()).unwrap();
        assert_eq!((sums.sent + sums.unknown, sums.assumed), (ORDERS, 0), "{sums:?}");
        assert!(mailed >= sums.sent && sums.unknown >= 1, "{mailed} mailed, {sums:?}");
        let unknown = shop.json("unknown");
        let rows = unknown["rows"].as_array().unwrap();
        assert_eq!(i64::try_from(rows.len()).unwrap(), sums.unknown);
        for row in rows {
            let evidence = row["evidence"].as_array().unwrap();
            assert!(!evidence.is_empty(), "{row:#}");
        }
    });
}
