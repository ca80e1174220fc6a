//! People from a source into a batch, with every message really built.
//!
//! Promise: a source with a fault that concerns everybody (no such column, an unknown placeholder,
//! a character set nobody can be sure of) changes nothing; faults of single lines are listed, and
//! the good lines go in.
//! Start reading at `Ops::import`, then `check`.

mod body;
mod check;
mod open;
mod spool;

pub use self::body::{AdoptedBody, ElsewhereBody, FindingBody, ImportBody, OldBody};
pub use self::open::Opened;
pub use crate::ledger::load::Existing;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use self::body::{elsewhere_body, finding_body, old_body};
use self::check::{Checked, Checking, Judged};
use super::Ops;
use super::error::OpsError;
use super::kind::{Present, default_message};
use super::source::SourceName;
use super::template_file;
use crate::domain::batch::Wanted;
use crate::domain::name::BatchName;
use crate::domain::state::State;
use crate::intake::{Finding, Findings, Head};
use crate::ledger::batches::change::Changes;
use crate::ledger::batches::{Batch, Made, Message, NewBatch};
use crate::ledger::journal::By;
use crate::ledger::load::{Load, LoadRequest, LoadSums, Writes};

/// An import as it was asked for.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    pub kind: String,
    pub batch: BatchName,
    pub from: SourceName,
    pub except: Vec<SourceName>,
    /// The batch's own message; none: the kind's.
    pub template: Option<PathBuf>,
    pub title: Option<String>,
    pub reading: HowToRead,
    pub existing: Existing,
    pub mode: Mode,
}

/// What is known about how the source is written.
#[derive(Clone, Debug, Default)]
pub struct HowToRead {
    pub map: Vec<(String, String)>,
    /// What an older system's words for the state of a mail mean here.
    pub map_state: Vec<(String, State)>,
    pub encoding: Option<String>,
    pub delimiter: Option<char>,
    pub sheet: Option<String>,
    pub params: Vec<(String, String)>,
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Reads, checks and counts.
    DryRun,
    /// Into a batch that was started only if so many rows are new.
    Write { confirm: Option<u64> },
}

/// What an import did, and what the caller can rely on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub body: ImportBody,
    /// Every row that is ready was built by this import, with the message the batch has.
    pub all_built: bool,
    /// What is worth saying aloud.
    pub notes: Vec<String>,
}

/// What happens while an import runs.
#[derive(Clone, Debug)]
pub enum Step {
    /// The source was opened and understood; nothing is written yet.
    Opened(Opened),
    Read(i64),
}

/// Hears what happens; must be quick.
pub type Watch<'a> = &'a (dyn Fn(Step) + Send + Sync);

impl Ops {
    /// Reads people into a batch, or counts what that would do.
    pub async fn import(
        &self,
        request: &ImportRequest,
        by: By,
        watch: Watch<'_>,
    ) -> Result<Imported, OpsError> {
        let kind = self.kind(&request.kind)?;
        let there = self.ledger.find_batch(request.batch.as_str()).await?;
        if let Some(batch) = &there {
            fits(batch, &kind)?;
        }
        let plan = self.plan(request, &kind, there.as_ref()).await?;
        let started = there.as_ref().is_some_and(|batch| batch.wanted != Wanted::Draft);
        match request.mode {
            Mode::DryRun => self.run(request, &plan, Writes::Nothing, by, watch).await,
            Mode::Write { .. } if !started => {
                self.run(request, &plan, Writes::Everything, by, watch).await
            }
            Mode::Write { confirm } => {
                self.add_to_started(request, &plan, confirm, by, watch).await
            }
        }
    }

    /// Adds people to a batch that was started: first counts, then adds as many as were confirmed.
    async fn add_to_started(
        &self,
        request: &ImportRequest,
        plan: &Plan,
        confirm: Option<u64>,
        by: By,
        watch: Watch<'_>,
    ) -> Result<Imported, OpsError> {
        // Standard input can be read only once, and it is read twice here.
        let spooled = spool::stdin_if_needed(&request.from, &self.state_dir)?;
        let from = spooled.as_ref().map_or(&request.from, |spooled| &spooled.source);
        let request = ImportRequest { from: from.clone(), ..request.clone() };
        let mut counted = self.run(&request, plan, Writes::Nothing, by.clone(), watch).await?;
        let (new, name) = (counted.body.new, &request.batch);
        let replaces = request.existing == Existing::Replace && counted.body.changed > 0;
        if new == 0 && counted.body.adopted.total() == 0 && !replaces {
            counted.body.dry_run = false;
            return Ok(counted);
        }
        let found = u64::try_from(new).unwrap_or(0);
        match confirm {
            None if new > 0 => Err(OpsError::unconfirmed(
                found,
                format!("{name} was started, and {found} people would be added to it"),
            )),
            Some(confirmed) if confirmed != found => Err(OpsError::refused(format!(
                "{found} people would be added to {name}, but {confirmed} were confirmed"
            ))
            .hint("nothing was changed")),
            _ => self.run(&request, plan, Writes::UpTo(new), by, watch).await,
        }
    }

