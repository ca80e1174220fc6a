//! `ittsu resend`: rows go out again.

use super::args::{self, SELECT_FLAGS, Select};
use super::error::{CliError, ExitCode};
use super::mark::tell;
use super::shell::Shell;
use super::trouble::confirming;
use super::words::{in_words, selection};
use crate::domain::name::BatchName;
use crate::domain::plan::Act;
use crate::ops::by;
use crate::ops::settle::{Decision, Mode};

/// Send rows again
///
/// From unknown and failed, as the same mail. A row that counts as sent needs --another-copy.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).multiple(true).args(SELECT_FLAGS)))]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    #[command(flatten)]
    pub select: Select,

    /// Why, for the journal
    #[arg(long, value_name = "TEXT")]
    pub reason: String,

    /// How many rows that is
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// Send a further copy to people whose mail counts as sent
    #[arg(long)]
    pub another_copy: bool,

    /// Correct the address of the one row
    #[arg(long, value_name = "ADDRESS")]
    pub to: Option<String>,

    /// Count, but change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change().await?;
    let decision = Decision {
        batch: args.batch,
        which: selection(&args.select)?,
        act: if args.another_copy { Act::AnotherCopy } else { Act::Resend },
        to: args.to,
        words: in_words(&args.select),
    };
    let by = by(&operator, Some(&args.reason));
    let decided = if args.dry_run {
        ops.settle(decision, Mode::DryRun, by).await?
    } else {
        confirming(shell, args.confirm, "--confirm COUNT", async |confirm| {
            ops.settle(decision.clone(), Mode::Confirmed(confirm), by.clone()).await
        })
        .await?
    };
    tell(shell, &ops, args.json, args.dry_run, "waiting to be sent again", decided)
}
