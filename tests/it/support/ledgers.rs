//! A ledger with one running batch, and what a test may ask about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ittsu::db::{Bulk, Cell, Clash, Db, DbError, Location, Open, Row};
use ittsu::domain::id::{Attempt, BatchId, RecipientId, WorkerId};
use ittsu::domain::late::Late;
use ittsu::domain::outcome::{Outcome, Phase};
use ittsu::domain::plan::Act;
use ittsu::domain::policy::{OnUnknown, OncePer, Policy};
use ittsu::domain::retry::{Jitter, Retry};
use ittsu::domain::selection::Selection;
use ittsu::domain::step::Step as WireStep;
use ittsu::domain::time::Timestamp;
use ittsu::domain::watch::{Process, Proof};
use ittsu::ledger::Ledger;
use ittsu::ledger::batches::pause::Reach;
use ittsu::ledger::batches::{Frozen, Words};
use ittsu::ledger::evidence::{Evidence, Seen as Source};
use ittsu::ledger::journal::By;
use ittsu::ledger::recorder::Recorder;
use ittsu::ledger::settle::SettleRequest;
use ittsu::ledger::sweep::{StepFileEntry, Swept, Victim};
use ittsu::ledger::workers::Identity;

use super::engines::{Engine, Place};
use super::hand::Hand;

/// The moment at which tests stand; one hour is enough room before and behind it.
pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000_000_000);
/// A template version that `make_unwritable` lets the database refuse.
pub(crate) const UNWRITABLE: i64 = 666;
pub(crate) const BATCH: BatchId = BatchId(1);
pub(crate) const RETRY_FIRST: Duration = Duration::from_mins(5);
/// The deadlines `data`, `body` and `answer` together.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_mins(15);

/// A ledger whose batch 1 is running, with rows 1 to n ready.
pub(crate) struct Books {
    pub(crate) ledger: Ledger,
    pub(crate) db: Db,
    pub(crate) place: Place,
}

/// A row as far as tests look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) state: String,
    pub(crate) how: String,
    pub(crate) flag: Option<String>,
    pub(crate) cause: String,
    pub(crate) attempt: i64,
    pub(crate) tries: i64,
    pub(crate) generation: i64,
    pub(crate) unknown_attempts: i64,
    pub(crate) handed_again: i64,
    pub(crate) first_started: i64,
    pub(crate) due_at: Option<i64>,
    pub(crate) worker: i64,
}

pub(crate) fn location(place: &Place) -> Location {
    Location::parse(&place.url, Path::new("/")).expect("the test's own URL")
}

pub(crate) fn frozen(policy: Policy) -> Frozen {
    Frozen {
        via: "smtp.relay".to_owned(),
        from: "notice@example.com".to_owned(),
        envelope_from: "bounce@example.com".to_owned(),
        on_unknown: OnUnknown::one_word(policy),
        once_per: OncePer::Batch,
        retry: Retry { attempts: 5, first: RETRY_FIRST, last: RETRY_FIRST * 8 },
        retry_refused: Vec::new(),
        hours: None,
        timezone: "UTC".to_owned(),
        give_up_after: None,
        claim: 500,
        words: Words::default(),
    }
}

impl Books {
    /// Makes the ledger and its batch.
    pub(crate) async fn with(place: Place, rows: i64, policy: Policy) -> Self {
        let ledger = Ledger::open(&location(&place), Open::Create).await.expect("a ledger");
        let db = Db::open(&location(&place), Open::Existing).await.expect("its database");
        let books = Self { ledger, db, place };
        books.batch(BATCH, 1, rows, policy).await;
        books
    }

