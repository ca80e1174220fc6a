//! The recorder task in front of a ledger that answers as a script says.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::db::DbError;
use crate::domain::id::{Attempt, BatchId, RecipientId};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::settle::Settled;
use crate::domain::state::How;
use crate::ledger::LedgerError;
use crate::ledger::recorder::{Finish, FinishAnswer, Start, StartAnswer};

use super::super::outcome_file::Orphan;
use super::*;

/// What the scripted ledger does with one group.
#[derive(Debug)]
enum Does {
    Writes,
    IsAway,
    Fences,
    Refuses(usize),
}

#[derive(Clone, Debug, Default)]
struct Script {
    left: Arc<Mutex<VecDeque<Does>>>,
    written: Arc<Mutex<Vec<Vec<Step>>>>,
}

impl Writer for Script {
    async fn write(&mut self, group: &[Step], _: Timestamp) -> Result<Vec<Written>, RecordError> {
        tokio::task::yield_now().await;
        let does = self.left.lock().unwrap().pop_front().unwrap_or(Does::Writes);
        let away = || LedgerError::Db(DbError::ReadOnly);
        match does {
            Does::Writes => {
                self.written.lock().unwrap().push(group.to_vec());
                let first_started = Timestamp(1);
                Ok(group
                    .iter()
                    .map(|step| Written {
                        finish: step.finish.as_ref().map(|_| FinishAnswer::Recorded),
                        start: step.start.as_ref().map(|_| StartAnswer::Started { first_started }),
                    })
                    .collect())
            }
            Does::IsAway => Err(RecordError::Away(away())),
            Does::Fences => Err(RecordError::Fenced),
            Does::Refuses(index) => Err(RecordError::Unwritable { index, source: away() }),
        }
    }
}

struct Bench {
    script: Script,
    desk: Desk,
    task: tokio::task::JoinSet<OutcomeFile>,
    pulse: Arc<Pulse>,
    shutdown: Shutdown,
    told: mpsc::Receiver<Progress>,
    dir: tempfile::TempDir,
}

fn bench(does: impl IntoIterator<Item = Does>) -> Bench {
    bench_grouping(does, Grouping::Together)
}

fn bench_grouping(does: impl IntoIterator<Item = Does>, grouping: Grouping) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let script = Script::default();
    script.left.lock().unwrap().extend(does);
    let clock = Clock::System;
    let pulse = Arc::new(Pulse::new(clock.since_boot(), Duration::from_mins(1)));
    let (teller, told) = Teller::pair();
    let shutdown = Shutdown::default();
    let tools = Tools {
        file: OutcomeFile::create(&dir.path().join("l-1.outcomes")).unwrap(),
        pulse: Arc::clone(&pulse),
        grouping,
        heartbeat: Duration::from_millis(20),
        clock,
        shutdown: shutdown.clone(),
        teller,
    };
    let (desk, recorder) = recorder(script.clone(), tools);
    let mut task = tokio::task::JoinSet::new();
    task.spawn(recorder.run());
    Bench { script, desk, task, pulse, shutdown, told, dir }
}

impl Bench {
    async fn end(self) -> (Vec<Vec<Step>>, OutcomeFile) {
        let Self { desk, mut task, script, .. } = self;
        drop(desk);
        let file = task.join_next().await.unwrap().unwrap();
        let written = script.written.lock().unwrap().clone();
        (written, file)
    }

    fn kept(&self) -> Vec<Kept> {
        let text = std::fs::read(self.dir.path().join("l-1.outcomes")).unwrap();
        let copy = self.dir.path().join("copy");
        std::fs::write(&copy, text).unwrap();
        Orphan::take(&copy).unwrap().unwrap().read().unwrap()
    }
}

fn finish(row: i64) -> Finish {
    Finish {
        row: RecipientId(row),
        batch: BatchId(1),
        attempt: Attempt(1),
        started: Timestamp(1),
        ended: Timestamp(2),
        outcome: Outcome::Accepted,
        settled: Settled::Sent(How::Accepted),
        counts: true,
        phase: Phase::Dot,
        blame: Blame::Row,
        code: Some(250),
        enhanced: None,
        reply: b"250 ok".to_vec(),
        note: None,
        review: false,
        template: 1,
    }
}

fn finishing(row: i64) -> Step {
    Step { finish: Some(finish(row)), start: None }
}

fn starting(row: i64) -> Step {
    let start = Start {
        row: RecipientId(row),
        batch: BatchId(1),
        attempt: Attempt(1),
        at: Timestamp(1),
        suppression_seen: 0,
    };
    Step { finish: None, start: Some(start) }
}

fn rows(group: &[Step]) -> Vec<i64> {
    group.iter().filter_map(|step| Some(step.finish.as_ref()?.row.0)).collect()
}

