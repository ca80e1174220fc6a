//! Opening what an import reads: the source itself, and the lists of people to leave out.

use std::collections::HashSet;
use std::path::Path;
use std::pin::Pin;

use futures_util::Stream;
use futures_util::stream;

use super::HowToRead;
use crate::config::nearest;
use crate::db::Location;
use crate::domain::selection::Selection;
use crate::intake::{self, Entry, Head, Options, Query, Reader, Row, Rows, Source, Wanted};
use crate::ledger::Ledger;
use crate::ledger::rows::After;
use crate::ops::Ops;
use crate::ops::error::OpsError;
use crate::ops::source::SourceName;

/// What was found out about a source, for a person to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub name: String,
    /// As people know it: `Shift_JIS (CP932)`; none where there is nothing to decode.
    pub encoding: Option<String>,
    pub delimiter: Option<char>,
    pub sheet: Option<String>,
    pub columns: Vec<String>,
    /// What each column is taken for: key, address, name.
    pub taken_for: Vec<(&'static str, String)>,
    pub samples: Vec<Vec<String>>,
}

impl Opened {
    pub(super) fn of(head: &Head) -> Self {
        let mapping = &head.mapping;
        let key = mapping.key.clone().unwrap_or_else(|| "the address itself".to_owned());
        let taken_for = [
            ("number", Some(key)),
            ("address", mapping.address.clone()),
            ("name", mapping.name.clone()),
            ("what became of it", mapping.past.as_ref().map(|past| past.state.clone())),
        ];
        Self {
            name: head.name.clone(),
            encoding: head.charset.as_ref().map(|charset| charset.label.clone()),
            delimiter: head.delimiter,
            sheet: head.sheet.clone(),
            columns: head.columns.clone(),
            taken_for: taken_for.into_iter().filter_map(|(what, of)| Some((what, of?))).collect(),
            samples: head.samples.clone(),
        }
    }
}

/// People who are left out by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Exceptions {
    keys: HashSet<String>,
    addresses: HashSet<String>,
}

impl Exceptions {
    pub(super) fn holds(&self, key: &str, address_key: &str) -> bool {
        self.keys.contains(key) || self.addresses.contains(address_key)
    }
}

impl Ops {
    /// Opens the source of an import.
    pub(super) async fn open_source(
        &self,
        from: &SourceName,
        how: &HowToRead,
    ) -> Result<Reader, OpsError> {
        let options = self.options(how, Wanted::People);
        Ok(intake::open(self.source(from, how).await?, &options).await?)
    }

    /// Reads the lists of people to leave out; their keys and addresses are kept in memory.
    pub(super) async fn exceptions(
        &self,
        lists: &[SourceName],
        how: &HowToRead,
    ) -> Result<Exceptions, OpsError> {
        let mut found = Exceptions::default();
        for list in lists {
            // Columns were named for the source, not for these lists.
            let options = Options {
                map: Vec::new(),
                map_state: Vec::new(),
                ..self.options(how, Wanted::List)
            };
            let mut reader = intake::open(self.source(list, how).await?, &options).await?;
            loop {
                let entries = reader.next().await?;
                if entries.is_empty() {
                    break;
                }
                for entry in entries {
                    found.add(entry)?;
                }
            }
        }
        Ok(found)
    }

    fn options(&self, how: &HowToRead, wanted: Wanted) -> Options {
        Options {
            wanted,
            encoding: how.encoding.clone(),
            language: Some(self.settings.language.as_str().to_owned()),
            delimiter: how.delimiter,
            sheet: how.sheet.clone(),
            map: how.map.clone(),
            map_state: how.map_state.clone(),
            zone: Some(self.settings.timezone.clone()),
        }
    }

    async fn source(&self, name: &SourceName, how: &HowToRead) -> Result<Source, OpsError> {
        match name {
            SourceName::File(path) => Ok(Source::File(path.clone())),
            SourceName::Stdin => Ok(Source::Stdin),
            SourceName::Query(name) => self.query(name, how),
            SourceName::Batch { name, which } => {
                let batch = self.batch(name).await?;
                let rows = rows(self.ledger.clone(), batch.id, which.clone(), self.now());
                let filter = match (which.state, which.unknown) {
                    (Some(state), _) => format!("?state={state}"),
                    (None, true) => "?state=unknown".to_owned(),
                    (None, false) => String::new(),
                };
                Ok(Source::Rows(Rows { name: format!("batch:{name}{filter}"), rows }))
            }
        }
    }

    fn query(&self, name: &str, how: &HowToRead) -> Result<Source, OpsError> {
        let queries = &self.settings.queries;
        let Some(query) = queries.get(name) else {
            let known: Vec<_> = queries.keys().map(String::as_str).collect();
            let err = OpsError::missing(format!("the configuration has no [queries.{name}]"));
            return Err(match nearest(name, &known) {
                Some(near) => err.hint(format!("did you mean query:{near}?")),
                None => err,
            });
        };
        // A relative file was resolved when the configuration was read.
        let location = Location::parse(query.database.expose(), Path::new("")).map_err(|err| {
            OpsError::usage(format!("[queries.{name}] cannot be read")).because(err)
        })?;
        Ok(Source::Query(Query {
            name: format!("query:{name}"),
            database: location,
            sql: query.sql.clone(),
            params: how.params.clone(),
        }))
    }
}

impl Exceptions {
    /// A line that cannot be read could be somebody who must not be mailed: it is no small matter.
    fn add(&mut self, entry: Entry) -> Result<(), OpsError> {
        match entry {
            Entry::Named(named) => {
                self.keys.extend(named.key);
                self.addresses.extend(named.address.map(|address| address.compare_form()));
            }
            Entry::Person(line) => {
                self.addresses.insert(line.address.compare_form());
                self.keys.insert(line.key);
            }
            // Only an import reads what became of somebody's mail.
            Entry::Told(told) => {
                self.addresses.extend(told.address.map(|address| address.compare_form()));
                self.keys.insert(told.key);
            }
            Entry::Rejected(rejected) => {
                let finding = rejected.finding;
                return Err(OpsError::usage(format!(
                    "line {} of a list to leave out cannot be read: {}",
                    finding.line, finding.why
                ))
                .hint("nothing was imported; correct the list first"));
            }
        }
        Ok(())
    }
}

type Outside = Box<dyn std::error::Error + Send + Sync>;

/// Returns the rows of a batch, read a page at a time.
fn rows(
    ledger: Ledger,
    batch: crate::domain::id::BatchId,
    which: Selection,
    now: crate::domain::time::Timestamp,
) -> Pin<Box<dyn Stream<Item = Result<Row, Outside>> + Send>> {
    const PAGE: i64 = 2_000;
    let pages = stream::try_unfold(Some(After::Start), move |after| {
        let (ledger, which) = (ledger.clone(), which.clone());
        async move {
            let Some(after) = after else { return Ok(None) };
            let page = ledger.rows(batch, &which, after, PAGE, now).await?;
            let next = page.rows.last().map(|last| After::Row(last.id));
            if next.is_none() {
                return Ok(None);
            }
            let rows = page
                .rows
                .into_iter()
                .map(|row| Ok(Row { key: row.key, address: row.address, fields: row.fields }));
            Ok::<_, Outside>(Some((stream::iter(rows), next)))
        }
    });
    Box::pin(futures_util::TryStreamExt::try_flatten(pages))
}
