//! Batches by name.

use super::Ops;
use super::error::OpsError;
use crate::domain::id::BatchId;
use crate::domain::name::BatchName;
use crate::ledger::batches::Batch;

impl Ops {
    /// Returns the batch of that name.
    pub async fn batch(&self, name: &BatchName) -> Result<Batch, OpsError> {
        match self.ledger.find_batch(name.as_str()).await? {
            Some(batch) => Ok(batch),
            None => Err(self.no_such_batch(name).await),
        }
    }

    /// Returns the number of the batch, if one is named at all.
    pub async fn batch_id(&self, name: Option<&BatchName>) -> Result<Option<BatchId>, OpsError> {
        match name {
            Some(name) => Ok(Some(self.batch(name).await?.id)),
            None => Ok(None),
        }
    }

    async fn no_such_batch(&self, name: &BatchName) -> OpsError {
        let err = OpsError::missing(format!("there is no batch `{name}`"));
        let Ok(batches) = self.ledger.batches().await else { return err };
        let near = batches
            .iter()
            .map(|batch| (strsim::damerau_levenshtein(name.as_str(), &batch.name), &batch.name))
            .filter(|(distance, _)| *distance <= 3)
            .min();
        match near {
            Some((_, near)) => err.hint(format!("did you mean `{near}`?")),
            None => err.hint("`ittsu status` lists the batches"),
        }
    }
}
