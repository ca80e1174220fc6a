//! Queue jobs that could not become a row, kept with the reason until a person decides.
//!
//! Promise: the same job rejected again, also after a crash between this and its acknowledgement,
//! is one entry that counts how often; what a person does to an entry is journalled.

use crate::db::{Row, Tx};
use crate::domain::time::Timestamp;

use super::journal::{self, By, Entry};
use super::{Ledger, LedgerError, ids};

/// A job that is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReject {
    pub kind: String,
    /// The same for the same job, and for no other.
    pub digest: String,
    /// The key it named, if it could be read.
    pub key: String,
    pub payload: Vec<u8>,
    pub why: String,
}

/// A job that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    pub id: i64,
    pub kind: String,
    pub key: String,
    pub payload: Vec<u8>,
    pub why: String,
    /// How often it came.
    pub times: i64,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
}

impl Reject {
    fn of(row: &Row) -> Result<Self, LedgerError> {
        Ok(Self {
            id: row.int(0)?,
            kind: row.text(1)?,
            key: row.text(2)?,
            payload: row.bytes(3)?,
            why: row.text(4)?,
            times: row.int(5)?,
            first_at: Timestamp(row.int(6)?),
            last_at: Timestamp(row.int(7)?),
        })
    }
}

impl Ledger {
    /// Keeps jobs that could not become a row; one that is there already counts once more.
    pub async fn reject(&self, rejects: Vec<NewReject>, now: Timestamp) -> Result<(), LedgerError> {
        if rejects.is_empty() {
            return Ok(());
        }
        self.act(rejects, move |tx, rejects| Box::pin(keep(tx, rejects, now))).await
    }

    /// Returns the rejected jobs of one kind, or of all, the oldest first.
    pub async fn rejects(&self, kind: Option<&str>) -> Result<Vec<Reject>, LedgerError> {
        let kind = kind.unwrap_or_default();
        let rows = self
            .db
            .read()
            .await?
            .query(
                "select r.id, r.kind, r.key, r.payload, r.why, r.times, r.first_at, r.last_at
                   from rejects r where r.kind = ? or ? = '' order by r.id",
            )
            .bind(kind)
            .bind(kind)
            .fetch_all()
            .await?;
        rows.iter().map(Reject::of).collect()
    }

    /// Returns how many rejected jobs of each kind wait.
    pub async fn rejects_by_kind(&self) -> Result<Vec<(String, i64)>, LedgerError> {
        let rows = self
            .db
            .read()
            .await?
            .query("select kind, count(*) from rejects group by kind order by kind")
            .fetch_all()
            .await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.int(1)?))).collect()
    }

    /// Forgets rejected jobs, because they became rows or because a person does not want them.
    pub async fn forget_rejects(
        &self,
        ids: Vec<i64>,
        action: &'static str,
        by: By,
        now: Timestamp,
    ) -> Result<i64, LedgerError> {
        let request = (ids, by);
        self.act(request, move |tx, (ids, by)| Box::pin(forget(tx, ids, action, by, now))).await
    }
}

async fn keep(tx: &mut Tx, rejects: &[NewReject], now: Timestamp) -> Result<(), LedgerError> {
    let mut rejects: Vec<&NewReject> = rejects.iter().collect();
    // Two workers that keep the same jobs take them in the same order.
    rejects.sort_by(|a, b| (&a.kind, &a.digest).cmp(&(&b.kind, &b.digest)));
    let first = ids::reserve(tx, ids::REJECTS, i64::try_from(rejects.len()).unwrap_or(1)).await?;
    let sql = "insert into rejects (id, kind, digest, \"key\", payload, why, times, first_at,
                                    last_at)
               values (?, ?, ?, ?, ?, ?, 1, ?, ?)"
        .to_owned()
        + &tx.dialect().or_update(
            "rejects",
            "kind, digest",
            "why = new(why), times = old(times) + 1, last_at = new(last_at)",
        );
    for (id, reject) in (first..).zip(rejects) {
        let key: String = reject.key.chars().take(190).collect();
        tx.query(sql.clone())
            .bind(id)
            .bind(&reject.kind)
            .bind(&reject.digest)
            .bind(key)
            .bind(reject.payload.clone())
            .bind(&reject.why)
            .bind(now)
            .bind(now)
            .execute()
            .await?;
    }
    Ok(())
}

async fn forget(
    tx: &mut Tx,
    ids: &[i64],
    action: &'static str,
    by: &By,
    now: Timestamp,
) -> Result<i64, LedgerError> {
    let mut details = Vec::new();
    for &id in ids {
        let sql = "select r.id, r.kind, r.key, r.payload, r.why, r.times, r.first_at, r.last_at
                     from rejects r where r.id = ?"
            .to_owned()
            + tx.dialect().for_update();
        let Some(row) = tx.query(sql).bind(id).fetch_optional().await? else { continue };
        let reject = Reject::of(&row)?;
        tx.query("delete from rejects where id = ?").bind(id).execute().await?;
        // What is gone from the table stays in the journal.
        details.push(serde_json::json!({
            "id": id,
            "kind": reject.kind,
            "key": reject.key,
            "why": reject.why,
            "job": String::from_utf8_lossy(&reject.payload),
        }));
    }
    let changed = i64::try_from(details.len()).unwrap_or(i64::MAX);
    if changed > 0 {
        let matched = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        let details = serde_json::json!({ "rejects": details });
        let entry = Entry { matched, changed, details, ..Entry::all(action) };
        journal::write(tx, &entry, by, now).await?;
    }
    Ok(changed)
}
