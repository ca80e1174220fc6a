//! Workers that die between taking a job and acknowledging it.

use super::shop::{Shop, job};
use crate::support::api::Says;

/// Kills a worker at `place` again and again while orders come in; nothing is lost or doubled.
fn none_is_lost(queue: &str, place: &str, kills: usize) {
    let shop = Shop::with("sqlite:ittsu.db", queue, "", |_| Says::yes());
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
    shop.until("every order is sent", || shop.sums().sent == wanted);
    worker.drain();
    assert_eq!(shop.nobody_twice(), kills * 2);
    assert_eq!(shop.sums().total, wanted);
}

#[test]
fn f48_f49_a_stream_brings_a_job_again_whose_worker_died_with_it() {
    none_is_lost("stream=orders&group=ittsu&idle=200ms", "jobs.taken", 25);
}

#[test]
fn f49_a_stream_brings_a_job_again_whose_row_is_there_already() {
    none_is_lost("stream=orders&group=ittsu&idle=200ms", "jobs.kept", 25);
}

#[test]
fn f49_a_list_keeps_a_job_whose_worker_died_with_it() {
    none_is_lost("list=orders&idle=200ms", "jobs.taken", 25);
}

#[test]
fn f49_a_list_keeps_a_job_whose_row_is_there_already() {
    none_is_lost("list=orders&idle=200ms", "jobs.kept", 25);
}
