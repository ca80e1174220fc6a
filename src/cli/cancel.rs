//! `ittsu cancel`: final.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::trouble::confirming;
use crate::domain::name::BatchName;
use crate::ops::by;

/// Cancel a batch for good; what still waits is never sent from it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// How many rows are ready and will never be sent
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// Why, for the journal
    #[arg(long, value_name = "TEXT")]
    pub reason: String,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change().await?;
    let change = confirming(shell, args.confirm, "--confirm COUNT", async |confirm| {
        ops.cancel(&args.batch, confirm, by(&operator, Some(&args.reason))).await
    })
    .await?;
    shell.changed(&ops, args.json, "cancelled and never sent", change)
}
