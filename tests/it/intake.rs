//! Sources of every kind, read to checked people.

mod charset;
mod exclusions;
mod files;
mod findings;
mod queries;
mod workbook;

use std::path::PathBuf;

use ittsu::intake::{Entry, Head, IntakeError, Line, Options, Rejected, Source, open};
use tempfile::TempDir;

/// Everything that a source held.
#[derive(Debug)]
struct Found {
    head: Head,
    entries: Vec<Entry>,
}

impl Found {
    fn people(&self) -> Vec<&Line> {
        let mut people = Vec::new();
        for entry in &self.entries {
            if let Entry::Person(line) = entry {
                people.push(line);
            }
        }
        people
    }

    fn rejected(&self) -> Vec<&Rejected> {
        let mut rejected = Vec::new();
        for entry in &self.entries {
            if let Entry::Rejected(one) = entry {
                rejected.push(one);
            }
        }
        rejected
    }

    /// One line per entry, for comparing.
    fn told(&self) -> Vec<String> {
        let tell = |entry: &Entry| match entry {
            Entry::Person(line) => {
                let name = line.name.as_deref().unwrap_or("-");
                format!("{} {} <{}> {name}", line.number, line.key, line.address)
            }
            Entry::Told(told) => format!("{} {} {:?}", told.number, told.key, told.past),
            Entry::Named(named) => {
                let address = named.address.as_ref().map(ToString::to_string);
                format!("{} {:?} {:?}", named.number, named.key.as_deref(), address.as_deref())
            }
            Entry::Rejected(rejected) => {
                let finding = &rejected.finding;
                format!(
                    "{} {}: {} ({:?})",
                    finding.line, finding.column, finding.why, finding.value
                )
            }
        };
        self.entries.iter().map(tell).collect()
    }
}

async fn read(source: Source, options: &Options) -> Result<Found, IntakeError> {
    let mut reader = open(source, options).await?;
    let mut entries = Vec::new();
    loop {
        let chunk = reader.next().await?;
        if chunk.is_empty() {
            return Ok(Found { head: reader.head, entries });
        }
        entries.extend(chunk);
    }
}

/// A file with these bytes, gone with the folder.
fn file(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

async fn read_file(
    name: &str,
    bytes: impl AsRef<[u8]>,
    options: &Options,
) -> Result<Found, IntakeError> {
    let (_folder, path) = file(name, bytes);
    read(Source::File(path), options).await
}

/// Reads a CSV file of which nothing is known before.
async fn read_csv(bytes: impl AsRef<[u8]>) -> Found {
    read_file("people.csv", bytes, &Options::default()).await.unwrap()
}
