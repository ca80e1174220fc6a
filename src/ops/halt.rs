//! Pausing, resuming, cancelling and discarding.

use super::Ops;
use super::document::{Change, WhyLeft};
use super::error::OpsError;
use super::kind;
use crate::domain::name::BatchName;
use crate::ledger::batches::cancel::Cancelled;
use crate::ledger::batches::pause::{Halted, Reach, Refresh};
use crate::ledger::journal::By;

/// What is to be paused or resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whole {
    Batches(Vec<BatchName>),
    Kind(String),
    Everything,
}

/// Whether a resumed batch keeps what it froze or takes the present message and settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Frozen,
    Present,
}

impl Ops {
    /// Stops sending between messages; those on the wire finish.
    pub async fn pause(&self, whole: &Whole, by: &By) -> Result<Change, OpsError> {
        let mut change = Change::default();
        for reach in self.reaches(whole).await? {
            let halted = self.ledger.pause(reach, by.clone(), self.now()).await?;
            add(&mut change, halted);
        }
        Ok(named(change, whole))
    }

    /// Lets what was paused go on.
    pub async fn resume(&self, whole: &Whole, keep: Keep, by: &By) -> Result<Change, OpsError> {
        let mut change = Change::default();
        for reach in self.reaches(whole).await? {
            let halted = match (&reach, keep) {
                (Reach::Batch(id), Keep::Present) => {
                    let batch = self.ledger.batch_by_id(*id).await?;
                    let frozen = self.kind(&batch.kind)?.frozen;
                    let message = kind::default_message(self.kind(&batch.kind)?.kind)?;
                    let refresh = Refresh { frozen, message };
                    self.ledger.resume_refreshed(*id, refresh, by.clone(), self.now()).await?
                }
                _ => self.ledger.resume(reach, by.clone(), self.now()).await?,
            };
            add(&mut change, halted);
        }
        Ok(named(change, whole))
    }

    /// Ends a batch for good: what waits is never sent from it.
    pub async fn cancel(
        &self,
        name: &BatchName,
        confirm: Option<u64>,
        by: By,
    ) -> Result<Change, OpsError> {
        let batch = self.batch(name).await?;
        let confirm = confirm.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let change = Change { batch: Some(batch.name), ..Change::default() };
        match self.ledger.cancel(batch.id, confirm, by, self.now()).await {
            Ok(Cancelled::Now { rows }) => {
                let rows = u64::try_from(rows).unwrap_or(0);
                Ok(Change { matched: rows, changed: rows, ..change })
            }
            Ok(Cancelled::NothingToDo) => Ok(change),
            Err(err) => {
                let err = OpsError::from(err);
                Err(match err.trouble {
                    super::error::Trouble::Unconfirmed { found } => OpsError::unconfirmed(
                        found,
                        format!("Cancelling {name} is final: {found} rows will never be sent"),
                    ),
                    _ => err,
                })
            }
        }
    }

    /// Deletes a draft in which nothing was attempted.
    pub async fn discard(&self, name: &BatchName, by: By) -> Result<Change, OpsError> {
        let batch = self.batch(name).await?;
        let rows = self.ledger.discard(batch.id, by, self.now()).await?;
        let rows = u64::try_from(rows).unwrap_or(0);
        Ok(Change { batch: Some(batch.name), matched: rows, changed: rows, ..Change::default() })
    }

    async fn reaches(&self, whole: &Whole) -> Result<Vec<Reach>, OpsError> {
        match whole {
            Whole::Everything => Ok(vec![Reach::Everything]),
            Whole::Kind(kind) => {
                self.kind(kind)?;
                Ok(vec![Reach::Kind(kind.clone())])
            }
            Whole::Batches(names) => {
                // All names are looked up before the first one changes.
                let mut reaches = Vec::with_capacity(names.len());
                for name in names {
                    reaches.push(Reach::Batch(self.batch(name).await?.id));
                }
                Ok(reaches)
            }
        }
    }
}

fn add(change: &mut Change, halted: Halted) {
    let changed = halted.changed.len() as u64;
    change.changed += changed;
    change.left += halted.left.len() as u64;
    change.matched += changed + halted.left.len() as u64;
    for (name, state) in halted.left {
        change.why_left.push(WhyLeft { why: format!("{name} is {state}"), rows: 1 });
    }
    change.batches.extend(halted.changed);
}

fn named(mut change: Change, whole: &Whole) -> Change {
    if let Whole::Batches(names) = whole
        && let [name] = names.as_slice()
    {
        change.batch = Some(name.to_string());
    }
    change
}
