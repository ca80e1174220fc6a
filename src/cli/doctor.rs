//! `ittsu doctor`: what is wrong, and what to do about it.

use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Check everything and say what to do
///
/// Configuration, ledger, sums, state folder, name, connection, certificate and login of every
/// transport. Sends nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
