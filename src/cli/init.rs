//! `ittsu init`: a first configuration.

use std::path::PathBuf;

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Write a commented configuration
///
/// Asks, for each kind of mail, which is worse when nobody can know whether it went out: twice, or
/// not at all. Never overwrites a file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File to write
    #[arg(value_name = "FILE", default_value = "ittsu.toml")]
    pub file: PathBuf,

    /// A kind and its answer: notice=twice, notice=not-at-all or notice=ask; may be repeated
    #[arg(long, value_name = "NAME=WORSE", value_parser = args::pair)]
    pub kind: Vec<(String, String)>,

    /// Host of the mail server
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,

    /// Sender of the mail
    #[arg(long, value_name = "ADDRESS")]
    pub sender: Option<String>,
}

pub fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
