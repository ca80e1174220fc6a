//! `ittsu status`: the counts.

use std::time::Duration;

use super::args;
use super::error::{CliError, ExitCode};
use super::printer::Paint;
use super::shell::Shell;
use super::table::{self, Side};
use crate::domain::name::BatchName;
use crate::domain::span::Span;
use crate::domain::text::visible;
use crate::ops::attention::{Attention, Limits};
use crate::ops::status::{BatchBody, Check, StatusBody};
use crate::ops::words::thousands;

/// Show the counts of all batches, or of one
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: Option<BatchName>,

    /// Exit 8, one line and one command each, when something needs a person
    #[arg(long)]
    pub check: bool,

    /// With --check: how long a row may be ready before that needs a person
    #[arg(long, value_name = "T", default_value = "15m")]
    pub max_wait: Span,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

impl Default for Args {
    fn default() -> Self {
        Self { batch: None, check: false, max_wait: Span(Duration::from_mins(15)), json: false }
    }
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let check = if args.check {
        Check::Attention(Limits { max_wait: args.max_wait.0, ..Limits::default() })
    } else {
        Check::CountsOnly
    };
    let body = ops.status(args.batch.as_ref(), check).await?;
    let needed = body.attention.as_ref().is_some_and(|list| !list.is_empty());
    let code = if needed { ExitCode::NeedsPerson } else { ExitCode::Done };
    if args.json {
        shell.printer.json(&ops.document("status", body))?;
        return Ok(code);
    }
    if let Some(list) = &body.attention {
        attention(list, shell)?;
    } else {
        let zone = ops.settings.timezone.clone();
        let as_of = crate::ops::when::rfc3339(ops.now(), &zone);
        text(&body, args.batch.is_some(), &as_of, shell)?;
    }
    Ok(code)
}

/// Prints what needs a person: one line and one command each.
pub(super) fn attention(list: &[Attention], shell: &mut Shell) -> Result<(), CliError> {
    for entry in list {
        let line = format!("{}: {}  {}", entry.batch, visible(&entry.line), entry.command);
        shell.printer.line(&line)?;
    }
    if list.is_empty() {
        shell.printer.say("Nothing needs you.");
    }
    Ok(())
}

/// Prints one batch in full, or all as a table.
pub(super) fn text(
    body: &StatusBody,
    in_full: bool,
    as_of: &str,
    shell: &mut Shell,
) -> Result<(), CliError> {
    if body.batches.is_empty() {
        shell
            .printer
            .say("There is no batch yet. Read people in: ittsu import KIND BATCH --from FILE");
        return Ok(());
    }
    match body.batches.as_slice() {
        [batch] if in_full => full(batch, shell)?,
        batches => all(batches, shell)?,
    }
    shell.printer.line(&format!("as of {as_of}"))
}

fn all(batches: &[BatchBody], shell: &mut Shell) -> Result<(), CliError> {
    let heads = [
        ("BATCH", Side::Left),
        ("STATE", Side::Left),
        ("TOTAL", Side::Right),
        ("READY", Side::Right),
        ("SENDING", Side::Right),
        ("SENT", Side::Right),
        ("FAILED", Side::Right),
        ("NOTE", Side::Left),
        ("TITLE", Side::Left),
    ];
    let rows = batches.iter().map(|batch| {
        vec![
            batch.batch.clone(),
            batch.state.to_owned(),
            thousands(batch.total),
            thousands(batch.ready),
            thousands(batch.sending),
            thousands(batch.sent),
            thousands(batch.failed),
            note(batch),
            batch.title.clone(),
        ]
    });
    table::print(&mut shell.printer, &heads, rows)
}

/// Says in a word or two what a number does not.
fn note(batch: &BatchBody) -> String {
    let mut notes = Vec::new();
    if batch.unknown > 0 {
        notes.push(format!("unknown {}", thousands(batch.unknown)));
    }
    if batch.assumed > 0 {
        notes.push(format!("assumed {}", thousands(batch.assumed)));
    }
    if batch.maybe_twice > 0 {
        notes.push(format!("maybe twice {}", thousands(batch.maybe_twice)));
    }
    if let Some(because) = &batch.paused_because {
        notes.push(format!("paused: {because}"));
    } else if let Some(waiting) = batch.waiting_because {
        notes.push(format!("waiting: {}", waiting.replace('_', " ")));
    }
    if let Some(at) = batch.scheduled_at.as_ref().filter(|_| batch.state == "scheduled") {
        notes.push(format!("starts {at}"));
    }
    notes.join(", ")
}

fn full(batch: &BatchBody, shell: &mut Shell) -> Result<(), CliError> {
    let head = format!("{}  {}  {}", batch.batch, batch.kind, visible(&batch.title));
    let head = shell.printer.painted(Paint::Bold, &head);
    shell.printer.line(&head)?;
    let mut state = batch.state.to_owned();
    if let (Some(at), Some(by)) = (&batch.started_at, &batch.started_by) {
        state = format!("{state}, started {at} by {by}");
    }
    if let Some(at) = batch.scheduled_at.as_ref().filter(|_| batch.state == "scheduled") {
        state = format!("{state}, starts {at}");
    }
    shell.printer.line(&format!("  {:<10}{}", "state", visible(&state)))?;
    let parts = |parts: &[(&str, i64)]| {
        let shown = parts.iter().filter(|(_, n)| *n > 0);
        shown
            .fold(String::new(), |so_far, (what, n)| format!("{so_far}  {what}: {}", thousands(*n)))
    };
    let sent = parts(&[("assumed", batch.assumed), ("maybe twice", batch.maybe_twice)]);
    let lines = [
        ("ready", batch.ready, String::new()),
        ("sending", batch.sending, parts(&[("unknown", batch.unknown)])),
        ("sent", batch.sent, sent),
        ("failed", batch.failed, parts(&[("maybe delivered", batch.maybe_delivered)])),
        ("total", batch.total, "  adds up".to_owned()),
        ("left out", batch.left_out, String::new()),
        ("attempts", batch.attempts, String::new()),
    ];
    for (name, n, more) in lines {
        // The states are counted in one snapshot; this line is only printed if it is true.
        let adds = batch.ready + batch.sending + batch.sent + batch.failed == batch.total;
        let more = if name == "total" && !adds { "  DOES NOT ADD UP: ittsu doctor" } else { &more };
        shell.printer.line(&format!("  {name:<10}{:>9}{more}", thousands(n)))?;
    }
    if let Some(because) = &batch.paused_because {
        let by = batch.paused_by.as_deref().unwrap_or_default();
        let line = format!("  {:<10}{} ({})", "paused", visible(because), visible(by));
        shell.printer.line(&line)?;
    }
    if let Some(waiting) = batch.waiting_because {
        let next = batch.next_due_at.as_deref().map(|at| format!(", next try {at}"));
        let line =
            format!("  {:<10}{}{}", "waiting", waiting.replace('_', " "), next.unwrap_or_default());
        shell.printer.line(&line)?;
    }
    if batch.state == "running" {
        let line =
            format!("  {:<10}{}/min, workers: {}", "speed", batch.rate_per_minute, batch.workers);
        shell.printer.line(&line)?;
    }
    let on = batch.on_unknown;
    let line = format!("  {:<10} no answer: {}, crash: {}", "if unknown", on.no_answer, on.crash);
    shell.printer.line(&line)
}
