//! `ittsu journal`: the record of operators' actions.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::table::{self, Side};
use crate::domain::name::BatchName;
use crate::ops::words::thousands;

/// Show what operators did: who, when, why, how many
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: Option<BatchName>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let body = ops.journal(args.batch.as_ref()).await?;
    if args.json {
        shell.printer.json(&ops.document("journal", body))?;
        return Ok(ExitCode::Done);
    }
    if body.entries.is_empty() {
        shell.printer.say("Nothing was done yet.");
        return Ok(ExitCode::Done);
    }
    let heads = [
        ("ID", Side::Right),
        ("WHEN", Side::Left),
        ("WHO", Side::Left),
        ("WHAT", Side::Left),
        ("BATCH", Side::Left),
        ("ROWS", Side::Right),
        ("WHICH", Side::Left),
        ("REASON", Side::Left),
    ];
    let rows = body.entries.into_iter().map(|entry| {
        vec![
            entry.id.to_string(),
            entry.at,
            entry.operator,
            entry.action,
            entry.batch.unwrap_or_default(),
            thousands(entry.changed),
            entry.selection,
            entry.reason,
        ]
    });
    table::print(&mut shell.printer, &heads, rows)?;
    Ok(ExitCode::Done)
}
