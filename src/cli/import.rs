//! `ittsu import`: people from a source into the ledger.

use super::args::{self, SourceArgs};
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// Read people in, check them, and really build every message
///
/// Running it again adds nothing. Into a batch that was started, new people are added only with
/// --confirm and their number.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Kind of mail, from the configuration
    #[arg(value_name = "KIND")]
    pub kind: String,

    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Take new contents for rows that are there already and were never attempted
    #[arg(long)]
    pub replace: bool,

    /// Read, check and count, but write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// How many new rows may join a batch that was started
    #[arg(long, value_name = "NEW", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
