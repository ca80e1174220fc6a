//! `ittsu test`: one mail to the operator.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// Send one message of the batch to yourself
///
/// Never counted in the batch and never a row.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// Where to send it
    #[arg(long, value_name = "ADDRESS")]
    pub to: String,

    /// Whose message (default: the first row's)
    #[arg(long = "as", value_name = "K")]
    pub key: Option<String>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
