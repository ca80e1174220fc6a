//! Every line checked, and every message really built, a few chunks ahead of the ledger.

use std::num::NonZero;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt as _};

use super::Plan;
use super::open::Exceptions;
use crate::compose::{BuildError, Person, Stamp};
use crate::dispatch::is_allowed;
use crate::domain::address::Address;
use crate::domain::past::Past;
use crate::domain::state::State;
use crate::intake::{Entry, Finding, IntakeError, Line, Reader, Rejected, Told, Why};
use crate::ledger::load::{LeftOut, NewRow};
use crate::ops::Ops;
use crate::ops::error::OpsError;
use crate::ops::kind::Builder;
use crate::ops::preview::any_stamp;

/// Why somebody gets no row although the line is good.
const BY_NAME: &str = "named in a list to leave out";

/// What one line came to.
#[derive(Clone, Debug)]
pub(super) enum Checked {
    Good(NewRow),
    /// It becomes a row, but no message can be built for it.
    Unbuildable(NewRow, Finding, BuildError),
    /// An older system has settled it; no message is built for it.
    Settled(NewRow),
    Excepted(LeftOut),
    Rejected(LeftOut, Finding),
}

/// A checked line, with the older system's word for it.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) what: Checked,
    pub(super) word: Option<(String, State)>,
}

/// The lines of a source on their way, in order.
pub(super) struct Checking {
    chunks: BoxStream<'static, Result<Vec<Judged>, OpsError>>,
}

/// What a line is checked against.
struct Against {
    builder: Arc<Builder>,
    stamp: Stamp,
    exceptions: Exceptions,
    only_to: Vec<String>,
}

impl Checking {
    pub(super) fn start(ops: &Ops, plan: &Plan, reader: Reader, exceptions: Exceptions) -> Self {
        let against = Arc::new(Against {
            builder: Arc::clone(&plan.builder),
            stamp: any_stamp(plan.builder.sender.domain(), ops.now()),
            exceptions,
            only_to: ops.settings.only_to.clone(),
        });
        // Building is the dear part: every core takes a chunk, and the order is kept.
        let ahead = std::thread::available_parallelism().map_or(1, NonZero::get) + 1;
        let read = stream::unfold(Some(reader), |reader| async {
            let mut reader = reader?;
            match reader.next().await {
                Ok(entries) if entries.is_empty() => None,
                Ok(entries) => Some((Ok(entries), Some(reader))),
                Err(err) => Some((Err(err), None)),
            }
        });
        let chunks = read
            .map(move |entries: Result<Vec<Entry>, IntakeError>| {
                let against = Arc::clone(&against);
                async move {
                    let entries = entries?;
                    let work =
                        move || entries.into_iter().map(|entry| against.judge(entry)).collect();
                    tokio::task::spawn_blocking(work).await.map_err(|err| {
                        OpsError::failed("a message could not be built").because(err)
                    })
                }
            })
            .buffered(ahead);
        Self { chunks: chunks.boxed() }
    }

    /// Returns the next lines; an empty list is the end.
    pub(super) async fn next(&mut self) -> Result<Vec<Judged>, OpsError> {
        self.chunks.next().await.unwrap_or_else(|| Ok(Vec::new()))
    }
}

impl Against {
    fn judge(&self, entry: Entry) -> Judged {
        let word = match &entry {
            Entry::Told(told) => Some((told.word.clone(), told.past.state)),
            Entry::Person(_) | Entry::Named(_) | Entry::Rejected(_) => None,
        };
        Judged { what: self.check(entry), word }
    }

    fn check(&self, entry: Entry) -> Checked {
        match entry {
            Entry::Person(line) => self.person(line, None),
            Entry::Told(told) => self.told(told),
            Entry::Rejected(rejected) => rejected_line(rejected),
            // Only lists give these, and this is no list.
            Entry::Named(named) => rejected_line(Rejected {
                finding: Finding {
                    line: named.number,
                    column: String::new(),
                    why: Why::NoKey,
                    value: String::new(),
                },
                key: named.key.unwrap_or_default(),
                address: String::new(),
            }),
        }
    }

    /// Checks a line of an older system's record; what waits there is built like anybody's mail.
    fn told(&self, told: Told) -> Checked {
        let Told { number: line, key, address, fields, past, .. } = told;
        if let Some(address) = address.clone().filter(|_| past.is_waiting()) {
            return self
                .person(Line { number: line, key, address, name: None, fields }, Some(past));
        }
        let written = address.as_ref().map_or_else(String::new, Address::as_written);
        let address_key = address.map_or_else(String::new, |address| address.compare_form());
        if self.exceptions.holds(&key, &address_key) {
            return Checked::Excepted(LeftOut {
                line: number(line),
                key,
                address: address_key,
                why: BY_NAME.to_owned(),
                value: written,
            });
        }
        Checked::Settled(NewRow {
            line: number(line),
            key,
            address: written,
            address_key,
            fields,
            past: Some(past),
        })
    }

    fn person(&self, line: Line, past: Option<Past>) -> Checked {
        let address_key = line.address.compare_form();
        let left_out = |why: &str| LeftOut {
            line: number(line.number),
            key: line.key.clone(),
            address: address_key.clone(),
            why: why.to_owned(),
            value: line.address.as_written(),
        };
        if self.exceptions.holds(&line.key, &address_key) {
            return Checked::Excepted(left_out(BY_NAME));
        }
        if !is_allowed(&line.address, &self.only_to) {
            return Checked::Excepted(left_out("only_to in the configuration does not allow it"));
        }
        let person = Person { key: &line.key, address: &line.address, fields: &line.fields };
        let built = self.builder.build(&person, &self.stamp);
        let row = NewRow {
            line: number(line.number),
            key: line.key,
            address: line.address.as_written(),
            address_key,
            fields: line.fields,
            past,
        };
        match built {
            Ok(_) => Checked::Good(row),
            Err(err) => {
                let finding = Finding {
                    line: line.number,
                    column: String::new(),
                    why: Why::Unreadable(format!("no message can be built: {err}")),
                    value: row.key.clone(),
                };
                Checked::Unbuildable(row, finding, err)
            }
        }
    }
}

fn rejected_line(rejected: Rejected) -> Checked {
    let Rejected { finding, key, address } = rejected;
    let left_out = LeftOut {
        line: number(finding.line),
        key,
        address,
        why: finding.why.to_string(),
        value: finding.value.clone(),
    };
    Checked::Rejected(left_out, finding)
}

fn number(line: u64) -> i64 {
    i64::try_from(line).unwrap_or(i64::MAX)
}

/// Refuses a source whose first person already lacks a column that the template names.
///
/// It would lack it for everybody: that is a mistake in the template or the mapping, not in a row.
pub(super) fn refuse_unknown_placeholder(
    first: &[Judged],
    columns: &[String],
) -> Result<(), OpsError> {
    let lines = first.iter().map(|line| &line.what);
    let person =
        lines.into_iter().find(|line| matches!(line, Checked::Good(_) | Checked::Unbuildable(..)));
    let Some(Checked::Unbuildable(_, _, err)) = person else { return Ok(()) };
    let BuildError::UnknownPlaceholder { name, .. } = err else { return Ok(()) };
    if columns.contains(name) {
        return Ok(());
    }
    Err(OpsError::usage(err.to_string())
        .hint(format!("columns: {}; nothing was imported", columns.join(", "))))
}
