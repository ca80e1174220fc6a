//! `ittsu test`: one mail to the operator.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::domain::text::visible;
use crate::ops::by;

/// Send one message of the batch to yourself
///
/// Never counted in the batch and never a row.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// Where to send it
    #[arg(long, value_name = "ADDRESS")]
    pub to: String,

    /// Whose message (default: the first row's)
    #[arg(long = "as", value_name = "K")]
    pub key: Option<String>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change().await?;
    let body = ops.test(&args.batch, &args.to, args.key.as_deref(), by(&operator, None)).await?;
    let code = match (body.outcome, body.phase) {
        ("accepted", _) => ExitCode::Done,
        ("unknown", _) => ExitCode::Partly,
        ("not_sent", "resolve" | "connect" | "greeting") => ExitCode::Unreachable,
        _ => ExitCode::Failed,
    };
    if args.json {
        shell.printer.json(&ops.document("test", body))?;
        return Ok(code);
    }
    let line = format!(
        "Test mail of {} (as {}) to {}: {} at {}: {}",
        body.batch, body.key, body.to, body.outcome, body.phase, body.reply
    );
    shell.printer.say(&visible(&line));
    Ok(code)
}
