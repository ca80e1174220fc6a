//! `ittsu resend`: rows go out again.

use super::args::{self, SELECT_FLAGS, Select};
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;

/// Send rows again
///
/// From unknown and failed, as the same mail. A row that counts as sent needs --another-copy.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).multiple(true).args(SELECT_FLAGS)))]
pub struct Args {
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

    /// Send a further copy to people whose mail counts as sent
    #[arg(long)]
    pub another_copy: bool,

    /// Correct the address of the one row
    #[arg(long, value_name = "ADDRESS")]
    pub to: Option<String>,

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
