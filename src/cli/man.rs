//! `ittsu man`: the manual.

use std::io;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

use super::Cli;
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
    match &args.dir {
        None => {
            let page = page(&whole()).map_err(|err| failed(&err))?;
            shell.printer.bytes(&page)?;
        }
        Some(dir) => {
            let pages = write_pages(dir).map_err(|err| failed(&err))?;
            shell.printer.say(&format!("Pages written to {}: {pages}", dir.display()));
        }
    }
    Ok(ExitCode::Done)
}

/// Returns the whole command, with what its sub-commands inherit.
fn whole() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

fn write_pages(dir: &Path) -> io::Result<usize> {
    std::fs::create_dir_all(dir)?;
    let whole = whole();
    std::fs::write(dir.join("ittsu.1"), page(&whole)?)?;
    let mut pages = 1;
    for command in whole.get_subcommands() {
        let name = format!("ittsu-{}", command.get_name());
        let page = page(&command.clone().name(name.clone()))?;
        std::fs::write(dir.join(format!("{name}.1")), page)?;
        pages += 1;
    }
    Ok(pages)
}

fn failed(err: &io::Error) -> CliError {
    CliError::failed("the manual could not be written").because(err)
}