#[tokio::test]
async fn requests_that_wait_together_are_written_in_one_group() {
    let bench = bench([]);
    let writes = (1..=8).map(|row| bench.desk.write(finishing(row), None));
    for answer in futures_util::future::join_all(writes).await {
        assert!(matches!(
            answer,
            Answer::Written(Written { finish: Some(FinishAnswer::Recorded), .. })
        ));
    }
    let (written, _) = bench.end().await;
    let groups: Vec<_> = written.iter().filter(|group| !group.is_empty()).collect();
    assert!(groups.len() <= 2, "{groups:?}");
    assert_eq!(groups.iter().map(|group| group.len()).sum::<usize>(), 8);
}

#[tokio::test]
async fn one_by_one_every_request_has_a_transaction_of_its_own() {
    let bench = bench_grouping([], Grouping::OneByOne);
    let writes = (1..=4).map(|row| bench.desk.write(finishing(row), None));
    futures_util::future::join_all(writes).await;
    let (written, _) = bench.end().await;
    let groups: Vec<_> =
        written.iter().filter(|group| !group.is_empty()).map(|g| rows(g)).collect();
    assert_eq!(groups, [[1], [2], [3], [4]]);
}

#[tokio::test]
async fn a_worker_with_nothing_to_write_beats_all_the_same() {
    let bench = bench([]);
    while bench.script.written.lock().unwrap().len() < 3 {
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (written, _) = bench.end().await;
    assert!(written.iter().all(Vec::is_empty));
}

#[tokio::test]
async fn an_end_that_the_ledger_cannot_take_is_kept_until_it_can() {
    let mut bench = bench([Does::IsAway, Does::IsAway]);
    let desk = bench.desk.clone();
    let mut asking = tokio::task::JoinSet::new();
    asking.spawn(async move { desk.write(finishing(7), None).await });
    while !matches!(bench.told.recv().await, Some(Progress::LedgerAway { .. })) {}
    while bench.kept().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.kept(), [Kept::of(&finish(7))]);

    let answer = asking.join_next().await.unwrap().unwrap();
    assert!(matches!(answer, Answer::Written(_)), "{answer:?}");
    assert_eq!(bench.pulse.health(), Health::Well);
    let (_, file) = bench.end().await;
    assert_eq!(file.kept(), 0);
}

#[tokio::test]
async fn a_worker_that_must_stop_leaves_what_it_kept_to_the_next() {
    let bench = bench((0..1000).map(|_| Does::IsAway));
    let shutdown = bench.shutdown.clone();
    let (answer, ()) = tokio::join!(bench.desk.write(finishing(7), None), async {
        while bench.kept().is_empty() {
            tokio::task::yield_now().await;
        }
        shutdown.ask();
        shutdown.ask();
    });
    assert!(matches!(answer, Answer::Kept), "{answer:?}");
    let (_, file) = bench.end().await;
    assert_eq!(file.kept(), 1);
}

#[tokio::test]
async fn a_fenced_worker_gets_its_ends_back_as_evidence() {
    let bench = bench([Does::Fences]);
    let answer = bench.desk.write(finishing(7), None).await;
    assert!(matches!(answer, Answer::Fenced(Some(kept)) if kept == Kept::of(&finish(7))));
    let late = bench.desk.write(finishing(8), None).await;
    assert!(matches!(late, Answer::Fenced(Some(kept)) if kept.row == RecipientId(8)));
    assert_eq!(bench.pulse.health(), Health::Fenced);
}

#[tokio::test]
async fn one_row_that_cannot_be_written_does_not_hold_up_the_others() {
    let mut bench = bench([Does::Refuses(1)]);
    let writes = (1..=3).map(|row| bench.desk.write(finishing(row), None));
    let answers = futures_util::future::join_all(writes).await;
    let refused = answers.iter().filter(|answer| matches!(answer, Answer::Unwritable)).count();
    assert_eq!(refused, 1, "{answers:?}");
    assert!(matches!(bench.told.recv().await, Some(Progress::Unwritable { .. })));
    assert_eq!(bench.kept().len(), 1);
    let (written, file) = bench.end().await;
    assert_eq!(written.iter().map(Vec::len).sum::<usize>(), 2);
    assert_eq!(file.kept(), 1);
}

#[tokio::test]
async fn a_start_is_answered_with_its_group() {
    let bench = bench([]);
    let step = Step { finish: Some(finish(1)), ..starting(2) };
    let Answer::Written(written) = bench.desk.write(step, None).await else {
        panic!("not written")
    };
    assert_eq!(written.finish, Some(FinishAnswer::Recorded));
    assert!(matches!(written.start, Some(StartAnswer::Started { .. })));
}
