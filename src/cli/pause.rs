//! `ittsu pause`: no further message starts.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::ops::by;
use crate::ops::halt::Whole;

/// Stop sending, between messages, on every worker
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batches
    #[arg(value_name = "BATCH", value_parser = args::batch, required_unless_present_any = ["kind", "all"])]
    pub batches: Vec<BatchName>,

    /// All batches of this kind, also those that open later
    #[arg(long, value_name = "K", conflicts_with_all = ["batches", "all"])]
    pub kind: Option<String>,

    /// Every running batch
    #[arg(long, conflicts_with = "batches")]
    pub all: bool,

    /// Why, for the journal
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change().await?;
    let whole = whole(args.batches, args.kind);
    let change = ops.pause(&whole, &by(&operator, args.reason.as_deref())).await?;
    shell.changed(&ops, args.json, "paused", change)
}

/// Reads what is meant; the parser has checked that it is exactly one of the three.
pub(super) fn whole(batches: Vec<BatchName>, kind: Option<String>) -> Whole {
    match kind {
        Some(kind) => Whole::Kind(kind),
        None if batches.is_empty() => Whole::Everything,
        None => Whole::Batches(batches),
    }
}
