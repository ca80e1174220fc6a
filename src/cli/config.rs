//! `ittsu config`: what is set, and where each value comes from.

use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Show each setting and where it comes from, or check them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show each value and where it comes from; secrets are shown as ***
    Show {
        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
    /// Check the configuration; nothing is connected to
    Check,
}

pub fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
