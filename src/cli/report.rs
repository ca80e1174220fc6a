//! `ittsu report`: one snapshot for people.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::args::{self, words_of};
use super::error::{CliError, ExitCode};
use super::printer::Printer;
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::domain::text::visible;
use crate::report::output::Output;
use crate::report::{self, Format, Listed, Options, Privacy};

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
    let to_terminal = args.output.is_none() && shell.printer.data_is_terminal();
    if args.format == Format::Xlsx && to_terminal {
        return Err(CliError::usage("a workbook is no text for a terminal")
            .hint("give -o FILE, as in -o report.xlsx"));
    }
    let ops = shell.look().await?;
    let privacy = if args.full_addresses { Privacy::Full } else { Privacy::Masked };
    let zone = ops.settings.timezone.clone();
    let language = ops.settings.language;
    let options = Options { zone, listed: args.rows, privacy, language };
    let Some(path) = &args.output else {
        let mut out = BufWriter::new(Data(&mut shell.printer));
        let mut writer = report::writer(args.format, options, &mut out);
        let written = ops.report(&args.batches, args.rows, writer.as_mut()).await;
        drop(writer);
        let flushed = out.flush();
        drop(out);
        // A reader that had enough is no error.
        if shell.printer.is_closed() {
            return Ok(ExitCode::Done);
        }
        written?;
        flushed.map_err(|err| CliError::failed("the report was not printed").because(&err))?;
        return Ok(ExitCode::Done);
    };
    let unwritten = |err: std::io::Error| {
        CliError::failed(format!("{} could not be written", path.display())).because(&err)
    };
    let mut output = Output::create(path).map_err(unwritten)?;
    let mut writer = report::writer(args.format, options, &mut output);
    ops.report(&args.batches, args.rows, writer.as_mut()).await?;
    drop(writer);
    output.finish().map_err(unwritten)?;
    shell.printer.say(&format!("Written: {}", visible(&path.display().to_string())));
    Ok(ExitCode::Done)
}

/// Standard output as a report sees it.
struct Data<'p>(&'p mut Printer);

impl Write for Data<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.bytes(bytes).map_err(std::io::Error::other)?;
        if self.0.is_closed() {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush().map_err(std::io::Error::other)
    }
}
