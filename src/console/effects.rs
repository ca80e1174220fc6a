//! Carries effects out, each in a task of its own that ends in one message.
//!
//! Promise: a deed is done through `ops` with exactly the plan it carries, and its end is always
//! told. Closing the console waits for deeds under way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::app::TAKE_BACK;
use super::message::{
    Answer, Ask, Checked, Deed, Fault, Group, Msg, NewSend, Outcome, ReportWish, Ticket,
};
use super::run::Tools;
use super::screen::batch::rows::PAGE;
use crate::domain::id::RecipientId;
use crate::domain::name::BatchName;
use crate::domain::plan::Act;
use crate::domain::selection::Selection;
use crate::domain::state::How;
use crate::ops::doctor::{DoctorBody, configuration};
use crate::ops::document::Change;
use crate::ops::error::OpsError;
use crate::ops::halt::{Keep, Whole};
use crate::ops::import::{Existing, HowToRead, ImportRequest, Mode, Step};
use crate::ops::preview::Which;
use crate::ops::settle::{Decision, Mode as Settling};
use crate::ops::start::{Built, StartWish};
use crate::ops::{Ops, by};
use crate::report::output::Output;
use crate::report::{self, Options};

/// Whoever carries effects out.
#[derive(Debug)]
pub(super) struct Doer {
    ops: Ops,
    operator: String,
    tools: Arc<Tools>,
    heard: mpsc::Sender<Msg>,
    questions: JoinSet<()>,
    deeds: JoinSet<()>,
}

impl Doer {
    pub(super) fn new(ops: Ops, operator: String, tools: Tools, heard: mpsc::Sender<Msg>) -> Self {
        let (tools, questions, deeds) = (Arc::new(tools), JoinSet::new(), JoinSet::new());
        Self { ops, operator, tools, heard, questions, deeds }
    }

    /// Asks a question; an older one of the same kind may still be under way.
    pub(super) fn ask(&mut self, ticket: Ticket, ask: Ask) {
        while self.questions.try_join_next().is_some() {}
        let (ops, heard) = (self.ops.clone(), self.heard.clone());
        self.questions.spawn(async move {
            let answer = Box::pin(answer(&ops, ask)).await.map_err(Fault::from);
            // Nobody listens only when the console has closed.
            drop(heard.send(Msg::Answer(ticket, answer)).await);
        });
    }

    /// Does a deed.
    pub(super) fn act(&mut self, deed: Box<Deed>) {
        while self.deeds.try_join_next().is_some() {}
        let (ops, heard) = (self.ops.clone(), self.heard.clone());
        let (operator, tools) = (self.operator.clone(), Arc::clone(&self.tools));
        self.deeds.spawn(async move {
            let same = deed.clone();
            // A thread of its own: building every message of a batch keeps one busy.
            let done = apart(&ops, move |ops| {
                Handle::current().block_on(Box::pin(act(&ops, &operator, &tools, &same)))
            });
            let done = done.await.map_err(Fault::from);
            drop(heard.send(Msg::Done(deed, done)).await);
        });
    }

    /// Waits for the deeds under way, at most so long; questions are given up.
    pub(super) async fn finish(mut self, at_most: Duration) {
        self.questions.abort_all();
        let all = async { while self.deeds.join_next().await.is_some() {} };
        // A change under way in the ledger ends by itself: its transaction has a task of its own.
        drop(tokio::time::timeout(at_most, all).await);
    }
}

