//! `ittsu discard`: a draft goes away.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::ops::by;
use crate::ops::words::thousands;

/// Delete a draft in which nothing was attempted; its name is free again
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change().await?;
    let change = ops.discard(&args.batch, by(&operator, None)).await?;
    if args.json {
        shell.printer.json(&ops.document("change", change))?;
    } else {
        let rows = thousands(i64::try_from(change.changed).unwrap_or(i64::MAX));
        shell.printer.say(&format!("Discarded {} with {rows} rows; the name is free.", args.batch));
    }
    Ok(ExitCode::Done)
}
