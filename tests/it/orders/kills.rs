//! Workers that die between taking a job and acknowledging it.

use super::shop::{Shop, job};
use crate::support::api::Says;
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    f48_f49_a_stream_brings_a_job_again_whose_worker_died_with_it,
    f49_a_stream_brings_a_job_again_whose_row_is_there_already,
    f49_a_list_keeps_a_job_whose_worker_died_with_it,
    f49_a_list_keeps_a_job_whose_row_is_there_already,
}

/// A hundred on each engine, over the four tests.
const KILLS: usize = 25;

/// Kills a worker at `place` again and again while orders come in; nothing is lost or doubled.
fn none_is_lost(ledger: &Place, queue: &str, place: &str) {
    let kills = KILLS;
    let shop = Shop::with(&ledger.url, queue, "", |_| Says::yes());
    for number in 0..kills {
        for half in ["a", "b"] {
            let job = job(&format!("{number}{half}"));
            if queue.starts_with("list") {
                shop.redis.tell::<i64>(redis::cmd("LPUSH").arg("orders").arg(job));
            } else {
                shop.redis.add("orders", &job);
            }
        }
        let mut worker = shop.hire_doomed(&format!("{place}:1"));
        assert!(worker.died(), "it did not come to {place}");
    }
    let worker = shop.hire();
    let wanted = i64::try_from(kills * 2).unwrap();
    // The dying send as well: what one of them had on the wire is held for a person.
    shop.until("every order is sent or held", || {
        let sums = shop.sums();
        sums.sent + sums.unknown == wanted
    });
    shop.until("every job is done", || shop.is_done(queue));
    worker.drain();
    let sums = shop.sums();
    assert_eq!((sums.total, sums.sent + sums.unknown, sums.failed), (wanted, wanted, 0));
    let mailed = i64::try_from(shop.nobody_twice()).unwrap();
    assert!((sums.sent..=wanted).contains(&mailed), "{mailed} mailed, {sums:?}");
}

async fn f48_f49_a_stream_brings_a_job_again_whose_worker_died_with_it(place: Place) {
    none_is_lost(&place, "stream=orders&group=ittsu&idle=200ms", "jobs.taken");
}

async fn f49_a_stream_brings_a_job_again_whose_row_is_there_already(place: Place) {
    none_is_lost(&place, "stream=orders&group=ittsu&idle=200ms", "jobs.kept");
}

async fn f49_a_list_keeps_a_job_whose_worker_died_with_it(place: Place) {
    none_is_lost(&place, "list=orders&idle=200ms", "jobs.taken");
}

async fn f49_a_list_keeps_a_job_whose_row_is_there_already(place: Place) {
    none_is_lost(&place, "list=orders&idle=200ms", "jobs.kept");
}
