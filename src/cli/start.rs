//! `ittsu start`: a draft becomes a send.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// Let workers take a batch
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// How many rows are ready to be sent
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// When: RFC 3339, or local time as in 2026-11-30T18:00
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,

    /// Start although messages of so many rows cannot be built; those rows fail
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub leave_unbuildable: Option<u64>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
