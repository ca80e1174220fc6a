//! Queue jobs that could not become a row: looked at, tried again, dropped.

use serde::Serialize;

use super::Ops;
use super::action::Action;
use super::document::Change;
use super::error::OpsError;
use super::queue::Intake;
use super::when;
use crate::domain::text::{lenient, visible};
use crate::ledger::journal::By;
use crate::ledger::rejects::Reject;

/// `ittsu/rejects/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RejectsBody {
    pub rejects: Vec<RejectBody>,
}

/// One rejected job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RejectBody {
    pub id: i64,
    pub kind: String,
    /// The key it named; empty if it could not be read.
    pub key: String,
    pub why: String,
    pub times: i64,
    pub first_at: String,
    pub last_at: String,
    /// The job as it came, with what is no text written out.
    pub job: String,
}

/// Which rejected jobs are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    These(Vec<i64>),
    /// All, or all of one kind.
    All(Option<String>),
}

impl Ops {
    /// Lists rejected jobs.
    pub async fn rejects(&self, kind: Option<&str>) -> Result<RejectsBody, OpsError> {
        let rejects = self.ledger.rejects(kind).await?;
        Ok(RejectsBody { rejects: rejects.iter().map(|reject| self.reject_body(reject)).collect() })
    }

    /// Returns one rejected job.
    pub async fn reject(&self, id: i64) -> Result<RejectBody, OpsError> {
        let rejects = self.meant(&Which::These(vec![id])).await?;
        rejects
            .first()
            .map(|reject| self.reject_body(reject))
            .ok_or_else(|| OpsError::missing(format!("there is no rejected job {id}")))
    }

    /// Takes rejected jobs in once more; those that become rows, or have one, leave the list.
    pub async fn retry_rejects(&self, which: &Which, by: By) -> Result<Change, OpsError> {
        let rejects = self.meant(which).await?;
        let mut done = Vec::new();
        for reject in &rejects {
            let intake = Intake::of(self, &reject.kind)?;
            let sums = intake.take_in(&[reject.payload.as_slice()]).await.map_err(|err| {
                OpsError::away("the job cannot be taken in now").because(err.to_string())
            })?;
            if sums.rejected == 0 {
                done.push(reject.id);
            }
        }
        self.forget(rejects.len(), done, Action::RetryRejects.word(), by).await
    }

    /// Forgets rejected jobs; they stay in the journal.
    pub async fn drop_rejects(&self, which: &Which, by: By) -> Result<Change, OpsError> {
        let rejects = self.meant(which).await?;
        let ids = rejects.iter().map(|reject| reject.id).collect();
        self.forget(rejects.len(), ids, Action::DropRejects.word(), by).await
    }

    async fn forget(
        &self,
        matched: usize,
        ids: Vec<i64>,
        action: &'static str,
        by: By,
    ) -> Result<Change, OpsError> {
        let changed = self.ledger.forget_rejects(ids, action, by, self.now()).await?;
        let changed = changed.unsigned_abs();
        let matched = matched as u64;
        let left = matched.saturating_sub(changed);
        let why_left = match left {
            0 => Vec::new(),
            rows => {
                vec![super::document::WhyLeft { why: "still cannot become a row".into(), rows }]
            }
        };
        Ok(Change { matched, changed, left, why_left, ..Change::default() })
    }

    async fn meant(&self, which: &Which) -> Result<Vec<Reject>, OpsError> {
        match which {
            Which::All(kind) => Ok(self.ledger.rejects(kind.as_deref()).await?),
            Which::These(ids) => {
                let mut all = self.ledger.rejects(None).await?;
                all.retain(|reject| ids.contains(&reject.id));
                match ids.iter().find(|&&id| all.iter().all(|reject| reject.id != id)) {
                    Some(id) => Err(OpsError::missing(format!("there is no rejected job {id}"))
                        .hint("`ittsu rejects list` names them")),
                    None => Ok(all),
                }
            }
        }
    }

    fn reject_body(&self, reject: &Reject) -> RejectBody {
        let at = |at| when::rfc3339(at, &self.settings.timezone);
        RejectBody {
            id: reject.id,
            kind: reject.kind.clone(),
            key: reject.key.clone(),
            why: reject.why.clone(),
            times: reject.times,
            first_at: at(reject.first_at),
            last_at: at(reject.last_at),
            job: visible(&lenient(&reject.payload)).into_owned(),
        }
    }
}
