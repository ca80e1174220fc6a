//! The whole job in one command: import, start, work until idle; and again, what is left of it.

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::import::{ImportRequest, Imported, Mode, Watch};
use super::start::{Built, StartBody, StartWish};
use super::words::thousands;
use crate::domain::batch::{BatchState, Wanted};
use crate::domain::id::BatchId;
use crate::ledger::batches::Batch;
use crate::ledger::journal::By;

/// A batch that workers may take now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prepared {
    #[serde(skip)]
    pub id: BatchId,
    #[serde(skip)]
    pub imported: Imported,
    pub import: super::import::ImportBody,
    pub start: StartBody,
}

/// What `send` was told besides what `import` takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SendWish {
    pub confirm: Option<u64>,
    pub leave_unbuildable: Option<u64>,
}

impl Ops {
    /// Imports and starts a batch, or finds what is left of one that was started before.
    pub async fn prepare(
        &self,
        request: &ImportRequest,
        wish: SendWish,
        by: By,
        watch: Watch<'_>,
    ) -> Result<Prepared, OpsError> {
        let there = self.ledger.find_batch(request.batch.as_str()).await?;
        match there.filter(|batch| batch.wanted != Wanted::Draft) {
            None => self.prepare_new(request, wish, by, watch).await,
            Some(batch) => self.prepare_again(request, &batch, wish, by, watch).await,
        }
    }

    async fn prepare_new(
        &self,
        request: &ImportRequest,
        wish: SendWish,
        by: By,
        watch: Watch<'_>,
    ) -> Result<Prepared, OpsError> {
        let request = ImportRequest { mode: Mode::Write { confirm: None }, ..request.clone() };
        let imported = self.import(&request, by.clone(), watch).await?;
        let built = if imported.all_built { Built::JustNow } else { Built::NotYet };
        let start = StartWish {
            batch: request.batch.clone(),
            confirm: wish.confirm,
            at: None,
            leave_unbuildable: wish.leave_unbuildable,
            built,
        };
        let start = self.start(start, by).await?;
        let id = self.batch(&request.batch).await?.id;
        Ok(Prepared { id, import: imported.body.clone(), imported, start })
    }

    /// Adds nobody who was not confirmed, and compares with what was confirmed before.
    async fn prepare_again(
        &self,
        request: &ImportRequest,
        batch: &Batch,
        wish: SendWish,
        by: By,
        watch: Watch<'_>,
    ) -> Result<Prepared, OpsError> {
        let before = self.status_of(batch).await?;
        let total = u64::try_from(before.counts.total()).unwrap_or(0);
        let added = wish.confirm.and_then(|confirm| confirm.checked_sub(total));
        let mode = Mode::Write { confirm: added.filter(|&added| added > 0) };
        let request = ImportRequest { mode, ..request.clone() };
        let imported = match self.import(&request, by.clone(), watch).await {
            Err(err) => return Err(in_all(err, batch, total)),
            Ok(imported) => imported,
        };
        let idle = before.counts.left() == 0 && imported.body.new == 0;
        let confirmed = u64::try_from(batch.confirmed.unwrap_or(0)).unwrap_or(0);
        let fits = |confirm| confirm == confirmed || confirm == total || added.is_some();
        if let Some(confirm) = wish.confirm.filter(|&confirm| !idle && !fits(confirm)) {
            return Err(OpsError::refused(format!(
                "{} was started with {} people, but {} are confirmed now",
                batch.name,
                thousands(batch.confirmed.unwrap_or(0)),
                thousands(i64::try_from(confirm).unwrap_or(i64::MAX)),
            ))
            .hint(format!("nothing was changed; confirm {confirmed}")));
        }
        if before.state == BatchState::Paused && !idle {
            return Err(OpsError::refused(format!(
                "{} is paused: {}",
                batch.name, batch.paused_because
            ))
            .hint(format!("ittsu resume {}", batch.name)));
        }
        let start = StartWish {
            batch: request.batch.clone(),
            confirm: None,
            at: None,
            leave_unbuildable: None,
            built: Built::JustNow,
        };
        let start = self.start(start, by).await?;
        Ok(Prepared { id: batch.id, import: imported.body.clone(), imported, start })
    }
}

/// Names the number of all people of the batch where the import names that of the new ones.
fn in_all(err: OpsError, batch: &Batch, total: u64) -> OpsError {
    let super::error::Trouble::Unconfirmed { found } = err.trouble else { return err };
    let all = total + found;
    let message = format!(
        "{found} people came to the source of {} since it was started, {all} in all",
        batch.name
    );
    OpsError::unconfirmed(all, message)
}
