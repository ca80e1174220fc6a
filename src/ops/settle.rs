//! What a person decides about rows: sent, failed, once more, and back again.

use super::Ops;
use super::action::Action;
use super::document::{Change, WhyLeft};
use super::error::OpsError;
use super::when;
use super::words::thousands;
use crate::domain::address::Address;
use crate::domain::id::{Attempt, JournalId};
use crate::domain::name::BatchName;
use crate::domain::plan::{Act, Left};
use crate::domain::selection::Selection;
use crate::ledger::journal::By;
use crate::ledger::settle::{Attempts, LeftAlone, NewAddress, SettleRequest, Settled};
use crate::ledger::{LedgerError, Refused};

/// A decision about rows of a batch.
#[derive(Clone, Debug)]
pub struct Decision {
    pub batch: BatchName,
    pub which: Selection,
    pub act: Act,
    /// Where the one row's mail goes from now on.
    pub to: Option<String>,
    /// The selection in the words of the command line, for the journal.
    pub words: String,
}

/// Whether the decision is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only counts.
    DryRun,
    /// Does it if that many rows change; none: asks for the number.
    Confirmed(Option<u64>),
}

/// What became of the decision, and what people should know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub change: Change,
    /// What the change means for the people behind the rows, in sentences.
    pub consequences: Vec<String>,
}

impl Ops {
    /// Marks rows or sends them again, if as many change as were confirmed.
    ///
    /// Rows of workers that are proved dead are swept first: nobody should decide about a row that
    /// is only seemingly being sent.
    pub async fn settle(
        &self,
        decision: Decision,
        mode: Mode,
        by: By,
    ) -> Result<Decided, OpsError> {
        let batch = self.batch(&decision.batch).await?;
        self.sweep_gone().await?;
        let act = decision.act;
        let mut request = SettleRequest {
            batch: batch.id,
            selection: decision.which,
            act,
            to: decision.to.as_deref().map(new_address).transpose()?,
            confirm: 0,
            words: decision.words,
        };
        let settled = match mode {
            Mode::Confirmed(Some(confirm)) => {
                request.confirm = i64::try_from(confirm).unwrap_or(i64::MAX);
                self.ledger.settle(request, by, self.now()).await?
            }
            Mode::DryRun | Mode::Confirmed(None) => {
                let planned = self.ledger.settle_plan(&request, self.now()).await?;
                if mode != Mode::DryRun && planned.changed > 0 {
                    return Err(unconfirmed(act, &planned, &batch.name));
                }
                planned
            }
        };
        let change = self.changed(Some(&batch.name), &settled);
        Ok(Decided { consequences: consequences(act, &settled), change })
    }

    /// Decides about rows as they were shown: whatever moved on since is left alone, and counted.
    ///
    /// `most` is the number that was confirmed. Fewer may change, because rows were decided, sent
    /// or tried again meanwhile; never others, and never more.
    pub async fn settle_seen(
        &self,
        decision: Decision,
        seen: &[(String, i64)],
        most: u64,
        by: By,
    ) -> Result<Decided, OpsError> {
        let batch = self.batch(&decision.batch).await?;
        self.sweep_gone().await?;
        let act = decision.act;
        let seen: Attempts = seen.iter().map(|(key, n)| (key.clone(), Attempt(*n))).collect();
        let mut request = SettleRequest {
            batch: batch.id,
            selection: decision.which,
            act,
            to: None,
            confirm: 0,
            words: decision.words,
        };
        let mut tries = 0;
        let settled = loop {
            let planned = self.ledger.settle_seen_plan(&request, &seen, self.now()).await?;
            if planned.changed > i64::try_from(most).unwrap_or(i64::MAX) {
                return Err(OpsError::refused(format!(
                    "{} rows would change now, but {most} were confirmed",
                    planned.changed
                ))
                .hint("nothing was changed; look again"));
            }
            request.confirm = planned.changed;
            let done = self
                .ledger
                .settle_seen(request.clone(), seen.clone(), by.clone(), self.now())
                .await;
            match done {
                // A row moved between the look and the deed: look again.
                Err(LedgerError::Refused(Refused::CountDiffers { .. })) if tries < 3 => tries += 1,
                done => break done?,
            }
        };
        let mut change = self.changed(Some(&batch.name), &settled);
        // Rows that the selection no longer meets have moved on as well.
        let gone = most.saturating_sub(change.matched);
        if gone > 0 {
            change.matched += gone;
            change.left += gone;
            change.why_left.push(WhyLeft { why: "decided meanwhile".to_owned(), rows: gone });
        }
        Ok(Decided { consequences: consequences(act, &settled), change })
    }

