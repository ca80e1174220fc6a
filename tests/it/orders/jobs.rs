//! However often a job comes, in whatever shape: one order, one row, one mail.

use super::shop::{Shop, job};
use crate::support::api::Says;
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    the_same_order_queued_ten_times_is_one_mail,
    fifty_pairs_of_identical_jobs_and_four_workers_make_fifty_mails,
}

async fn the_same_order_queued_ten_times_is_one_mail(place: Place) {
    let shop = Shop::open(&place.url, "");
    for number in 0..10 {
        let job = job("9001");
        // A batch of its own for every other job: the scope is the kind, whatever the batch.
        let batch = format!(r#","batch":"order-extra-{number}"}}"#);
        let job = if number % 2 == 0 { job } else { job.replacen("}}", "}", 1) + &batch };
        shop.redis.add("orders", &job);
        if number == 4 {
            assert_eq!(shop.run("work --until-idle").code, Some(0));
        }
    }
    let worked = shop.run("work --until-idle");
    assert_eq!(worked.code, Some(0), "{worked}");
    assert_eq!((shop.sums().total, shop.sums().sent), (1, 1), "{worked}");
    assert_eq!((shop.nobody_twice(), shop.redis.pending("orders")), (1, 0));
    assert!(shop.json("rejects list")["rejects"].as_array().unwrap().is_empty());
}

async fn fifty_pairs_of_identical_jobs_and_four_workers_make_fifty_mails(place: Place) {
    let shop = Shop::open(&place.url, "");
    let workers: Vec<_> = (0..4).map(|_| shop.hire()).collect();
    shop.until("four workers are there", || {
        shop.json("workers")["workers"].as_array().unwrap().len() == 4
    });
    let mut pairs = redis::pipe();
    for number in 0..50 {
        for _ in 0..2 {
            let job = job(&number.to_string());
            pairs.cmd("XADD").arg("orders").arg("*").arg("job").arg(job).ignore();
        }
    }
    let mut connection = redis::Client::open(shop.redis.url()).unwrap().get_connection().unwrap();
    pairs.query::<()>(&mut connection).unwrap();
    shop.until("all are sent", || shop.sums().sent == 50);
    shop.until("all are acknowledged", || shop.redis.pending("orders") == 0);
    workers.into_iter().for_each(super::shop::Hired::drain);
    assert_eq!(shop.nobody_twice(), 50);
    let sums = shop.sums();
    assert_eq!((sums.total, sums.sent), (50, 50));
}

#[test]
fn a_plain_list_and_every_shape_of_a_job_will_do() {
    let lookup = r#"lookup = { database = "sqlite:shop.db", sql = "select id as key, email as address, name from orders where id in (:ids)", ids = "integer" }"#;
    let shop = Shop::with("sqlite:ittsu.db", "list=jobs", lookup, |_| Says::yes());
    super::lookup::sqlite_shop(&shop.shell.path("shop.db"), 4);
    for job in ["1", "\"2\"", r#"{"id":3}"#, r#"{"id":"4","fields":{"name":"Own"}}"#, "1"] {
        shop.redis.tell::<i64>(redis::cmd("LPUSH").arg("jobs").arg(job));
    }
    let worked = shop.run("work --until-idle");
    assert_eq!(worked.code, Some(0), "{worked}");
    assert_eq!((shop.sums().sent, shop.nobody_twice()), (4, 4));
    let texts: Vec<String> = shop.api.taken().iter().map(|call| call.field("text")).collect();
    assert!(texts.contains(&"Dear name 3.\n".to_owned()), "{texts:?}");
    assert!(texts.contains(&"Dear Own.\n".to_owned()), "{texts:?}");
    for list in ["jobs", "jobs:processing"] {
        assert_eq!(shop.redis.tell::<i64>(redis::cmd("LLEN").arg(list)), 0);
    }
}

#[test]
fn the_fields_of_a_stream_entry_are_a_job_too() {
    let shop = Shop::open("sqlite:ittsu.db", "");
    let entry =
        ["orders", "*", "id", "7", "address", "c7@shop.example", "fields", r#"{"name":"X"}"#];
    shop.redis.tell::<String>(redis::cmd("XADD").arg(&entry));
    assert_eq!(shop.run("work --until-idle").code, Some(0));
    assert_eq!(shop.api.taken()[0].field("text"), "Dear X.\n");
}

#[test]
fn the_batch_of_the_day_opens_by_itself_and_counts_like_any_batch() {
    let shop = Shop::open("sqlite:ittsu.db", "");
    shop.order("1");
    assert_eq!(shop.run("work --until-idle").code, Some(0));
    let batch = shop.json("status")["batches"][0].clone();
    let name = batch["batch"].as_str().unwrap();
    assert!(name.starts_with("order-20") && name.len() == "order-2026-11-30".len(), "{name}");
    // The day is not over: more may come.
    assert_eq!((&batch["state"], &batch["sent"]), (&"running".into(), &1.into()));
    let journal = shop.json("journal")["entries"].to_string();
    assert!(journal.contains("\"open\"") && journal.contains("\"ittsu\""), "{journal}");
}

#[test]
fn a_paused_batch_takes_orders_in_and_sends_none() {
    let shop = Shop::open("sqlite:ittsu.db", "");
    assert_eq!(shop.run("pause --kind order --reason stop").code, Some(0));
    shop.order("1");
    shop.does("work --until-idle");
    assert_eq!((shop.sums().ready, shop.api.calls().len()), (1, 0));
    assert_eq!(shop.run("resume --kind order").code, Some(0));
    shop.does("work --until-idle");
    assert_eq!(shop.sums().sent, 1);
}
