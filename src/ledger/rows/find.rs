//! One person, in every batch.

use std::collections::BTreeSet;

use crate::db::Tx;
use crate::domain::id::RecipientId;
use crate::ledger::suppression::{self, Suppressed};
use crate::ledger::{Ledger, LedgerError};

use super::left_out::LeftOutLine;
use super::story::{RowStory, story};

/// What is known of the person that is looked for; each part is looked up by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// An address in compare form.
    pub address: Option<String>,
    pub key: Option<String>,
    /// The row a Message-ID names.
    pub row: Option<RecipientId>,
}

/// Everything about a person.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub rows: Vec<RowStory>,
    pub left_out: Vec<LeftOutLine>,
    /// The address stands on these lists.
    pub suppressed: Vec<Suppressed>,
}

/// One person has at most so many rows shown; the latest come first.
const MOST: i64 = 200;

impl Ledger {
    /// Finds a person by exact address, key or row, in every batch.
    pub async fn find(&self, who: &Who) -> Result<Found, LedgerError> {
        let mut tx = self.db.snapshot().await?;
        let mut found = Found::default();
        for id in rows(&mut tx, who).await?.into_iter().rev() {
            found.rows.extend(story(&mut tx, id).await?);
        }
        found.left_out = left_out(&mut tx, who).await?;
        if let Some(address) = &who.address {
            found.suppressed = suppression::of_address(&mut tx, address).await?;
        }
        Ok(found)
    }
}

async fn rows(tx: &mut Tx, who: &Who) -> Result<BTreeSet<RecipientId>, LedgerError> {
    let mut ids: BTreeSet<_> = who.row.into_iter().collect();
    if let Some(address) = &who.address {
        let rows = tx
            .query("select id from recipient where address_key = ? order by id desc limit ?")
            .bind(address)
            .bind(MOST)
            .fetch_all()
            .await?;
        for row in &rows {
            ids.insert(RecipientId(row.int(0)?));
        }
    }
    if let Some(key) = &who.key {
        // One step into the unique key per scope: as many as there are batches, at most.
        let rows = tx
            .query(
                "select r.id from scope s join recipient r on r.scope = s.id and r.key = ?
                  order by r.id desc limit ?",
            )
            .bind(key)
            .bind(MOST)
            .fetch_all()
            .await?;
        for row in &rows {
            ids.insert(RecipientId(row.int(0)?));
        }
    }
    Ok(ids)
}

async fn left_out(tx: &mut Tx, who: &Who) -> Result<Vec<LeftOutLine>, LedgerError> {
    let mut lines = Vec::new();
    if let Some(address) = &who.address {
        let rows = tx
            .query(
                "select id, batch, source, line, \"key\", address, why, value, at from left_out
                  where address = ? order by id desc limit ?",
            )
            .bind(address)
            .bind(MOST)
            .fetch_all()
            .await?;
        for row in &rows {
            lines.push(LeftOutLine::of(row)?);
        }
    }
    if let Some(key) = who.key.as_deref().filter(|key| !key.is_empty()) {
        let rows = tx
            .query(
                "select id, batch, source, line, \"key\", address, why, value, at from left_out
                  where \"key\" = ? order by id desc limit ?",
            )
            .bind(key)
            .bind(MOST)
            .fetch_all()
            .await?;
        for row in &rows {
            let line = LeftOutLine::of(row)?;
            if lines.iter().all(|other: &LeftOutLine| other.id != line.id) {
                lines.push(line);
            }
        }
    }
    Ok(lines)
}
