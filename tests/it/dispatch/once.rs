//! Every mail goes out once, whoever is at work.

use ittsu::cli::demo::mailserver::Behaviour;
use ittsu::dispatch::progress::Why;

use super::office::{Office, people};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! { a_batch_goes_out_once_and_the_worker_ends }

async fn a_batch_goes_out_once_and_the_worker_ends(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.running("notice-1", &people(300), Office::frozen()).await;

    let finished = office.work().await;

    assert_eq!((finished.why, finished.counts.sent, finished.in_doubt), (Why::Idle, 300, 0));
    assert_eq!(office.counts(batch).await.sent, 300);
    office.check(batch).await;
}
