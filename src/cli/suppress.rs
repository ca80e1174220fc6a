//! `ittsu suppress`: the do-not-send list.

use std::path::PathBuf;

use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// People who must not be mailed, for one kind or for all
///
/// Looked at on import and again right before each hand-over.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Show the list
    List {
        /// Only these addresses
        #[arg(value_name = "ADDRESS")]
        addresses: Vec<String>,

        /// Only entries of this kind of mail
        #[arg(long, value_name = "K")]
        kind: Option<String>,

        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
    /// Put addresses on the list
    Add(Change),
    /// Take addresses off the list
    Remove(Change),
}

/// Which addresses, for which kind, and why.
#[derive(Debug, clap::Args)]
pub struct Change {
    /// The addresses
    #[arg(value_name = "ADDRESS", required_unless_present = "from", conflicts_with = "from")]
    pub addresses: Vec<String>,

    /// A file with one address a line (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// Only for this kind of mail (default: for every kind)
    #[arg(long, value_name = "K")]
    pub kind: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
