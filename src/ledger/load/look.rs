//! What a load looks up before it writes.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::LazyLock;

use crate::db::{Cell, Field, List, Tx};
use crate::domain::batch::Wanted;
use crate::domain::id::{BatchId, ScopeId};
use crate::domain::state::Flag;
use crate::ledger::batches::Batch;
use crate::ledger::rows::{flag, how, state};
use crate::ledger::{Ledger, LedgerError, suppression};

use super::sort::There;
use super::{LeftOut, LoadRequest, NewRow, Writes};

/// What is known before the first line, or gathered while lines come.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Fingerprints of the do-not-send list; a hit is looked up exactly.
    suppressed: HashSet<u64>,
    /// Fingerprints of the lines this source left out before, and their numbers.
    pub(super) left_out: HashMap<u64, Vec<i64>>,
    /// Fingerprints of the addresses that came so far.
    pub(super) addresses: HashSet<u64>,
    /// Fingerprints of the keys that were counted as new while nothing is written.
    pub(super) counted: HashSet<u64>,
    /// The do-not-send list was not read: every address is looked up in it.
    looks_up_all: bool,
}

/// Stands for a text that is not kept; with a million of them, two are the same in one run out of
/// thirty million.
pub(super) fn fingerprint<T: Hash + ?Sized>(text: &T) -> u64 {
    static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    STATE.hash_one(text)
}

pub(super) fn fingerprint_of(line: &LeftOut) -> u64 {
    fingerprint(&(line.line, &line.key, &line.address, &line.why, &line.value))
}

/// Rows that are read at a time.
const PAGE: i64 = 10_000;

pub(super) async fn known(
    ledger: &Ledger,
    batch: &Batch,
    request: &LoadRequest,
) -> Result<Known, LedgerError> {
    let mut tx = ledger.db.read().await?;
    let mut known = Known::default();
    let mut after = 0;
    loop {
        let rows = tx
            .query(
                "select seq, address_key from suppression
                  where seq > ? and (kind = '' or kind = ?) order by seq limit ?",
            )
            .bind(after)
            .bind(&batch.kind)
            .bind(PAGE)
            .fetch_all()
            .await?;
        let Some(last) = rows.last() else { break };
        after = last.int(0)?;
        for row in &rows {
            known.suppressed.insert(fingerprint(row.text(1)?.as_str()));
        }
    }
    if request.writes != Writes::Nothing {
        left_out_before(&mut tx, batch.id, &request.source, &mut known).await?;
    }
    Ok(known)
}

async fn left_out_before(
    tx: &mut Tx,
    batch: BatchId,
    source: &str,
    known: &mut Known,
) -> Result<(), LedgerError> {
    let mut after = 0;
    loop {
        let rows = tx
            .query(
                "select id, line, \"key\", address, why, value from left_out
                  where batch = ? and id > ? and source = ? order by id limit ?",
            )
            .bind(batch)
            .bind(after)
            .bind(source)
            .bind(PAGE)
            .fetch_all()
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.int(0)?;
        for row in &rows {
            let line = LeftOut {
                line: row.int(1)?,
                key: row.text(2)?,
                address: row.text(3)?,
                why: row.text(4)?,
                value: row.text(5)?,
            };
            known.left_out.entry(fingerprint_of(&line)).or_default().push(row.int(0)?);
        }
    }
}

impl Known {
    /// Knows nothing beforehand, for a handful of rows at a time.
    pub(super) fn looks_up_all() -> Self {
        Self { looks_up_all: true, ..Self::default() }
    }

    /// Returns those of the addresses that must not be mailed.
    pub(super) async fn suppressed(
        &self,
        ledger: &Ledger,
        kind: &str,
        rows: &[NewRow],
    ) -> Result<HashSet<String>, LedgerError> {
        let hits: Vec<String> = rows
            .iter()
            .filter(|row| {
                self.looks_up_all
                    || self.suppressed.contains(&fingerprint(row.address_key.as_str()))
            })
            .map(|row| row.address_key.clone())
            .collect();
        if hits.is_empty() {
            return Ok(HashSet::new());
        }
        let mut tx = ledger.db.read().await?;
        suppression::listed(&mut tx, &hits, |on| on.is_empty() || on == kind).await
    }
}

/// Returns the rows that are there under the keys of lines, by key.
pub(super) async fn there<'a>(
    ledger: &Ledger,
    scope: ScopeId,
    rows: impl Iterator<Item = &'a NewRow>,
) -> Result<HashMap<String, There>, LedgerError> {
    let mut list = List::new();
    let mut empty = true;
    for row in rows {
        list.push(&[Cell::Text(&row.key)]);
        empty = false;
    }
    if empty {
        return Ok(HashMap::new());
    }
    let mut tx = ledger.db.read().await?;
    let sql = format!(
        "select r.key, r.id, r.address, r.fields, d.batch, b.name, b.wanted,
                d.state, d.how, d.flag, d.attempt, d.first_started
           from {rows} v
           {join} recipient r on r.scope = ? and r.key = v.name
           {join} delivery d on d.id = r.id
           {join} batch b on b.id = d.batch",
        rows = tx.dialect().json_rows(&[Field::Text("name")]),
        join = tx.dialect().then_join()
    );
    let mut there = HashMap::new();
    for row in tx.query(sql).bind(list).bind(scope).fetch_all().await? {
        let wanted = row.text(6)?;
        there.insert(
            row.text(0)?,
            There {
                id: row.int(1)?,
                address: row.text(2)?,
                fields: row.text(3)?,
                batch: BatchId(row.int(4)?),
                batch_name: row.text(5)?,
                batch_wanted: Wanted::from_word(&wanted)
                    .ok_or(LedgerError::Nonsense { what: "batch state", word: wanted })?,
                state: state(&row.text(7)?)?,
                how: how(&row.text(8)?)?,
                unknown: flag(row.text_or_null(9)?.as_deref())? == Some(Flag::Unknown),
                attempt: row.int(10)?,
                first_started: row.int(11)?,
            },
        );
    }
    Ok(there)
}
