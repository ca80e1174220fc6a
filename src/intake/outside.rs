//! People out of a foreign database, and rows that the caller hands in.

use futures_util::StreamExt as _;

use super::check::Checker;
use super::columns::Columns;
use super::csv::Record;
use super::error::IntakeError;
use super::reader::{Ended, Head, Out};
use super::source::{Options, Query, Rows};
use super::text::SHOWN;
use crate::db::{Source as Database, SourceRow};

/// Rows that are looked at to map the columns.
const SAMPLES: usize = 50;

/// Reads what a query finds, as text; absent values stay absent.
pub(super) async fn read_query(
    query: &Query,
    options: &Options,
    out: &mut Out,
) -> Result<(), Ended> {
    let failed = |source: crate::db::DbError| IntakeError::Outside {
        name: query.name.clone(),
        source: Box::new(source),
    };
    let mut database = Database::open(&query.database).await.map_err(failed)?;
    let mut found = database.query(&query.sql, &query.params).map_err(failed)?;
    let mut first = Vec::new();
    while first.len() < SAMPLES {
        let Some(row) = found.next().await else { break };
        first.push(row.map_err(failed)?);
    }
    let Some(names) = first.first().map(|row: &SourceRow| row.columns.to_vec()) else {
        // No row, no columns: that there is nobody is for the caller to judge.
        out.head_async(Head { name: query.name.clone(), ..Head::default() }).await?;
        return Ok(());
    };
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let samples: Vec<Vec<String>> =
        first.iter().map(|row| row.values.iter().map(text).collect()).collect();
    let columns = Columns {
        source: &query.name,
        line: 0,
        names: &names,
        samples: &samples,
        named_on_purpose: true,
    };
    let mapping = columns.map(options)?;
    let checker = Checker::new(options.wanted, &names, &mapping);
    out.head_async(Head {
        name: query.name.clone(),
        has_headings: true,
        columns: names,
        mapping,
        samples: samples.into_iter().take(SHOWN).collect(),
        ..Head::default()
    })
    .await?;
    let mut number = 0;
    let mut rows = futures_util::stream::iter(first.into_iter().map(Ok)).chain(found);
    while let Some(row) = rows.next().await {
        number += 1;
        if let Some(entry) = checker.record(&record(number, &row.map_err(failed)?)) {
            out.entry_async(entry).await?;
        }
    }
    Ok(())
}

fn record(number: u64, row: &SourceRow) -> Record {
    let mut record = Record::of::<&str>(number, []);
    for value in &row.values {
        match value {
            Some(text) => record.push(text),
            None => record.push_null(),
        }
    }
    record
}

/// Reads rows that come with key, address and fields.
pub(super) async fn read_rows(mut rows: Rows, out: &mut Out) -> Result<(), Ended> {
    out.head_async(Head { name: rows.name.clone(), has_headings: true, ..Head::default() }).await?;
    let mut number = 0;
    while let Some(row) = rows.rows.next().await {
        let row = row.map_err(|source| IntakeError::Outside { name: rows.name.clone(), source })?;
        number += 1;
        out.entry_async(Checker::row(number, &row.key, &row.address, row.fields)).await?;
    }
    Ok(())
}
