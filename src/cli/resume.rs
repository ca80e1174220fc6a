//! `ittsu resume`: a paused batch goes on.

use super::args;
use super::error::{CliError, ExitCode};
use super::pause::whole;
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::ops::by;
use crate::ops::halt::Keep;

/// Go on sending
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batches
    #[arg(value_name = "BATCH", value_parser = args::batch, required_unless_present_any = ["kind", "all"])]
    pub batches: Vec<BatchName>,

    /// All batches of this kind
    #[arg(long, value_name = "K", conflicts_with_all = ["batches", "all"])]
    pub kind: Option<String>,

    /// Every paused batch
    #[arg(long, conflicts_with = "batches")]
    pub all: bool,

    /// Take the present template and settings of the configuration
    #[arg(long)]
    pub refresh: bool,

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
    let keep = if args.refresh { Keep::Present } else { Keep::Frozen };
    let change = ops.resume(&whole, keep, &by(&operator, args.reason.as_deref())).await?;
    shell.changed(&ops, args.json, "resumed", change)
}
