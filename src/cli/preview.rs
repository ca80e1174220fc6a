//! `ittsu preview`: what a person will get.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// Show real built messages of a batch
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// The message of this row
    #[arg(long, value_name = "K", conflicts_with = "worst")]
    pub key: Option<String>,

    /// The N messages most likely to look wrong: the longest, those with empty fields
    #[arg(long, value_name = "N")]
    pub worst: Option<u64>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
