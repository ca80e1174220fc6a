//! `ittsu undo`: a mark or resend is taken back.

use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::ops::by;

/// Take a mark or a resend back, for the rows that have not moved since
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the entry, as `ittsu journal` shows it
    #[arg(value_name = "JOURNAL_ID")]
    pub journal: i64,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change().await?;
    let change = ops.undo(args.journal, by(&operator, None)).await?;
    shell.changed(&ops, args.json, "taken back", change)
}
