//! Has a person decided about a row?

use std::collections::HashSet;

use crate::db::Tx;
use crate::domain::id::{Attempt, Generation, RecipientId};
use crate::domain::plan::Act;
use crate::ledger::LedgerError;
use crate::ledger::journal::JournalEntry;

/// Reports whether a person marked or resent a row at or after an attempt, and left it at that.
pub(in crate::ledger) async fn decided_since(
    tx: &mut Tx,
    row: RecipientId,
    attempt: Attempt,
    generation: Generation,
) -> Result<bool, LedgerError> {
    let rows = tx
        .query(
            "select j.id, j.at, j.operator, j.action, j.batch, b.name, j.reason, j.selection,
                    j.matched, j.changed, j.details, w.attempt, w.generation
               from journal_row w
               join journal j on j.id = w.journal
               left join batch b on b.id = j.batch
              where w.row = ? order by j.id",
        )
        .bind(row)
        .fetch_all()
        .await?;
    let mut standing = HashSet::new();
    for row in &rows {
        let entry = JournalEntry::of(row)?;
        if let Some(undone) = entry.undoes() {
            standing.remove(&undone);
        } else if Act::from_word(&entry.action).is_some()
            && row.int(11)? >= attempt.0
            && row.int(12)? == generation.0
        {
            standing.insert(entry.id);
        }
    }
    Ok(!standing.is_empty())
}
