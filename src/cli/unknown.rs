//! `ittsu unknown`: the desk for what nobody can decide.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::domain::span::Span;

/// Show the rows of which nobody knows whether they went out, and what is known about each
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: Option<BatchName>,

    /// Only those that have been unknown for this long
    #[arg(long, value_name = "T")]
    pub older_than: Option<Span>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
