//! `ittsu report`: one snapshot for people.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::args::{self, words_of};
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::report::{Format, Listed};

/// Report on batches: for a terminal, a chat, a page, a spreadsheet or a program
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batches
    #[arg(value_name = "BATCH", required = true, value_parser = args::batch)]
    pub batches: Vec<BatchName>,

    /// How it is written; `line` is one line for a chat
    #[arg(long, value_name = "FORMAT", value_parser = format_words(), default_value = "text")]
    pub format: Format,

    /// List rows as well
    #[arg(long, value_name = "ROWS", value_parser = listed_words())]
    pub rows: Option<Listed>,

    /// Show whole addresses instead of masked ones
    #[arg(long)]
    pub full_addresses: bool,

    /// File to write, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

fn format_words() -> impl TypedValueParser<Value = Format> {
    words_of!(Format)
}

fn listed_words() -> impl TypedValueParser<Value = Listed> {
    words_of!(Listed)
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let _ = (args, shell);
    todo!()
}
