//! Redis away, restarted, emptied: taking in waits and says so, sending goes on.

use super::shop::Shop;

#[test]
fn f47_a_redis_that_is_away_at_the_start_is_said_and_the_rest_is_sent() {
    let mut shop = Shop::open("sqlite:ittsu.db", "");
    shop.order("1");
    shop.does("pause --kind order --reason wait");
    shop.does("work --until-idle");
    shop.does("resume --kind order");
    shop.redis.kill();
    let worked = shop.run("work --until-idle");
    assert!(worked.stderr.contains("Jobs of order cannot be taken in"), "{worked}");
    assert!(worked.stderr.contains("sending goes on"), "{worked}");
    assert_eq!(shop.sums().sent, 1, "{worked}");
}

#[test]
fn f47_a_redis_that_comes_back_empty_loses_no_order_that_was_acknowledged() {
    let mut shop = Shop::open("sqlite:ittsu.db", "");
    let mut worker = shop.hire();
    for number in 0..40 {
        shop.order(&number.to_string());
    }
    shop.until("all are acknowledged", || {
        shop.sums().total == 40 && shop.redis.pending("orders") == 0
    });
    shop.redis.restart();
    shop.until("the sending went on", || shop.sums().sent == 40);
    // The stream and its group are gone; they are made again, and new orders are taken in.
    for number in 40..50 {
        shop.order(&number.to_string());
    }
    shop.until("the new ones are sent", || shop.sums().sent == 50);
    assert!(worker.is_alive());
    worker.drain();
    assert_eq!(shop.nobody_twice(), 50);
}
