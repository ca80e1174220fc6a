//! `ittsu send`: the whole job in one command.

use super::args::{self, SourceArgs};
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// Import, start and work until idle: the whole job in one command
///
/// The same command again resumes what it started, or says that there is nothing to do.
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

    /// How many rows are to be sent, of this batch
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// Start although messages of so many rows cannot be built; those rows fail
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub leave_unbuildable: Option<u64>,

    /// End when nothing is due now instead of waiting for retries
    #[arg(long)]
    pub no_wait: bool,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
