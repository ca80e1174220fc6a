//! `ittsu man`: the manual.

use std::path::PathBuf;

use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Print the manual page, or write one page per command into a folder
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder to write pages into
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

pub fn run(args: &Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
