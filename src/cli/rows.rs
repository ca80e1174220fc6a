//! `ittsu rows`: rows of a batch.

use super::args::{self, Select};
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// List rows of a batch
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    #[command(flatten)]
    pub select: Select,

    /// The people who got no row, instead
    #[arg(long, conflicts_with = "Select")]
    pub left_out: bool,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: u64,

    /// Only what stands after this key
    #[arg(long, value_name = "KEY")]
    pub after: Option<String>,

    /// text or csv
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,

    /// Print one JSON document instead of text
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Csv,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
