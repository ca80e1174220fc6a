//! `ittsu find`: everything about one person.

use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Find a person in all batches: did they get it?
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address, key, Message-ID or provider id, exactly
    #[arg(value_name = "WHO")]
    pub who: String,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
