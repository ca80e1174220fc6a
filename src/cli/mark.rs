//! `ittsu mark`: a person decides what became of rows.

use super::args::{self, SELECT_FLAGS, Select};
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// Decide by hand that rows count as sent or as failed
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Count rows as sent: from unknown, ready, failed
    Sent(Mark),
    /// Count rows as failed: from unknown, ready, sent (assumed)
    Failed(Mark),
}

/// Which rows, why, and how many.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).multiple(true).args(SELECT_FLAGS)))]
pub struct Mark {
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

    /// Count, but change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
