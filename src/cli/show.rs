//! `ittsu show`: one row, whole.

use super::args;
use super::error::{CliError, ExitCode};
use super::printer::Paint;
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::domain::text::visible;
use crate::ops::show::{AttemptBody, ShowBody};

/// Show one row with every attempt and what is known
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// The row's key
    #[arg(value_name = "KEY")]
    pub key: String,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let body = ops.show(&args.batch, &args.key).await?;
    if args.json {
        shell.printer.json(&ops.document("show", body))?;
        return Ok(ExitCode::Done);
    }
    text(&body, shell)?;
    Ok(ExitCode::Done)
}

fn text(body: &ShowBody, shell: &mut Shell) -> Result<(), CliError> {
    let row = &body.row;
    let head = format!("{}  {}", visible(&row.key), visible(&row.address));
    let head = shell.printer.painted(Paint::Bold, &head);
    shell.printer.line(&head)?;
    shell.printer.line(&visible(&body.says))?;
    let state = match (row.unknown, row.how) {
        (true, _) => format!("{} (unknown, {})", row.state, row.cause.unwrap_or("no cause")),
        (false, Some(how)) => format!("{} ({how})", row.state),
        (false, None) => row.state.to_owned(),
    };
    let copy = format!("{}", row.generation);
    let pairs = [
        ("batch", Some(body.batch.as_str())),
        ("state", Some(state.as_str())),
        ("copy", Some(copy.as_str()).filter(|&copy| copy != "1")),
        ("Message-ID", row.message_id.as_deref()),
        ("next try", row.due_at.as_deref()),
        ("updated", Some(row.updated_at.as_str())),
    ];
    for (name, value) in pairs {
        if let Some(value) = value {
            shell.printer.line(&format!("  {name:<11} {}", visible(value)))?;
        }
    }
    if !body.attempts.is_empty() {
        shell.printer.line("Attempts")?;
        for attempt in &body.attempts {
            shell.printer.line(&line_of(attempt))?;
        }
    }
    known(body, shell)?;
    if !body.journal.is_empty() {
        shell.printer.line("By hand")?;
        for entry in &body.journal {
            let line = format!(
                "  {}  {} by {}: {} (journal {})",
                entry.at, entry.action, entry.operator, entry.reason, entry.id
            );
            shell.printer.line(&visible(&line))?;
        }
    }
    Ok(())
}

fn line_of(attempt: &AttemptBody) -> String {
    let phase = attempt.phase.map(|phase| format!(" at {phase}")).unwrap_or_default();
    let words = attempt.reply.as_deref().or(attempt.note.as_deref()).unwrap_or_default();
    let words = visible(words.trim_end());
    let gap = if words.is_empty() { "" } else { ": " };
    let review = if attempt.review { " (look at this answer)" } else { "" };
    format!(
        "  {}  {}  worker {}  {}{phase}{gap}{words}{review}",
        attempt.attempt, attempt.started, attempt.worker, attempt.outcome
    )
}

fn known(body: &ShowBody, shell: &mut Shell) -> Result<(), CliError> {
    let Some(verdict) = body.verdict else { return Ok(()) };
    shell.printer.line(&format!("What we know: {}", verdict.says()))?;
    for seen in &body.evidence {
        let at = seen.at.as_deref().unwrap_or("-");
        let line = format!("  {at:<25}  {}  ({})", seen.what, seen.source);
        shell.printer.line(&visible(&line))?;
    }
    Ok(())
}