async fn answer(ops: &Ops, ask: Ask) -> Result<Answer, OpsError> {
    Ok(match ask {
        Ask::Rows { batch, which, after } => {
            let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
            Answer::Rows(ops.row_page(&name(&batch)?, &which, after, limit).await?)
        }
        Ask::Causes { batch } => Answer::Causes(ops.causes(&name(&batch)?).await?),
        Ask::Timeline { batch } => Answer::Journal(ops.journal(Some(&name(&batch)?)).await?),
        Ask::Message { batch, key } => {
            let which = key.map_or(Which::First, Which::Key);
            Answer::Message(ops.preview(&name(&batch)?, &which).await?)
        }
        Ask::Row { batch, key } => Answer::Row(Box::new(ops.show(&name(&batch)?, &key).await?)),
        Ask::Unknown => Answer::Unknown(ops.unknown(None, Duration::ZERO).await?),
        Ask::ByRule { batches } => {
            let mut rows = Vec::new();
            let which = Selection { how: Some(How::Assumed), ..Selection::default() };
            for batch in batches {
                let page = ops.row_page(&name(&batch)?, &which, RecipientId(0), 200).await?;
                rows.extend(page.into_iter().map(|(_, row)| (batch.clone(), row)));
            }
            Answer::ByRule(rows)
        }
        Ask::Find(who) => Answer::Found(ops.find(&who).await?),
        Ask::Report(wish) => Answer::Report(apart(ops, move |ops| read_report(&ops, &wish)).await?),
        Ask::Journal => Answer::Journal(ops.journal(None).await?),
        Ask::Doctor => {
            let mut body = DoctorBody::default();
            configuration(&ops.settings, &mut body);
            ops.doctor(&mut body).await;
            Answer::Doctor(body)
        }
        Ask::Check(send) => {
            let checked = apart(ops, move |ops| import(&ops, &send, Mode::DryRun, "")).await?;
            Answer::Checked(Box::new(checked))
        }
    })
}

async fn act(ops: &Ops, operator: &str, tools: &Tools, deed: &Deed) -> Result<Outcome, OpsError> {
    let me = by(operator, None);
    let change = match deed {
        Deed::Pause { batch } | Deed::TakeBack { batch } => {
            ops.pause(&Whole::Batches(vec![name(batch)?]), &me).await?
        }
        Deed::Resume { batch } => {
            ops.resume(&Whole::Batches(vec![name(batch)?]), Keep::Frozen, &me).await?
        }
        Deed::Cancel { batch, count, reason } => {
            ops.cancel(&name(batch)?, Some(*count), by(operator, Some(reason))).await?
        }
        Deed::Discard { batch } => ops.discard(&name(batch)?, me).await?,
        Deed::Start { batch, count } => {
            let wish = StartWish {
                batch: name(batch)?,
                confirm: Some(*count),
                at: Some(ops.now() + TAKE_BACK),
                leave_unbuildable: None,
                built: Built::NotYet,
            };
            let body = ops.start(wish, me).await?;
            Change { matched: body.matched, changed: body.changed, ..Change::default() }
        }
        Deed::Settle { act, groups, reason } => settle(ops, *act, groups, operator, reason).await?,
        Deed::Undo { entry } => ops.undo(*entry, me).await?,
        Deed::StopWorker { id } => ops.stop_worker(*id, operator).await?,
        Deed::StartWorker => {
            let process = tools
                .start_worker()
                .map_err(|err| OpsError::failed("the worker could not be started").because(err))?;
            let change = Change { matched: 1, changed: 1, ..Change::default() };
            return Ok(Outcome { change, note: process.to_string() });
        }
        Deed::Test { batch, to, key } => {
            let body = ops.test(&name(batch)?, to, key.as_deref(), me).await?;
            let note = format!("{} {}", body.outcome, body.reply);
            return Ok(Outcome { change: Change::default(), note });
        }
        Deed::Read(send) => {
            let (send, operator) = (send.clone(), operator.to_owned());
            let mode = Mode::Write { confirm: None };
            let checked = apart(ops, move |ops| import(&ops, &send, mode, &operator)).await?;
            let new = u64::try_from(checked.body.new).unwrap_or(0);
            let batch = Some(checked.body.batch);
            Change { batch, matched: new, changed: new, ..Change::default() }
        }
        Deed::Save { wish, file } => {
            let (wish, file) = (wish.clone(), file.clone());
            let note = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
            apart(ops, move |ops| save(&ops, &wish, &file)).await?;
            let note = note.display().to_string();
            return Ok(Outcome { change: Change::default(), note });
        }
        Deed::Leave => Change::default(),
    };
    Ok(Outcome { change, note: String::new() })
}