    /// Adds a running batch with the rows `first` to `last`.
    pub(crate) async fn batch(&self, batch: BatchId, first: i64, last: i64, policy: Policy) {
        let settings = frozen(policy).to_json();
        let dialect = self.db.dialect();
        self.db
            .write(move |tx| {
                let settings = settings.clone();
                Box::pin(async move {
                    tx.query(
                        "insert into batch (id, name, kind, title, scope, wanted, settings,
                             template_version, created_at, started_at, started_by, paused_because, paused_by,
                             source, rate, probed, first_row, last_row)
                         values (?, ?, 'notice', '', ?, 'running', ?, 1, ?, ?, '', '', '', '', '', 1,
                                 ?, ?)",
                    )
                    .bind(batch)
                    .bind(format!("notice-{batch}"))
                    .bind(batch)
                    .bind(settings)
                    .bind(NOW)
                    .bind(NOW)
                    .bind(first)
                    .bind(last)
                    .execute()
                    .await?;
                    let columns = "id, scope, \"key\", address, address_key, fields";
                    let mut who = Bulk::new(dialect, "recipient", columns, Clash::Fail);
                    let columns = "id, batch, state, due_at, updated";
                    let mut what = Bulk::new(dialect, "delivery", columns, Clash::Fail);
                    for id in first..=last {
                        let (key, address) = (format!("k{id}"), format!("p{id}@example.org"));
                        who.push(&[
                            Cell::Int(id),
                            Cell::Int(batch.0),
                            Cell::Text(&key),
                            Cell::Text(&address),
                            Cell::Text(&address),
                            Cell::Text("{}"),
                        ]);
                        what.push(&[
                            Cell::Int(id),
                            Cell::Int(batch.0),
                            Cell::Text("ready"),
                            Cell::Int(0),
                            Cell::Int(NOW.0),
                        ]);
                    }
                    who.write(tx).await?;
                    what.write(tx).await?;
                    tx.query("insert into batch_count (batch, bucket, slot, n) values (?, 'ready', 0, ?)")
                        .bind(batch)
                        .bind(last - first + 1)
                        .execute()
                        .await?;
                    Ok::<_, DbError>(())
                })
            })
            .await
            .expect("a batch");
    }

    /// Registers a worker and its recorder.
    pub(crate) async fn worker(&self) -> Hand {
        let identity = Identity {
            host: "test".to_owned(),
            process: Process {
                boot: "boot".to_owned(),
                pid_ns: "ns".to_owned(),
                pid: 1,
                pid_start: 1,
            },
            state_dir: "/nowhere".to_owned(),
            kinds: Vec::new(),
        };
        let me = self.ledger.register(identity, NOW).await.expect("a free slot");
        let recorder = Recorder::new(self.ledger.clone(), me);
        Hand { ledger: self.ledger.clone(), me, recorder }
    }

    /// Runs one statement that has nothing to bind.
    pub(crate) async fn run(&self, sql: &str) -> u64 {
        let sql = sql.to_owned();
        self.db
            .write(move |tx| {
                let sql = sql.clone();
                Box::pin(async move { tx.query(sql).execute().await })
            })
            .await
            .expect("a statement of the test")
    }

    /// Lets the database refuse the template version `UNWRITABLE`, as it may refuse any value.
    pub(crate) async fn make_unwritable(&self) {
        let sql = match self.place.engine {
            Engine::Sqlite => {
                "create trigger refuse before insert on attempt when new.template = 666
                 begin select raise(abort, 'refused'); end"
            }
            _ => "alter table attempt add constraint refuse check (template <> 666)",
        };
        self.run(sql).await;
    }

    /// Changes rows one after the other in one transaction, in the order given.
    pub(crate) async fn touch_rows(&self, rows: &[i64]) {
        let rows = rows.to_vec();
        self.db
            .write(move |tx| {
                let rows = rows.clone();
                Box::pin(async move {
                    for row in rows {
                        let sql = "update delivery set updated = updated + 1 where id = ?";
                        tx.query(sql).bind(row).execute().await?;
                    }
                    Ok::<_, DbError>(())
                })
            })
            .await
            .expect("rows are touched");
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<Row> {
        let mut tx = self.db.read().await.expect("a connection");
        tx.query(sql.to_owned()).fetch_all().await.expect("a query of the test")
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.rows(sql).await[0].int(0).expect("a number")
    }

    pub(crate) async fn row(&self, id: i64) -> Seen {
        let rows = self
            .rows(&format!(
                "select state, how, flag, cause, attempt, tries, generation, unknown_attempts,
                        handed_again, first_started, due_at, worker
                   from delivery where id = {id}"
            ))
            .await;
        let row = &rows[0];
        Seen {
            state: row.text(0).unwrap(),
            how: row.text(1).unwrap(),
            flag: row.text_or_null(2).unwrap(),
            cause: row.text(3).unwrap(),
            attempt: row.int(4).unwrap(),
            tries: row.int(5).unwrap(),
            generation: row.int(6).unwrap(),
            unknown_attempts: row.int(7).unwrap(),
            handed_again: row.int(8).unwrap(),
            first_started: row.int(9).unwrap(),
            due_at: row.int_or_null(10).unwrap(),
            worker: row.int(11).unwrap(),
        }
    }

    /// Returns `state how` of a row, the shortest way to say where it stands.
    pub(crate) async fn stands(&self, id: i64) -> String {
        let row = self.row(id).await;
        let unknown = row.flag.as_deref() == Some("unknown");
        let why = if unknown { "unknown" } else { &row.how };
        format!("{} {why}", row.state).trim().to_owned()
    }

    /// Asserts that every counter is what the rows say, in all batches.
    pub(crate) async fn assert_counters_agree(&self) {
        let mut counted: BTreeMap<(i64, String), i64> = BTreeMap::new();
        for row in self.rows("select batch, bucket, n from batch_count").await {
            let bucket = (row.int(0).unwrap(), row.text(1).unwrap());
            *counted.entry(bucket).or_default() += row.int(2).unwrap();
        }
        let mut true_ones: BTreeMap<(i64, String), i64> = BTreeMap::new();
        let sql = "select batch, state, how, flag, attempt, unknown_attempts, handed_again
                     from delivery";
        for row in self.rows(sql).await {
            let batch = row.int(0).unwrap();
            let state = row.text(1).unwrap();
            let unknown = row.int(5).unwrap() > 0;
            let mut add = |bucket: &str, n: i64| {
                *true_ones.entry((batch, bucket.to_owned())).or_default() += n;
            };
            add(&state, 1);
            add("unknown", i64::from(row.text_or_null(3).unwrap().as_deref() == Some("unknown")));
            add("assumed", i64::from(row.text(2).unwrap() == "assumed"));
            add("attempts", row.int(4).unwrap());
            add("maybe_twice", i64::from(row.int(6).unwrap() > 0));
            add("maybe_delivered", i64::from(state == "failed" && unknown));
        }
        counted.retain(|_, n| *n != 0);
        true_ones.retain(|_, n| *n != 0);
        assert_eq!(counted, true_ones, "the counters are not what the rows say");
    }

    /// Sweeps a worker as one whose process is gone, with what its step file says.
    pub(crate) async fn sweep_gone(&self, hand: &Hand, steps: &[(i64, i64, WireStep)]) -> Swept {
        self.sweep(hand.me.worker, Proof::ProcessGone, steps).await.expect("it was not swept yet")
    }

    /// Sweeps a worker whose beat stood still.
    pub(crate) async fn sweep_silent(&self, hand: &Hand) -> Swept {
        self.sweep(hand.me.worker, Proof::Silent, &[]).await.expect("it was not swept yet")
    }

    pub(crate) async fn sweep(
        &self,
        worker: WorkerId,
        proof: Proof,
        steps: &[(i64, i64, WireStep)],
    ) -> Option<Swept> {
        let found = self.ledger.worker(worker).await.unwrap().expect("a worker");
        let steps = steps
            .iter()
            .map(|&(row, attempt, step)| StepFileEntry {
                row: RecipientId(row),
                attempt: Attempt(attempt),
                step,
            })
            .collect();
        let victim =
            Victim { worker, beat: found.beat, proof, steps, answer_within: ANSWER_WITHIN };
        self.ledger.sweep(victim, Jitter::NONE, NOW).await.unwrap()
    }
}

