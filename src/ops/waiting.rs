//! The messages of every row that waits, really built before anything is promised.

use std::num::NonZero;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};

use super::Ops;
use super::error::OpsError;
use super::kind::Builder;
use super::preview::{any_stamp, build_row};
use crate::domain::selection::Selection;
use crate::domain::state::State;
use crate::ledger::batches::Batch;
use crate::ledger::rows::{After, RowView};

/// What building the waiting messages came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub built: u64,
    pub unbuildable: u64,
    /// Some of those, for a person: key and reason.
    pub examples: Vec<(String, String)>,
    /// None of the first twenty could be built.
    pub hopeless: bool,
}

/// Rows built together.
const PAGE: i64 = 2_000;
/// Rows that are named.
const EXAMPLES: usize = 5;
/// If none of so many can be built, it is the template and not the rows.
const FIRST: u64 = 20;

impl Ops {
    /// Builds the message of every ready row of a batch.
    pub async fn build_waiting(
        &self,
        batch: &Batch,
        builder: &Arc<Builder>,
    ) -> Result<Waiting, OpsError> {
        let which = Selection { state: Some(State::Ready), ..Selection::default() };
        let stamp = any_stamp(builder.sender.domain(), self.now());
        let ahead = std::thread::available_parallelism().map_or(1, NonZero::get) + 1;
        let pages = stream::unfold(Some(After::Start), |after| async {
            let after = after?;
            let page = self.ledger.rows(batch.id, &which, after, PAGE, self.now()).await;
            match page {
                Ok(page) => {
                    let next = page.rows.last().map(|last| After::Row(last.id))?;
                    Some((Ok(page.rows), Some(next)))
                }
                Err(err) => Some((Err(OpsError::from(err)), None)),
            }
        });
        let mut built = Box::pin(
            pages
                .map(|rows: Result<Vec<RowView>, OpsError>| {
                    let (builder, stamp) = (Arc::clone(builder), stamp.clone());
                    async move {
                        let rows = rows?;
                        let build = move |row: RowView| {
                            let err = build_row(&builder, &row, &stamp).err();
                            (row.key, err.map(|err| err.to_string()))
                        };
                        let work = move || rows.into_iter().map(build).collect::<Vec<_>>();
                        tokio::task::spawn_blocking(work).await.map_err(|err| {
                            OpsError::failed("a message could not be built").because(err)
                        })
                    }
                })
                .buffered(ahead),
        );
        let mut waiting = Waiting::default();
        while let Some(rows) = built.next().await {
            rows?.into_iter().for_each(|(key, err)| waiting.add(key, err));
        }
        waiting.hopeless |= waiting.built == 0 && waiting.unbuildable > 0;
        Ok(waiting)
    }
}

impl Waiting {
    fn add(&mut self, key: String, err: Option<String>) {
        let Some(err) = err else {
            self.built += 1;
            return;
        };
        self.unbuildable += 1;
        self.hopeless |= self.built == 0 && self.unbuildable == FIRST;
        if self.examples.len() < EXAMPLES {
            self.examples.push((key, err));
        }
    }

    /// Refuses a message that some waiting row cannot be built from.
    pub fn refuse_change(&self, batch: &str) -> Result<(), OpsError> {
        let Some((key, why)) = self.examples.first() else { return Ok(()) };
        Err(OpsError::refused(format!(
            "with that template {} messages of {batch} cannot be built, the first for {key}: {why}",
            self.unbuildable
        ))
        .hint("nothing was changed"))
    }

    /// Refuses what must not go on while so many messages cannot be built.
    pub fn refuse(&self, batch: &str, leave: Option<u64>) -> Result<(), OpsError> {
        let n = self.unbuildable;
        if self.hopeless {
            let (_, why) = self.examples.first().cloned().unwrap_or_default();
            return Err(OpsError::refused(format!("no message of {batch} can be built: {why}"))
                .hint(format!("ittsu change {batch} --template FILE --reason TEXT")));
        }
        match leave {
            _ if n == 0 => Ok(()),
            Some(leave) if leave == n => Ok(()),
            Some(leave) => Err(OpsError::refused(format!(
                "{n} messages of {batch} cannot be built, but {leave} were to be left"
            ))),
            None => {
                let named = self.examples.iter().map(|(key, why)| format!("{key}: {why}"));
                let named = named.collect::<Vec<_>>().join("; ");
                Err(OpsError::refused(format!("{n} messages of {batch} cannot be built: {named}"))
                    .hint(format!("correct them, or leave them out: --leave-unbuildable {n}")))
            }
        }
    }
}