/// Settles group by group; what was shown of each row must still hold.
async fn settle(
    ops: &Ops,
    act: Act,
    groups: &[Group],
    operator: &str,
    reason: &str,
) -> Result<Change, OpsError> {
    let mut all = Change::default();
    for group in groups {
        let decision = Decision {
            batch: name(&group.batch)?,
            which: group.which.clone(),
            act,
            to: None,
            words: group.which.to_string(),
        };
        let by = by(operator, Some(reason));
        let decided = if group.seen.is_empty() {
            ops.settle(decision, Settling::Confirmed(Some(group.count)), by).await
        } else {
            ops.settle_seen(decision, &group.seen, group.count, by).await
        };
        let change = match decided {
            Ok(decided) => decided.change,
            Err(err) if all.changed == 0 => return Err(err),
            // What was done stays done, and the rest is named.
            Err(err) => {
                all.left += group.count;
                let why = format!("{}: {}", group.batch, err.message);
                all.why_left.push(crate::ops::document::WhyLeft { why, rows: group.count });
                continue;
            }
        };
        all.matched += change.matched;
        all.changed += change.changed;
        all.left += change.left;
        all.why_left.extend(change.why_left);
        all.journal = change.journal.or(all.journal);
    }
    Ok(all)
}

fn name(batch: &str) -> Result<BatchName, OpsError> {
    batch
        .parse()
        .map_err(|err| OpsError::usage(format!("`{batch}` is no name of a batch")).because(err))
}

/// Does work that stays on one thread, on a thread that may wait.
async fn apart<T: Send + 'static>(
    ops: &Ops,
    work: impl FnOnce(Ops) -> Result<T, OpsError> + Send + 'static,
) -> Result<T, OpsError> {
    let ops = ops.clone();
    let done = tokio::task::spawn_blocking(move || work(ops)).await;
    done.map_err(|err| OpsError::failed("it was stopped half-way").because(err))?
}

fn options(ops: &Ops, wish: &ReportWish) -> Options {
    let ReportWish { listed, privacy, language, .. } = *wish;
    Options { zone: ops.settings.timezone.clone(), listed, privacy, language }
}

fn names(wish: &ReportWish) -> Result<Vec<BatchName>, OpsError> {
    wish.batches.iter().map(|batch| name(batch)).collect()
}

fn read_report(ops: &Ops, wish: &ReportWish) -> Result<String, OpsError> {
    let mut out = Vec::new();
    let mut writer = report::writer(wish.format, options(ops, wish), &mut out);
    let names = names(wish)?;
    Handle::current().block_on(ops.report(&names, wish.listed, writer.as_mut()))?;
    drop(writer);
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn save(ops: &Ops, wish: &ReportWish, file: &std::path::Path) -> Result<(), OpsError> {
    let unwritten = |err: std::io::Error| {
        OpsError::failed(format!("{} could not be written", file.display())).because(err)
    };
    let names = names(wish)?;
    let mut out = Output::create(file).map_err(unwritten)?;
    let mut writer = report::writer(wish.format, options(ops, wish), &mut out);
    Handle::current().block_on(ops.report(&names, wish.listed, writer.as_mut()))?;
    drop(writer);
    out.finish().map_err(unwritten)
}

fn import(ops: &Ops, send: &NewSend, mode: Mode, operator: &str) -> Result<Checked, OpsError> {
    let request = ImportRequest {
        kind: send.kind.clone(),
        batch: name(&send.batch)?,
        from: send.source.parse()?,
        except: Vec::new(),
        template: send.template.clone(),
        title: Some(send.title.clone()).filter(|title| !title.is_empty()),
        reading: HowToRead { encoding: send.encoding.clone(), ..HowToRead::default() },
        existing: Existing::Keep,
        mode,
    };
    if matches!(request.from, crate::ops::source::SourceName::Stdin) {
        return Err(OpsError::usage("the console's own keyboard is no source")
            .hint("name a file, query:NAME or batch:NAME"));
    }
    let opened = Mutex::new(None);
    let watch = |step: Step| {
        if let (Step::Opened(found), Ok(mut opened)) = (step, opened.lock()) {
            *opened = Some(found);
        }
    };
    let imported = Handle::current().block_on(ops.import(&request, by(operator, None), &watch))?;
    let opened = opened.into_inner().unwrap_or_default();
    Ok(Checked { opened, body: imported.body })
}
