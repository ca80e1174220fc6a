//! `ittsu work`: a worker.

use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Run a worker: it sends what was started
///
/// Any number may run, on any machine that reaches the ledger.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End when nothing is left, or everything left is paused
    #[arg(long)]
    pub until_idle: bool,

    /// With --until-idle: end when nothing is due now instead of waiting for retries
    #[arg(long, requires = "until_idle")]
    pub no_wait: bool,

    /// Only batches of this kind; may be given several times
    #[arg(long, value_name = "K")]
    pub kind: Vec<String>,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
