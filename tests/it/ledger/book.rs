//! A ledger with people in it, for tests.

use std::path::Path;
use std::time::Duration;

use ittsu::db::{Db, Location, Open, Value};
use ittsu::domain::batch::Counts;
use ittsu::domain::id::BatchId;
use ittsu::domain::policy::{OnUnknown, OncePer, Policy};
use ittsu::domain::retry::Retry;
use ittsu::domain::selection::Selection;
use ittsu::domain::time::Timestamp;
use ittsu::ledger::batches::start::{StartRequest, Started};
use ittsu::ledger::batches::{Batch, Frozen, Made, Message, NewBatch, Words};
use ittsu::ledger::journal::By;
use ittsu::ledger::load::{Existing, LeftOut, Load, LoadRequest, LoadSums, NewRow, Writes};
use ittsu::ledger::rows::{After, RowView};
use ittsu::ledger::{Ledger, LedgerError, Refused};

use crate::support::engines::Place;

/// 2026-11-30, about.
pub(crate) const NOON: Timestamp = Timestamp(1_796_000_000_000_000);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// An open ledger and a second door to its tables.
pub(crate) struct Book {
    pub(crate) ledger: Ledger,
    pub(crate) db: Db,
    #[expect(dead_code, reason = "the database goes when the book goes")]
    place: Place,
}

pub(crate) fn by() -> By {
    By::new("kim", "a test")
}

pub(crate) fn frozen(once_per: OncePer) -> Frozen {
    Frozen {
        via: "smtp.relay".to_owned(),
        from: "会員サービス <notice@example.com>".to_owned(),
        envelope_from: "bounce@example.com".to_owned(),
        on_unknown: OnUnknown::one_word(Policy::Hold),
        once_per,
        retry: Retry { attempts: 5, first: 300 * SECOND, last: 14_400 * SECOND },
        retry_refused: Vec::new(),
        hours: None,
        timezone: "UTC".to_owned(),
        give_up_after: None,
        claim: 500,
        words: Words::default(),
    }
}

pub(crate) fn message(text: &str) -> Message {
    Message { text: text.to_owned(), html: None }
}

pub(crate) fn new_batch(name: &str, kind: &str, once_per: OncePer) -> NewBatch {
    NewBatch {
        name: name.parse().unwrap(),
        kind: kind.to_owned(),
        title: format!("title of {name}"),
        frozen: frozen(once_per),
        message: message("Subject: hello\n\nhello\n"),
        source: "people.csv".to_owned(),
    }
}

