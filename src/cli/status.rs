//! `ittsu status`: the counts.

use std::time::Duration;

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::domain::span::Span;

/// Show the counts of all batches, or of one
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: Option<BatchName>,

    /// Exit 8, one line and one command each, when something needs a person
    #[arg(long)]
    pub check: bool,

    /// With --check: how long a row may be ready before that needs a person
    #[arg(long, value_name = "T", default_value = "15m")]
    pub max_wait: Span,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

impl Default for Args {
    fn default() -> Self {
        Self { batch: None, check: false, max_wait: Span(Duration::from_mins(15)), json: false }
    }
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
