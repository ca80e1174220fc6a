//! `ittsu journal`: the record of operators' actions.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// Show what operators did: who, when, why, how many
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: Option<BatchName>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
