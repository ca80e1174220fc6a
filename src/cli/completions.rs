//! `ittsu completions`: words for the shell.

use clap::CommandFactory;

use super::Cli;
use super::error::{CliError, ExitCode};
use super::shell::Shell;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

pub fn run(args: &Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let mut words = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ittsu", &mut words);
    shell.printer.bytes(&words)?;
    Ok(ExitCode::Done)
}
