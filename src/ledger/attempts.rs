//! The record of every try: inserted once, when it has ended, and kept for ever.

use crate::db::{Cell, Field, List, Tx};
use crate::domain::id::{Attempt, Generation, RecipientId, WorkerId};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::state::Cause;
use crate::domain::time::Timestamp;

use super::LedgerError;
use super::delivery::cause_of;

/// How an attempt ended, as it is kept.
#[derive(Clone, Debug)]
pub(super) struct Ended<'a> {
    pub(super) row: RecipientId,
    pub(super) number: Attempt,
    pub(super) worker: WorkerId,
    pub(super) generation: Generation,
    pub(super) started: Timestamp,
    pub(super) at: Timestamp,
    pub(super) phase: Phase,
    pub(super) outcome: Outcome,
    pub(super) blame: Blame,
    pub(super) code: i64,
    pub(super) enhanced: &'a str,
    pub(super) reply: &'a [u8],
    pub(super) note: &'a str,
    pub(super) review: bool,
    pub(super) template: i64,
}

/// Inserts attempts whose rows this transaction has seen under lock.
pub(super) async fn insert(tx: &mut Tx, attempts: &[Ended<'_>]) -> Result<(), LedgerError> {
    if attempts.is_empty() {
        return Ok(());
    }
    let mut list = List::new();
    for one in attempts {
        list.push(&[
            Cell::Int(one.row.0),
            Cell::Int(one.number.0),
            Cell::Int(one.worker.0),
            Cell::Int(one.generation.0),
            Cell::Int(one.started.0),
            Cell::Int(one.at.0),
            Cell::Text(one.phase.as_str()),
            Cell::Text(one.outcome.as_str()),
            Cell::Text(cause_of(one.outcome).map_or("", Cause::as_str)),
            Cell::Text(one.blame.as_str()),
            Cell::Int(one.code),
            Cell::Text(one.enhanced),
            Cell::Bytes(one.reply),
            Cell::Text(one.note),
            Cell::Int(i64::from(one.review)),
            Cell::Int(one.template),
        ]);
    }
    let dialect = tx.dialect();
    let values = dialect.json_rows(&[
        Field::Int("mail"),
        Field::Int("number"),
        Field::Int("worker"),
        Field::Int("generation"),
        Field::Int("started"),
        Field::Int("ended"),
        Field::Text("phase"),
        Field::Text("outcome"),
        Field::Text("cause"),
        Field::Text("blame"),
        Field::Int("code"),
        Field::Text("enhanced"),
        Field::Bytes("reply"),
        Field::Text("note"),
        Field::Int("review"),
        Field::Int("template"),
    ]);
    let sql = format!(
        "insert into attempt (row, number, worker, generation, started, ended, phase, outcome,
                              cause, blame, code, enhanced, reply, note, review, template)
         select v.mail, v.number, v.worker, v.generation, v.started, v.ended, v.phase, v.outcome,
                v.cause, v.blame, v.code, v.enhanced, {}, v.note, v.review, v.template
           from {values} v",
        dialect.bytes_of("v.reply")
    );
    tx.query(sql).bind(list).execute().await?;
    Ok(())
}
