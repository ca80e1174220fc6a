//! `ittsu suppress`: the do-not-send list.

use std::path::PathBuf;

use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::table::{self, Side};
use crate::ops::by;
use crate::ops::suppress::{Addresses, Way};

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
    let (way, change) = match args.action {
        Action::List { addresses, kind, json } => {
            return list(&addresses, kind.as_deref(), json, shell).await;
        }
        Action::Add(change) => (Way::On, change),
        Action::Remove(change) => (Way::Off, change),
    };
    let (ops, operator) = shell.change().await?;
    let addresses = match change.from {
        Some(file) => Addresses::File(file),
        None => Addresses::Named(change.addresses),
    };
    let by = by(&operator, change.reason.as_deref());
    let done = ops.suppress(way, addresses, change.kind.as_deref(), by).await?;
    let verb = if way == Way::On { "put on the do-not-send list" } else { "taken off the list" };
    shell.changed(&ops, change.json, verb, done)
}

async fn list(
    addresses: &[String],
    kind: Option<&str>,
    json: bool,
    shell: &mut Shell,
) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let body = ops.suppressions(addresses, kind).await?;
    if json {
        shell.printer.json(&ops.document("suppress", body))?;
        return Ok(ExitCode::Done);
    }
    if body.entries.is_empty() {
        shell.printer.say("Nobody is on the do-not-send list.");
        return Ok(ExitCode::Done);
    }
    let heads = ["ADDRESS", "KIND", "SINCE", "BY", "REASON"].map(|head| (head, Side::Left));
    let rows = body.entries.into_iter().map(|entry| {
        let kind = entry.kind.unwrap_or_else(|| "every kind".to_owned());
        vec![entry.address, kind, entry.at, entry.operator, entry.reason]
    });
    table::print(&mut shell.printer, &heads, rows)?;
    Ok(ExitCode::Done)
}
