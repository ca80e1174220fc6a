//! One row with everything that is known about it.

use std::collections::HashMap;

use crate::db::{Field, List, Row, Tx};
use crate::domain::id::{Attempt, Generation, RecipientId, WorkerId};
use crate::domain::outcome::{Blame, Phase};
use crate::domain::state::Cause;
use crate::domain::time::Timestamp;
use crate::ledger::batches::{self, Batch};
use crate::ledger::journal::JournalEntry;
use crate::ledger::{Ledger, LedgerError};

use super::{RowView, cause, id_of, phase, row_columns};

/// A row, every attempt, every piece of evidence, and what people did to it.
#[derive(Clone, Debug, PartialEq)]
pub struct RowStory {
    pub batch: Batch,
    pub row: RowView,
    /// The first one first.
    pub attempts: Vec<AttemptView>,
    pub evidence: Vec<EvidenceView>,
    pub journal: Vec<JournalEntry>,
}

/// One ended attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptView {
    pub number: Attempt,
    pub worker: WorkerId,
    pub generation: Generation,
    pub started: Timestamp,
    pub ended: Timestamp,
    pub phase: Option<Phase>,
    /// The word of `Outcome`.
    pub outcome: String,
    pub cause: Option<Cause>,
    pub blame: Option<Blame>,
    pub code: Option<u16>,
    pub enhanced: String,
    /// The server's answer, as it came.
    pub reply: Vec<u8>,
    pub note: String,
    /// The answer was unusual: a person should look at it.
    pub review: bool,
    /// The version of the message that was sent.
    pub template: i64,
}

/// Something that was learned late or elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceView {
    pub attempt: Attempt,
    pub generation: Generation,
    pub worker: WorkerId,
    /// `late_answer`, `outcome_file` or `step_file`.
    pub source: String,
    pub outcome: String,
    pub code: Option<u16>,
    pub reply: Vec<u8>,
    pub at: Timestamp,
    /// `settled`, `kept` or `conflict`.
    pub became: String,
}

fn code(n: i64) -> Option<u16> {
    u16::try_from(n).ok().filter(|&code| code != 0)
}

impl AttemptView {
    fn of(row: &Row) -> Result<Self, LedgerError> {
        let blame = row.text(8)?;
        Ok(Self {
            number: Attempt(row.int(1)?),
            worker: WorkerId(row.int(2)?),
            generation: Generation(row.int(3)?),
            started: Timestamp(row.int(4)?),
            ended: Timestamp(row.int(5)?),
            phase: phase(&row.text(6)?)?,
            outcome: row.text(7)?,
            blame: Blame::from_word(&blame),
            cause: cause(&row.text(9)?)?,
            code: code(row.int(10)?),
            enhanced: row.text(11)?,
            reply: row.bytes(12)?,
            note: row.text(13)?,
            review: row.int(14)? != 0,
            template: row.int(15)?,
        })
    }
}

impl EvidenceView {
    fn of(row: &Row) -> Result<Self, LedgerError> {
        Ok(Self {
            attempt: Attempt(row.int(1)?),
            generation: Generation(row.int(2)?),
            worker: WorkerId(row.int(3)?),
            source: row.text(4)?,
            outcome: row.text(5)?,
            code: code(row.int(6)?),
            reply: row.bytes(7)?,
            at: Timestamp(row.int(8)?),
            became: row.text(9)?,
        })
    }
}

fn list(rows: &[RecipientId]) -> List {
    rows.iter().map(|row| row.0).collect()
}

/// Returns the attempts of rows, in their order.
pub(super) async fn attempts(
    tx: &mut Tx,
    rows: &[RecipientId],
) -> Result<HashMap<RecipientId, Vec<AttemptView>>, LedgerError> {
    let sql = format!(
        "select a.row, a.number, a.worker, a.generation, a.started, a.ended, a.phase, a.outcome,
                a.blame, a.cause, a.code, a.enhanced, a.reply, a.note, a.review, a.template
           from {} v {} attempt a on a.row = v.id order by a.row, a.number",
        tx.dialect().json_rows(&[Field::Int("id")]),
        tx.dialect().then_join()
    );
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    for row in tx.query(sql).bind(list(rows)).fetch_all().await? {
        found.entry(RecipientId(row.int(0)?)).or_default().push(AttemptView::of(&row)?);
    }
    Ok(found)
}

/// Returns what was learned about rows, in the order in which it came.
pub(super) async fn evidence(
    tx: &mut Tx,
    rows: &[RecipientId],
) -> Result<HashMap<RecipientId, Vec<EvidenceView>>, LedgerError> {
    let sql = format!(
        "select e.row, e.attempt, e.generation, e.worker, e.source, e.outcome, e.code, e.reply,
                e.at, e.became
           from {} v {} evidence e on e.row = v.id order by e.row, e.id",
        tx.dialect().json_rows(&[Field::Int("id")]),
        tx.dialect().then_join()
    );
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    for row in tx.query(sql).bind(list(rows)).fetch_all().await? {
        found.entry(RecipientId(row.int(0)?)).or_default().push(EvidenceView::of(&row)?);
    }
    Ok(found)
}

async fn journal(tx: &mut Tx, row: RecipientId) -> Result<Vec<JournalEntry>, LedgerError> {
    let rows = tx
        .query(
            "select j.id, j.at, j.operator, j.action, j.batch, b.name, j.reason, j.selection,
                    j.matched, j.changed, j.details
               from journal_row w
               join journal j on j.id = w.journal
               left join batch b on b.id = j.batch
              where w.row = ? order by j.id",
        )
        .bind(row)
        .fetch_all()
        .await?;
    rows.iter().map(JournalEntry::of).collect()
}

/// Returns the whole story of a row.
pub(super) async fn story(tx: &mut Tx, id: RecipientId) -> Result<Option<RowStory>, LedgerError> {
    let row = tx
        .query(concat!(
            "select ",
            row_columns!(),
            " from delivery d join recipient r on r.id = d.id
                left join attempt a on a.row = d.id and a.number = d.attempt
               where d.id = ?"
        ))
        .bind(id)
        .fetch_optional()
        .await?;
    let Some(row) = row else { return Ok(None) };
    let row = RowView::of(&row)?;
    Ok(Some(RowStory {
        batch: batches::by_id(tx, row.batch).await?,
        attempts: attempts(tx, &[id]).await?.remove(&id).unwrap_or_default(),
        evidence: evidence(tx, &[id]).await?.remove(&id).unwrap_or_default(),
        journal: journal(tx, id).await?,
        row,
    }))
}

impl Ledger {
    /// Returns the row of that key with everything that is known about it.
    pub async fn show(&self, batch: &Batch, key: &str) -> Result<RowStory, LedgerError> {
        let mut tx = self.db.snapshot().await?;
        let id = id_of(&mut tx, batch, key).await?;
        let story = story(&mut tx, id).await?;
        Ok(story.expect("the row was there a moment ago, in the same snapshot"))
    }
}
