//! A second job for an order that failed: left to a person, or tried again where the kind says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::shop::{STREAM, Shop, job};
use crate::support::api::Says;
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    a_new_job_for_an_order_that_failed_sends_it_where_the_kind_says_so,
}

/// A shop whose API refuses order 1 at its old address, for good.
fn shop(ledger: &str, kind: &str) -> Shop {
    Shop::with(ledger, STREAM, kind, |call| match call.field("to").as_str() {
        "c1@shop.example" => {
            Says::answer("422 Unprocessable Content", r#"{"message":"c1@shop.example is unknown"}"#)
        }
        _ => Says::yes(),
    })
}

async fn a_new_job_for_an_order_that_failed_sends_it_where_the_kind_says_so(place: Place) {
    let shop = shop(&place.url, "again = \"retry\"");
    for key in ["1", "2"] {
        shop.order(key);
    }
    shop.does("work --until-idle");
    let sums = shop.sums();
    assert_eq!((sums.sent, sums.failed), (1, 1), "{sums:?}");
    // The customer has corrected the address, and the shop queues both orders again.
    shop.redis.add("orders", &job("1").replace("c1@", "new1@"));
    shop.order("2");
    let worked = shop.run("work --until-idle");
    assert_eq!(worked.code, Some(0), "{worked}");
    let sums = shop.sums();
    assert_eq!((sums.total, sums.sent, sums.failed), (2, 2, 0), "{sums:?}");
    assert_eq!(shop.nobody_twice(), 2);
    let batch = shop.json("status")["batches"][0].clone();
    let row = shop.json(&format!("rows {} --key 1", batch["batch"].as_str().unwrap()));
    let row = row["rows"][0].clone();
    assert_eq!((&row["address"], &row["attempt"]), (&json!("new1@shop.example"), &json!(2)));
    let journal = shop.json("journal")["entries"].to_string();
    assert!(journal.contains("\"again\"") && journal.contains("a new job came"), "{journal}");
    // The sums that `doctor` counts row by row are those of the counters.
    let checked = shop.run("doctor");
    assert!(!checked.stdout.contains("counter"), "{checked}");
}

#[test]
fn without_a_word_in_the_kind_an_order_that_failed_waits_for_a_person() {
    let shop = shop("sqlite:ittsu.db", "");
    for _ in 0..2 {
        shop.order("1");
        shop.does("work --until-idle");
    }
    assert_eq!((shop.sums().failed, shop.api.calls().len()), (1, 1));
    assert_eq!(shop.redis.pending("orders"), 0);
}

#[test]
fn an_order_that_may_have_arrived_or_that_a_person_settled_is_not_tried_again() {
    let closes = Arc::new(AtomicBool::new(true));
    let is_closing = Arc::clone(&closes);
    let kind = "again = \"retry\"\non_unknown = \"hold\"";
    let shop = Shop::with("sqlite:ittsu.db", STREAM, kind, move |_| {
        if is_closing.load(Ordering::Acquire) { Says::takes_and_closes() } else { Says::yes() }
    });
    shop.order("1");
    shop.does("work --until-idle");
    closes.store(false, Ordering::Release);
    assert_eq!(shop.sums().unknown, 1);
    let batch = shop.json("status")["batches"][0]["batch"].as_str().unwrap().to_owned();
    // While nobody knows, and after a person has called it failed.
    for _ in 0..2 {
        shop.order("1");
        shop.does("work --until-idle");
        assert_eq!(shop.api.calls().len(), 1);
        shop.does(&format!("mark failed {batch} --key 1 --reason seen --confirm 1"));
    }
    assert_eq!(shop.sums().failed, 1);
}
