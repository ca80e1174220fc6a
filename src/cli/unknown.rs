//! `ittsu unknown`: the desk for what nobody can decide.

use std::time::Duration;

use super::args;
use super::error::{CliError, ExitCode};
use super::printer::Paint;
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::domain::span::Span;
use crate::domain::text::visible;
use crate::ops::evidence::Verdict;
use crate::ops::unknown::{UnknownBody, UnknownRowBody};
use crate::ops::words::{age, thousands};

/// Show the rows of which nobody knows whether they went out, and what is known about each
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: Option<BatchName>,

    /// Only those that have been unknown for this long
    #[arg(long, value_name = "T")]
    pub older_than: Option<Span>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let older_than = args.older_than.map_or(Duration::ZERO, |span| span.0);
    let body = ops.unknown(args.batch.as_ref(), older_than).await?;
    if args.json {
        shell.printer.json(&ops.document("unknown", body))?;
        return Ok(ExitCode::Done);
    }
    if body.rows.is_empty() {
        shell.printer.say("Nothing is unknown.");
        return Ok(ExitCode::Done);
    }
    text(&body, shell)?;
    Ok(ExitCode::Done)
}

/// Prints each row with what is known, then what can be done.
pub(super) fn text(body: &UnknownBody, shell: &mut Shell) -> Result<(), CliError> {
    let many = |verdict| body.rows.iter().filter(|row| row.verdict == verdict).count();
    let head = format!(
        "Unknown: {}. Safe to send again: {}. Accepted: {}. Nobody knows: {}.",
        thousands(body.of),
        many(Verdict::NotSent),
        many(Verdict::Accepted),
        many(Verdict::Unknown)
    );
    let head = shell.printer.painted(Paint::Bold, &head);
    shell.printer.line(&head)?;
    for row in &body.rows {
        one(row, shell)?;
    }
    if i64::try_from(body.shown).unwrap_or(i64::MAX) < body.of {
        shell.printer.say(&format!("Shown: {} of {}.", body.shown, thousands(body.of)));
    }
    advise(body, shell);
    Ok(())
}

fn one(unknown: &UnknownRowBody, shell: &mut Shell) -> Result<(), CliError> {
    let row = &unknown.row;
    let since = age(Duration::from_secs(unknown.for_seconds));
    let verdict = shell.printer.painted(Paint::Look, unknown.verdict.says());
    let who = format!("{}  {}  {}", unknown.batch, row.key, row.address);
    shell.printer.line(&format!("{}  {since}  {verdict}", visible(&who)))?;
    for seen in &unknown.evidence {
        let at = seen.at.as_deref().unwrap_or("-");
        let line = format!("    {at:<25}  {}  ({})", seen.what, seen.source);
        shell.printer.line(&visible(&line))?;
    }
    if let Some(until) = &unknown.answer_until {
        shell.printer.line(&format!(
            "    its worker may still be alive; an answer can come until {until}"
        ))?;
    }
    Ok(())
}

/// Says how the rows of the first batch can be settled.
fn advise(body: &UnknownBody, shell: &mut Shell) {
    let Some(first) = body.rows.first() else { return };
    let (batch, key) = (&first.batch, visible(&first.row.key));
    shell.printer.say("To settle one:");
    for what in ["resend", "mark sent", "mark failed"] {
        shell.printer.say(&format!("  ittsu {what} {batch} --key {key} --reason TEXT --confirm 1"));
    }
}