    /// Reads the source once, to the end.
    async fn run(
        &self,
        request: &ImportRequest,
        plan: &Plan,
        writes: Writes,
        by: By,
        watch: Watch<'_>,
    ) -> Result<Imported, OpsError> {
        let reader = self.open_source(&request.from, &request.reading).await?;
        watch(Step::Opened(Opened::of(&reader.head)));
        let exceptions = self.exceptions(&request.except, &request.reading).await?;
        let Head { columns, charset, name: source, notes, mapping, .. } = reader.head.clone();
        let says_state = columns.iter().any(|name| name.eq_ignore_ascii_case("state"));
        let encoding = charset.map(|charset| charset.name);
        let mut checking = Checking::start(self, plan, reader, exceptions);
        let first = checking.next().await?;
        // Nothing is made or written before the first lines could really be built.
        check::refuse_unknown_placeholder(&first, &columns)?;
        if first.is_empty() && plan.is_empty {
            return Err(OpsError::failed(format!("{source} names nobody; nothing was imported")));
        }
        let mut load = self.load(request, plan, &source, writes, by.clone()).await?;
        let mut tally = Tally::of(notes);
        tally.passes_state_over = says_state && mapping.past.is_none();
        let mut chunk = first;
        while !chunk.is_empty() {
            for line in chunk {
                tally.take(&mut load, line).await?;
            }
            watch(Step::Read(load.read()));
            chunk = checking.next().await?;
        }
        let sums = load.finish().await?;
        Ok(tally.finish(request, plan, writes, &sums, encoding))
    }

    async fn load(
        &self,
        request: &ImportRequest,
        plan: &Plan,
        source: &str,
        writes: Writes,
        by: By,
    ) -> Result<Load, OpsError> {
        let new = NewBatch {
            name: request.batch.clone(),
            kind: request.kind.clone(),
            title: request.title.clone().unwrap_or_else(|| request.batch.to_string()),
            frozen: plan.frozen.clone(),
            message: plan.message.clone(),
            source: source.to_owned(),
        };
        let now = self.now();
        let id = match (&plan.there, writes) {
            (Some(batch), _) => {
                if writes != Writes::Nothing {
                    self.renew(request, plan, batch, by.clone()).await?;
                }
                batch.id
            }
            (None, Writes::Nothing) => {
                return Ok(self.ledger.load_unmade(&new, source, by, now).await?);
            }
            (None, _) => match self.ledger.create_draft(new, now).await? {
                Made::New(batch) | Made::Already(batch) => batch.id,
            },
        };
        let source = source.to_owned();
        let load = LoadRequest { batch: id, source, existing: request.existing, writes };
        Ok(self.ledger.load(load, by, now).await?)
    }

    /// Gives a batch that is there already the title and the message that were named.
    async fn renew(
        &self,
        request: &ImportRequest,
        plan: &Plan,
        batch: &Batch,
        by: By,
    ) -> Result<(), OpsError> {
        let message = request.template.as_ref().map(|_| plan.message.clone());
        let changes = Changes { title: request.title.clone(), message, ..Changes::default() };
        if changes.title.is_some() || changes.message.is_some() {
            self.ledger.change(batch.id, changes, by, self.now()).await?;
        }
        Ok(())
    }

    /// Finds out what the messages are built from.
    async fn plan(
        &self,
        request: &ImportRequest,
        kind: &Present<'_>,
        there: Option<&Batch>,
    ) -> Result<Plan, OpsError> {
        let named = match &request.template {
            Some(path) => {
                let file = template_file::read(path)?;
                Some(Message { text: file.text, html: file.html })
            }
            None => None,
        };
        let default = default_message(kind.kind);
        let (message, stale, is_empty) = match (named, there) {
            (Some(message), Some(batch)) => (message, false, self.is_empty(batch).await?),
            (Some(message), None) => (message, false, true),
            (None, Some(batch)) => {
                let kept = self.ledger.message(batch.id, batch.template_version).await?;
                let stale = default.is_ok_and(|file| file.is_some_and(|file| file != kept));
                (kept, stale, self.is_empty(batch).await?)
            }
            (None, None) => {
                let Some(message) = default? else {
                    let message = format!("the kind `{}` has no template", kind.name);
                    return Err(OpsError::usage(message)
                        .hint("give --template FILE, or name one in the configuration"));
                };
                (message, false, true)
            }
        };
        let frozen = match there {
            Some(batch) => batch.frozen.clone(),
            None => kind.frozen.clone(),
        };
        let dkim = super::kind::signer(kind.kind)?;
        let request = self.request_body(&frozen.via)?;
        let builder = Arc::new(super::kind::builder(&frozen.from, &message, dkim, request)?);
        Ok(Plan { there: there.cloned(), frozen, message, builder, stale, is_empty })
    }

