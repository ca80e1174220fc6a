//! Changing a batch: its speed and time whenever, its message and policy while nothing is sent.

use std::path::PathBuf;
use std::sync::Arc;

use super::Ops;
use super::document::Change;
use super::error::OpsError;
use super::kind;
use super::template_file;
use crate::domain::name::BatchName;
use crate::domain::policy::OnUnknown;
use crate::domain::rate::Rate;
use crate::domain::time::Timestamp;
use crate::ledger::batches::change::Changes;
use crate::ledger::batches::{Frozen, Message};
use crate::ledger::journal::By;

/// What is to be another way; everything that is none stays.
#[derive(Clone, Debug, Default)]
pub struct ChangeWish {
    pub rate: Option<Rate>,
    pub connections: Option<u32>,
    pub at: Option<Timestamp>,
    pub template: Option<PathBuf>,
    pub on_unknown: Option<OnUnknown>,
}

impl Ops {
    /// Changes a batch; a new message is built for every waiting row first.
    pub async fn change(
        &self,
        name: &BatchName,
        wish: ChangeWish,
        by: By,
    ) -> Result<Change, OpsError> {
        self.refuse_past(wish.at)?;
        let batch = self.batch(name).await?;
        let message = match &wish.template {
            None => None,
            Some(path) => {
                let file = template_file::read(path)?;
                let message = Message { text: file.text, html: file.html };
                let signer = match self.settings.kinds.get(&batch.kind) {
                    Some(kind) => kind::signer(kind)?,
                    None => None,
                };
                let request = self.request_body(&batch.frozen.via)?;
                let from = &batch.frozen.from;
                let builder = Arc::new(kind::builder(from, &message, signer, request)?);
                self.build_waiting(&batch, &builder).await?.refuse_change(&batch.name)?;
                Some(message)
            }
        };
        let frozen = wish.on_unknown.filter(|&on_unknown| on_unknown != batch.frozen.on_unknown);
        let changes = Changes {
            rate: wish.rate.map(|rate| rate.to_string()),
            connections: wish.connections.map(i64::from),
            at: wish.at,
            title: None,
            message,
            frozen: frozen.map(|on_unknown| Frozen { on_unknown, ..batch.frozen.clone() }),
        };
        let after = self.ledger.change(batch.id, changes, by, self.now()).await?;
        let rows = u64::from(after != batch);
        Ok(Change { batch: Some(batch.name), matched: 1, changed: rows, ..Change::default() })
    }
}