    /// Takes a mark or a resend back for the rows that have not moved since.
    pub async fn undo(&self, entry: i64, by: By) -> Result<Change, OpsError> {
        let settled = self.ledger.undo(JournalId(entry), by, self.now()).await?;
        Ok(self.changed(None, &settled))
    }

    fn changed(&self, batch: Option<&str>, settled: &Settled) -> Change {
        let left = settled.matched - settled.changed;
        Change {
            batch: batch.map(str::to_owned),
            matched: count(settled.matched),
            changed: count(settled.changed),
            left: count(left),
            why_left: settled.left.iter().map(|left| self.why_left(left)).collect(),
            journal: settled.journal.map(|journal| journal.0),
            ..Change::default()
        }
    }

    fn why_left(&self, left: &LeftAlone) -> WhyLeft {
        let mut why = match left.why {
            Left::BeingSent => "being sent",
            Left::AlreadySent => "already sent",
            Left::AlreadyFailed => "already failed",
            Left::AlreadyReady => "already waiting",
            Left::Accepted => "accepted by the server",
            Left::ByHand => "marked sent by hand; undo takes that back",
            Left::CountsAsSent => "counts as sent; --another-copy sends it again",
            Left::BatchCancelled => "the batch is cancelled",
            Left::Moved => "moved since",
        }
        .to_owned();
        if let Some((who, at)) = &left.by {
            let at = when::minute(*at, &self.settings.timezone);
            why = format!("{why}, changed by {who} at {at}");
        }
        if left.rows == 1 {
            why = format!("{why} ({})", left.key);
        }
        WhyLeft { why, rows: count(left.rows) }
    }
}

/// Returns the action that a decision is, for help and palette.
pub const fn action(act: Act) -> Action {
    match act {
        Act::MarkSent => Action::MarkSent,
        Act::MarkFailed => Action::MarkFailed,
        Act::Resend => Action::Resend,
        Act::AnotherCopy => Action::AnotherCopy,
    }
}

fn count(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

fn new_address(text: &str) -> Result<NewAddress, OpsError> {
    let (address, _) = Address::parse(text)
        .map_err(|err| OpsError::usage(format!("`{text}` is no address")).because(err))?;
    Ok(NewAddress { as_written: address.as_written(), compare_form: address.compare_form() })
}

fn unconfirmed(act: Act, planned: &Settled, batch: &str) -> OpsError {
    let n = thousands(planned.changed);
    let what = match act {
        Act::MarkSent => format!("{n} rows of {batch} would count as sent"),
        Act::MarkFailed => format!("{n} rows of {batch} would count as failed"),
        Act::Resend => format!("{n} rows of {batch} would be sent again"),
        Act::AnotherCopy => format!("{n} rows of {batch} would be sent as another copy"),
    };
    let more = consequences(act, planned);
    let what = std::iter::once(what).chain(more).collect::<Vec<_>>().join(". ");
    OpsError::unconfirmed(count(planned.changed), what.trim_end_matches('.'))
}

/// Says what the change means for the people behind the rows.
fn consequences(act: Act, settled: &Settled) -> Vec<String> {
    if settled.changed == 0 {
        return Vec::new();
    }
    let twice = thousands(settled.maybe_twice);
    let said = match act {
        Act::Resend if settled.maybe_twice == 0 => {
            "They go out again. Possible doubles: 0.".to_owned()
        }
        Act::Resend => format!("They go out again. Possible doubles: {twice}."),
        Act::AnotherCopy => "Each of them gets another copy.".to_owned(),
        Act::MarkFailed if settled.maybe_delivered > 0 => {
            "They count as failed. Some may already have it.".to_owned()
        }
        Act::MarkFailed => "They count as failed.".to_owned(),
        Act::MarkSent => {
            "They count as sent by hand. If they did not go out, nobody will send them.".to_owned()
        }
    };
    vec![said]
}