/// The person of a line: key `k000017`, address `k000017@example.org`.
pub(crate) fn person(line: i64) -> NewRow {
    NewRow {
        line,
        key: key(line),
        address: format!("K{line:06}@example.org"),
        address_key: format!("k{line:06}@example.org"),
        fields: format!(r#"{{"name":"山田 {line}"}}"#),
        past: None,
    }
}

pub(crate) fn key(line: i64) -> String {
    format!("k{line:06}")
}

pub(crate) fn people(lines: std::ops::RangeInclusive<i64>) -> Vec<NewRow> {
    lines.map(person).collect()
}

pub(crate) fn bad_line(line: i64) -> LeftOut {
    LeftOut {
        line,
        key: String::new(),
        address: String::new(),
        why: "no @ in the address".to_owned(),
        value: "taro".to_owned(),
    }
}

pub(crate) fn refusal(err: LedgerError) -> Refused {
    match err {
        LedgerError::Refused(refused) => refused,
        other => panic!("a refusal was expected: {other:?}"),
    }
}

pub(crate) fn with_key(line: i64) -> Selection {
    Selection { keys: vec![key(line)], ..Selection::default() }
}

impl Book {
    pub(crate) async fn on(place: Place) -> Self {
        let location = Location::parse(&place.url, Path::new("/")).unwrap();
        let ledger = Ledger::open(&location, Open::Create).await.unwrap();
        let db = Db::open(&location, Open::Existing).await.unwrap();
        Self { ledger, db, place }
    }

    pub(crate) async fn draft(&self, name: &str) -> Batch {
        self.draft_of(new_batch(name, "notice", OncePer::Batch)).await
    }

    pub(crate) async fn draft_of(&self, new: NewBatch) -> Batch {
        match self.ledger.create_draft(new, NOON).await.unwrap() {
            Made::New(batch) => batch,
            Made::Already(batch) => panic!("{} was there", batch.name),
        }
    }

    pub(crate) async fn begin(&self, batch: &Batch, writes: Writes) -> Result<Load, LedgerError> {
        let request = LoadRequest {
            batch: batch.id,
            source: "people.csv".to_owned(),
            existing: Existing::Keep,
            writes,
        };
        self.ledger.load(request, by(), NOON).await
    }

    pub(crate) async fn import(&self, batch: &Batch, rows: Vec<NewRow>) -> LoadSums {
        push_all(self.begin(batch, Writes::Everything).await.unwrap(), rows).await
    }

    pub(crate) async fn replace(&self, batch: &Batch, rows: Vec<NewRow>) -> LoadSums {
        let request = LoadRequest {
            batch: batch.id,
            source: "people.csv".to_owned(),
            existing: Existing::Replace,
            writes: Writes::Everything,
        };
        push_all(self.ledger.load(request, by(), NOON).await.unwrap(), rows).await
    }

    /// A draft of `n` people that is started.
    pub(crate) async fn running(&self, name: &str, n: i64) -> Batch {
        let batch = self.draft(name).await;
        self.import(&batch, people(1..=n)).await;
        self.start(&batch, n).await.unwrap();
        self.ledger.batch(name).await.unwrap()
    }

    pub(crate) async fn start(&self, batch: &Batch, confirm: i64) -> Result<Started, LedgerError> {
        self.ledger.start(start_request(batch, confirm), by(), NOON).await
    }

    pub(crate) async fn counts(&self, batch: &Batch) -> Counts {
        self.ledger.status(Some(batch.id), NOON).await.unwrap().batches[0].counts
    }

    pub(crate) async fn row(&self, batch: &Batch, line: i64) -> RowView {
        self.ledger.show(batch, &key(line)).await.unwrap().row
    }

    /// Every row of a batch, in import order.
    pub(crate) async fn rows(&self, batch: &Batch) -> Vec<RowView> {
        let all = Selection::default();
        self.ledger.rows(batch.id, &all, After::Start, 100_000, NOON).await.unwrap().rows
    }

    /// Runs a statement of the test's own.
    pub(crate) async fn sql(&self, sql: &str, values: Vec<Value>) -> u64 {
        let sql = sql.to_owned();
        let done: Result<u64, ittsu::db::DbError> = self
            .db
            .write(move |tx| {
                let (sql, values) = (sql.clone(), values.clone());
                Box::pin(async move {
                    let query = tx.query(sql);
                    values.into_iter().fold(query, ittsu::db::Query::bind).execute().await
                })
            })
            .await;
        done.unwrap()
    }

    /// Reads one number.
    pub(crate) async fn number(&self, sql: &str, values: Vec<Value>) -> i64 {
        let mut tx = self.db.read().await.unwrap();
        let query = tx.query(sql.to_owned());
        let row = values.into_iter().fold(query, ittsu::db::Query::bind).fetch_one().await;
        row.unwrap().int(0).unwrap()
    }

    /// Puts a row where the engine could have put it, and the counters with it.
    pub(crate) async fn put(&self, batch: &Batch, line: i64, sets: &str) {
        let changed = self
            .sql(
                &format!(
                    "update delivery set {sets} where batch = ? and id =
                      (select id from recipient r where r.scope = ? and r.key = ?)"
                ),
                vec![batch.id.into(), batch.scope.into(), key(line).into()],
            )
            .await;
        assert_eq!(changed, 1, "there is a row {line}");
        self.recount(batch.id).await;
    }

    /// Makes the counters say what the rows say.
    pub(crate) async fn recount(&self, batch: BatchId) {
        let wrong = self.ledger.verify(Some(batch)).await.unwrap();
        for difference in wrong {
            let n = difference.rows - difference.counter;
            let (bucket, id) = (difference.bucket.as_str(), difference.batch);
            let changed = self
                .sql(
                    "update batch_count set n = n + ?
                      where batch = ? and bucket = ? and slot = 0",
                    vec![n.into(), id.into(), bucket.into()],
                )
                .await;
            if changed == 0 {
                self.sql(
                    "insert into batch_count (batch, bucket, slot, n) values (?, ?, 0, ?)",
                    vec![id.into(), bucket.into(), n.into()],
                )
                .await;
            }
        }
        self.adds_up().await;
    }

    /// A living worker; the rows it holds are its own affair.
    pub(crate) async fn worker(&self, id: i64) {
        self.sql(
            "insert into worker (id, host, boot, pid_ns, pid, pid_start, state_dir, kinds,
                                 started_at, beat, beat_at, slot, lost_how)
             values (?, 'mail-1', 'boot', 'ns', 1, 1, '/tmp', '', 0, 1, 0, ?, '')",
            vec![id.into(), id.into()],
        )
        .await;
    }

    pub(crate) async fn lose_worker(&self, id: i64) {
        self.sql("update worker set lost_at = 1 where id = ?", vec![id.into()]).await;
    }

    /// Every counter says what the rows say.
    pub(crate) async fn adds_up(&self) {
        assert_eq!(self.ledger.verify(None).await.unwrap(), []);
    }
}

pub(crate) fn start_request(batch: &Batch, confirm: i64) -> StartRequest {
    StartRequest {
        batch: batch.id,
        confirm,
        at: None,
        frozen: batch.frozen.clone(),
        message: None,
        leave_unbuildable: None,
    }
}

pub(crate) async fn push_all(mut load: Load, rows: Vec<NewRow>) -> LoadSums {
    for row in rows {
        load.push(row).await.unwrap();
    }
    load.finish().await.unwrap()
}
