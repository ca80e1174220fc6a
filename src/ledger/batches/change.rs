//! What may be changed about a batch after it was made.

use serde_json::{Map, Value};

use crate::db::Tx;
use crate::domain::batch::Wanted;
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, Refused};

use super::{Batch, Frozen, Message, add_message, by_id, locked, message};

/// What is to be another way; everything that is none stays.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Empty: its transport's again.
    pub rate: Option<String>,
    /// 0: its transport's again.
    pub connections: Option<i64>,
    /// When a scheduled batch starts.
    pub at: Option<Timestamp>,
    pub title: Option<String>,
    /// Only while draft, scheduled or paused.
    pub message: Option<Message>,
    /// Only while draft, scheduled or paused.
    pub frozen: Option<Frozen>,
}

impl Ledger {
    /// Changes a batch; speed and time whenever, message and settings only while nothing is sent.
    pub async fn change(
        &self,
        batch: BatchId,
        changes: Changes,
        by: By,
        now: Timestamp,
    ) -> Result<Batch, LedgerError> {
        self.act((changes, by), move |tx, (changes, by)| {
            Box::pin(change(tx, batch, changes, by, now))
        })
        .await
    }
}

async fn change(
    tx: &mut Tx,
    id: BatchId,
    changes: &Changes,
    by: &By,
    now: Timestamp,
) -> Result<Batch, LedgerError> {
    let batch = locked(tx, id).await?;
    may_change(&batch, changes)?;
    let mut details = Map::new();
    speed(tx, &batch, changes, &mut details).await?;
    content(tx, &batch, changes, &mut details, now).await?;
    if details.is_empty() {
        return Ok(batch);
    }
    let details = Value::Object(details);
    let entry = Entry { matched: 1, changed: 1, details, ..Entry::of("change", id) };
    journal::write(tx, &entry, by, now).await?;
    by_id(tx, id).await
}

fn may_change(batch: &Batch, changes: &Changes) -> Result<(), Refused> {
    let name = || batch.name.clone();
    match batch.wanted {
        Wanted::Cancelled => Err(Refused::Cancelled(name())),
        Wanted::Running if changes.message.is_some() || changes.frozen.is_some() => {
            Err(Refused::Running(name()))
        }
        Wanted::Running if changes.at.is_some() => Err(Refused::Started(name())),
        Wanted::Draft if changes.at.is_some() => Err(Refused::NeverStarted(name())),
        Wanted::Paused if changes.at.is_some() && batch.started_at.is_some() => {
            Err(Refused::Started(name()))
        }
        Wanted::Draft | Wanted::Scheduled | Wanted::Running | Wanted::Paused => Ok(()),
    }
}

async fn speed(
    tx: &mut Tx,
    batch: &Batch,
    changes: &Changes,
    details: &mut Map<String, Value>,
) -> Result<(), LedgerError> {
    let rate = changes.rate.as_ref().filter(|&rate| *rate != batch.rate);
    let connections = changes.connections.map(|n| Some(n).filter(|&n| n > 0));
    let connections = connections.filter(|&n| n != batch.connections);
    let at = changes.at.filter(|&at| batch.scheduled_at != Some(at));
    let title = changes.title.as_ref().filter(|&title| *title != batch.title);
    for (name, old, new) in [
        ("rate", Some(batch.rate.clone().into()), rate.map(|rate| rate.clone().into())),
        ("connections", batch.connections.map(Value::from), connections.map(Value::from)),
        ("at", batch.scheduled_at.map(|at| at.0.into()), at.map(|at| at.0.into())),
        ("title", Some(batch.title.clone().into()), title.map(|title| title.clone().into())),
    ] {
        if let Some(new) = new {
            details.insert(name.to_owned(), serde_json::json!({ "from": old, "to": new }));
        }
    }
    tx.query(
        "update batch set rate = ?, connections = ?, scheduled_at = ?, title = ? where id = ?",
    )
    .bind(rate.unwrap_or(&batch.rate))
    .bind(connections.unwrap_or(batch.connections))
    .bind(at.or(batch.scheduled_at))
    .bind(title.unwrap_or(&batch.title))
    .bind(batch.id)
    .execute()
    .await?;
    Ok(())
}

async fn content(
    tx: &mut Tx,
    batch: &Batch,
    changes: &Changes,
    details: &mut Map<String, Value>,
    now: Timestamp,
) -> Result<(), LedgerError> {
    if let Some(new) = &changes.message
        && *new != message(tx, batch.id, batch.template_version).await?
    {
        let version = batch.template_version + 1;
        add_message(tx, batch.id, version, new, now).await?;
        tx.query("update batch set template_version = ? where id = ?")
            .bind(version)
            .bind(batch.id)
            .execute()
            .await?;
        details.insert("template".to_owned(), version.into());
    }
    if let Some(frozen) = changes.frozen.as_ref().filter(|&frozen| *frozen != batch.frozen) {
        tx.query("update batch set settings = ? where id = ?")
            .bind(frozen.to_json())
            .bind(batch.id)
            .execute()
            .await?;
        let read = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
        let (from, to) = (read(&batch.frozen.to_json()), read(&frozen.to_json()));
        details.insert("settings".to_owned(), serde_json::json!({ "from": from, "to": to }));
    }
    Ok(())
}