    async fn is_empty(&self, batch: &Batch) -> Result<bool, OpsError> {
        let status = self.ledger.status(Some(batch.id), self.now()).await?;
        Ok(status.batches.iter().all(|batch| batch.counts.total() == 0))
    }
}

/// What an import works with, before the source is read.
#[derive(Clone, Debug)]
struct Plan {
    there: Option<Batch>,
    frozen: crate::ledger::batches::Frozen,
    message: Message,
    builder: Arc<super::kind::Builder>,
    /// The kind's template file is not what the batch keeps.
    stale: bool,
    /// The batch has no rows yet.
    is_empty: bool,
}

fn fits(batch: &Batch, kind: &Present<'_>) -> Result<(), OpsError> {
    if batch.kind != kind.name {
        return Err(OpsError::usage(format!(
            "`{}` is a batch of the kind `{}`",
            batch.name, batch.kind
        )));
    }
    if batch.wanted == Wanted::Cancelled {
        return Err(OpsError::refused(format!("`{}` is cancelled", batch.name)));
    }
    Ok(())
}

/// What the lines came to so far.
#[derive(Debug, Default)]
struct Tally {
    findings: Findings,
    excepted: i64,
    unbuildable: i64,
    /// A column that could be an older system's record is read like any other.
    passes_state_over: bool,
    /// Lines by the older system's word for them and what that is here.
    old: BTreeMap<(State, String), i64>,
}

impl Tally {
    fn of(notes: Vec<Finding>) -> Self {
        let mut tally = Self::default();
        for note in notes {
            tally.findings.push(note);
        }
        tally
    }

    /// Hands one checked line to the ledger.
    async fn take(&mut self, load: &mut Load, line: Judged) -> Result<(), OpsError> {
        if let Some((word, state)) = line.word {
            *self.old.entry((state, word)).or_default() += 1;
        }
        match line.what {
            Checked::Good(row) | Checked::Settled(row) => load.push(row).await?,
            Checked::Unbuildable(row, finding, _) => {
                self.unbuildable += 1;
                self.findings.push(finding);
                load.push(row).await?;
            }
            Checked::Excepted(line) => {
                self.excepted += 1;
                load.leave_out(line).await?;
            }
            Checked::Rejected(line, finding) => {
                self.findings.push(finding);
                load.leave_out(line).await?;
            }
        }
        Ok(())
    }

    fn finish(
        self,
        request: &ImportRequest,
        plan: &Plan,
        writes: Writes,
        sums: &LoadSums,
        encoding: Option<String>,
    ) -> Imported {
        let mut notes = Vec::new();
        if plan.stale {
            notes.push(format!(
                "The kind's template is not what {} has; its own message stays. To change it: \
                 ittsu change {} --template FILE --reason TEXT",
                request.batch, request.batch
            ));
        }
        if self.passes_state_over {
            notes.push(
                "The column `state` is read like any other: its words are no states. If it says \
                 what became of each mail, name them: --map-state WORD=sent"
                    .to_owned(),
            );
        }
        let findings = self.findings;
        let body = ImportBody {
            batch: request.batch.to_string(),
            read: sums.read,
            new: sums.new,
            adopted: sums.adopted.into(),
            old: self.old.iter().map(old_body).collect(),
            settled_meanwhile: sums.settled_meanwhile,
            already: sums.already,
            elsewhere: sums.elsewhere,
            changed: sums.changed,
            replaced: sums.replaced,
            gone: sums.gone,
            rejected: sums.rejected - self.excepted,
            suppressed: sums.suppressed,
            excepted: self.excepted,
            duplicates: sums.duplicates,
            same_address: sums.same_address,
            taken_over: sums.taken_over,
            unbuildable: self.unbuildable,
            encoding,
            findings: findings.kept.iter().map(finding_body).collect(),
            findings_left_out: findings.left_out,
            open_elsewhere: sums.open_elsewhere.iter().map(elsewhere_body).collect(),
            dry_run: writes == Writes::Nothing,
        };
        // A row that was there before with other contents was not built from what is stored.
        let all_built = writes == Writes::Everything
            && self.unbuildable == 0
            && sums.gone == 0
            && sums.changed == sums.replaced;
        Imported { body, all_built, notes }
    }
}