/// Who does it, in tests.
pub(crate) fn somebody() -> By {
    By::new("mina", "test")
}

impl Books {
    /// Does what a person may do to one row, by its key; returns how many rows changed.
    pub(crate) async fn person(&self, row: i64, act: Act) -> i64 {
        let request = SettleRequest {
            batch: BATCH,
            selection: Selection { keys: vec![format!("k{row}")], ..Selection::default() },
            act,
            to: None,
            confirm: 1,
            words: format!("--key k{row}"),
        };
        let settled = self.ledger.settle(request, somebody(), NOW).await.expect("an action");
        settled.changed
    }

    /// Hands in what a worker learned too late.
    pub(crate) async fn late(&self, hand: &Hand, row: i64, attempt: i64, outcome: Outcome) -> Late {
        let evidence = Evidence {
            row: RecipientId(row),
            attempt: Attempt(attempt),
            worker: hand.me.worker,
            source: Source::LateAnswer,
            outcome,
            phase: Phase::Dot,
            code: Some(250),
            reply: b"250 ok".to_vec(),
        };
        self.ledger.learn(evidence, NOW).await.expect("evidence is kept")
    }

    pub(crate) async fn pause(&self) {
        self.ledger.pause(Reach::Batch(BATCH), somebody(), NOW).await.expect("a pause");
    }

    pub(crate) async fn resume(&self) {
        self.ledger.resume(Reach::Batch(BATCH), somebody(), NOW).await.expect("a resume");
    }
}
