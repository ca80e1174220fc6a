//! Jobs that cannot become a row: they block nobody, and a person settles them.

use super::shop::{Shop, job};

const LOOKUP: &str = r#"lookup = { database = "sqlite:shop.db", sql = "select id as key, email as address, name from orders where id in (:ids)", ids = "integer" }"#;

#[test]
fn f50_jobs_that_cannot_be_read_go_to_the_rejects_and_the_ones_behind_go_on() {
    let shop = Shop::open("sqlite:ittsu.db", "");
    let huge = format!(r#"{{"id":"{}"}}"#, "9".repeat(300_000));
    let bad =
        ["", "{", r#"{"adress":"x"}"#, r#"{"id":1}"#, r#"{"id":2,"address":"nobody"}"#, &huge];
    for job in bad {
        shop.redis.add("orders", job);
    }
    shop.order("1000");
    let worked = shop.run("work --until-idle");
    assert_eq!(worked.code, Some(0), "{worked}");
    assert!(worked.stderr.contains("could not become a row: 6"), "{worked}");
    assert_eq!((shop.sums().sent, shop.redis.pending("orders")), (1, 0));
    let rejects = shop.json("rejects list")["rejects"].clone();
    assert_eq!(rejects.as_array().unwrap().len(), bad.len(), "{rejects:#}");
    let checked = shop.run("status --check");
    assert_eq!(checked.code, Some(8), "{checked}");
    assert!(checked.stdout.contains("ittsu rejects list"), "{checked}");
}

#[test]
fn the_same_bad_job_again_is_one_entry_that_counts() {
    let shop = Shop::open("sqlite:ittsu.db", "");
    for _ in 0..2 {
        shop.redis.add("orders", "{");
        shop.does("work --until-idle");
    }
    let rejects = shop.json("rejects list")["rejects"].clone();
    assert_eq!((rejects.as_array().unwrap().len(), &rejects[0]["times"]), (1, &2.into()));
}

#[test]
fn a_rejected_job_is_shown_tried_again_and_dropped() {
    let shop = Shop::open("sqlite:ittsu.db", LOOKUP);
    super::lookup::sqlite_shop(&shop.shell.path("shop.db"), 2);
    for job in ["1", "7", "8"] {
        shop.redis.add("orders", job);
    }
    assert_eq!(shop.run("work --until-idle").code, Some(0));
    let rejects = shop.json("rejects list")["rejects"].clone();
    let id = |key: &str| {
        let all = rejects.as_array().unwrap();
        all.iter().find(|reject| reject["key"] == key).unwrap()["id"].to_string()
    };
    let shown = shop.run(&format!("rejects show {}", id("7")));
    assert_eq!(shown.stdout, "the lookup does not find this id\n7\n");
    // Order 7 reaches the shop's database after all.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let url = format!("sqlite:{}", shop.shell.path("shop.db").display());
    let insert = "insert into orders values (7, 'c7@shop.example', 'Seven')";
    runtime.block_on(super::lookup::tell(&url, &[insert]));
    let tried = shop.run("rejects retry --all");
    assert_eq!(tried.code, Some(0), "{tried}");
    let left = shop.json("rejects list")["rejects"].clone();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left:#}");
    assert_eq!(left[0]["key"], "8");
    let dropped = shop.run(&format!("rejects drop {} --reason test", id("8")));
    assert_eq!(dropped.code, Some(0), "{dropped}");
    assert!(shop.json("rejects list")["rejects"].as_array().unwrap().is_empty());
    assert_eq!(shop.run("rejects drop 99").code, Some(4));
    let journal = shop.json("journal").to_string();
    assert!(journal.contains("retry_rejects") && journal.contains("drop_rejects"), "{journal}");
    shop.does("work --until-idle");
    assert_eq!((shop.sums().sent, shop.nobody_twice()), (2, 2));
}

#[test]
fn a_job_for_a_cancelled_batch_is_rejected_with_the_reason() {
    let shop = Shop::open("sqlite:ittsu.db", "");
    let into = |key: &str| job(key).replacen("}}", "}", 1) + r#","batch":"order-extra"}"#;
    shop.redis.add("orders", &into("1"));
    shop.does("work --until-idle");
    shop.does("cancel order-extra --confirm 0 --reason test");
    shop.redis.add("orders", &into("2"));
    shop.does("work --until-idle");
    let rejects = shop.json("rejects list")["rejects"].to_string();
    assert!(rejects.contains("`order-extra` is cancelled"), "{rejects}");
}
