//! `ittsu rows`: rows of a batch.

use super::args::{self, Select};
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::table::{self, Side};
use super::words::selection;
use crate::domain::name::BatchName;
use crate::ops::Ops;
use crate::ops::find::LeftOutBody;
use crate::ops::row::RowBody;
use crate::ops::words::thousands;

/// List rows of a batch
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    #[command(flatten)]
    pub select: Select,

    /// The people who got no row, instead
    #[arg(long, conflicts_with = "Select")]
    pub left_out: bool,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: u64,

    /// Only what stands after this key
    #[arg(long, value_name = "KEY")]
    pub after: Option<String>,

    /// text or csv
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,

    /// Print one JSON document instead of text
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Csv,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    if args.left_out {
        return left_out(&args, &ops, shell).await;
    }
    let which = selection(&args.select)?;
    let body = ops.rows(&args.batch, &which, args.after.as_deref(), args.limit).await?;
    if args.json {
        shell.printer.json(&ops.document("rows", body))?;
        return Ok(ExitCode::Done);
    }
    let (shown, of) = (i64::try_from(body.shown).unwrap_or(i64::MAX), body.of);
    let last = body.rows.last().map(|row| row.key.clone());
    match args.format {
        Format::Csv => csv(shell, &ROW_HEADS, body.rows.into_iter().map(row_cells))?,
        Format::Text => text(shell, body.rows)?,
    }
    let more = match last {
        Some(last) if u64::try_from(shown) == Ok(args.limit) && shown < of => {
            format!(" More: --after {last}")
        }
        _ => String::new(),
    };
    shell.printer.say(&format!("Shown: {shown} of {}.{more}", thousands(of)));
    Ok(ExitCode::Done)
}

const ROW_HEADS: [&str; 14] = [
    "key",
    "address",
    "state",
    "how",
    "unknown",
    "unknown_attempts",
    "attempt",
    "generation",
    "message_id",
    "code",
    "enhanced",
    "reply",
    "updated_at",
    "settled_at",
];

fn row_cells(row: RowBody) -> Vec<String> {
    vec![
        row.key,
        row.address,
        row.state.to_owned(),
        row.how.unwrap_or_default().to_owned(),
        row.unknown.to_string(),
        row.unknown_attempts.to_string(),
        row.attempt.to_string(),
        row.generation.to_string(),
        row.message_id.unwrap_or_default(),
        row.code.map(|code| code.to_string()).unwrap_or_default(),
        row.enhanced.unwrap_or_default(),
        row.reply.unwrap_or_default(),
        row.updated_at,
        row.settled_at.unwrap_or_default(),
    ]
}

fn text(shell: &mut Shell, rows: Vec<RowBody>) -> Result<(), CliError> {
    if rows.is_empty() {
        return Ok(());
    }
    let heads = [
        ("KEY", Side::Left),
        ("ADDRESS", Side::Left),
        ("STATE", Side::Left),
        ("TRIES", Side::Right),
        ("UPDATED", Side::Left),
        ("LAST REPLY", Side::Left),
    ];
    let rows = rows.into_iter().map(|row| {
        let state = match (row.unknown, row.how) {
            (true, _) => format!("{} (unknown)", row.state),
            (false, Some(how)) => format!("{} ({how})", row.state),
            (false, None) => row.state.to_owned(),
        };
        let reply = row.reply.unwrap_or_default();
        vec![row.key, row.address, state, row.attempt.to_string(), row.updated_at, reply]
    });
    table::print(&mut shell.printer, &heads, rows)
}

async fn left_out(args: &Args, ops: &Ops, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let after = match &args.after {
        None => 0,
        Some(after) => after.parse().map_err(|_err| {
            CliError::usage("with --left-out, --after takes the number of lines to skip")
        })?,
    };
    let body = ops.left_out(&args.batch, after, args.limit).await?;
    if args.json {
        shell.printer.json(&ops.document("left-out", body))?;
        return Ok(ExitCode::Done);
    }
    let (shown, of) = (body.shown, body.of);
    let cells = |line: LeftOutBody| {
        vec![line.line.to_string(), line.key, line.address, line.why, line.value, line.source]
    };
    let lines = body.left_out.into_iter().map(cells);
    let heads = ["line", "key", "address", "why", "value", "source"];
    match args.format {
        Format::Csv => csv(shell, &heads, lines)?,
        Format::Text if of > 0 => {
            let upper = heads.map(str::to_uppercase);
            let heads: Vec<_> = upper.iter().map(|head| (head.as_str(), Side::Left)).collect();
            table::print(&mut shell.printer, &heads, lines)?;
        }
        Format::Text => {}
    }
    shell.printer.say(&format!("Left out: {shown} of {}.", thousands(of)));
    Ok(ExitCode::Done)
}

/// Returns a cell that no spreadsheet takes for a formula.
fn safe_cell(cell: &str) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{cell}")
    } else {
        cell.to_owned()
    }
}

fn csv(
    shell: &mut Shell,
    heads: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<(), CliError> {
    let failed = |err: csv::Error| CliError::failed("the rows could not be written").because(&err);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(heads).map_err(failed)?;
    for row in rows {
        writer.write_record(row.iter().map(|cell| safe_cell(cell))).map_err(failed)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|err| CliError::failed("the rows could not be written").because(err.error()))?;
    shell.printer.bytes(&bytes)
}
