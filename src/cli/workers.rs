//! `ittsu workers`: who sends, and how to stop one.

use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Show who works, on what; or ask one to stop
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    pub action: Option<Action>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Ask a worker to finish what is on the wire and end
    Stop {
        /// The worker's number, as `ittsu workers` shows it
        id: i64,

        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
