//! `ittsu demo`: the whole product in one process.

use std::path::PathBuf;

pub mod folder;
pub mod mailserver;
pub mod people;

use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Everything in one process, with nothing to set up and nothing leaving this machine
///
/// A ledger in a folder, a built-in mail server that misbehaves, sample batches in three languages,
/// and a worker that is killed half-way. Ends by itself and leaves the folder for `status`,
/// `unknown` and `show` to look at.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print progress and the report, then end
    #[arg(long)]
    pub plain: bool,

    /// People in the largest sample batch
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub people: u64,

    /// Folder to work in (default: a new ./ittsu-demo)
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// Repeat the run of this number
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
