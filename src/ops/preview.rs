//! Real messages, built from real rows, before anything is sent.

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::kind::Builder;
use crate::compose::{BuildError, Built, Person, Stamp};
use crate::domain::address::Address;
use crate::domain::name::BatchName;
use crate::domain::selection::Selection;
use crate::domain::time::Timestamp;
use crate::ledger::batches::Batch;
use crate::ledger::rows::{After, RowView};

/// `ittsu/preview/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreviewBody {
    pub batch: String,
    pub from: String,
    pub messages: Vec<MessageBody>,
}

/// One message as its person will get it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageBody {
    pub key: String,
    pub to: String,
    /// Why it is shown among the worst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looks: Option<String>,
    pub subject: Option<String>,
    pub text: Option<String>,
    pub html: Option<String>,
    pub size: Option<usize>,
    /// Why it cannot be built.
    pub error: Option<String>,
}

/// Which messages are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    First,
    Key(String),
    /// So many of those that most likely look wrong.
    Worst(usize),
}

/// Rows looked at together.
const PAGE: i64 = 2_000;

impl Ops {
    /// Builds messages of a batch and changes nothing.
    pub async fn preview(&self, name: &BatchName, which: &Which) -> Result<PreviewBody, OpsError> {
        let batch = self.batch(name).await?;
        let message = self.ledger.message(batch.id, batch.template_version).await?;
        let builder = self.builder(&batch, &message)?;
        let rows = match which {
            Which::First => vec![(self.first_row(&batch).await?, None)],
            Which::Key(key) => vec![(self.ledger.show(&batch, key).await?.row, None)],
            Which::Worst(many) => self.worst(&batch, &builder, *many).await?,
        };
        let messages = rows.into_iter().map(|(row, looks)| {
            let built = self.build(&builder, &batch, &row);
            MessageBody { looks, ..dress(&row, built) }
        });
        Ok(PreviewBody {
            batch: batch.name.clone(),
            from: batch.frozen.from.clone(),
            messages: messages.collect(),
        })
    }

    /// Returns the first row of a batch.
    pub(super) async fn first_row(&self, batch: &Batch) -> Result<RowView, OpsError> {
        let page =
            self.ledger.rows(batch.id, &Selection::default(), After::Start, 1, self.now()).await?;
        page.rows.into_iter().next().ok_or_else(|| {
            OpsError::missing(format!("there is nobody in `{}`", batch.name))
                .hint(format!("ittsu import {} {} --from FILE", batch.kind, batch.name))
        })
    }

    /// Builds the message of one row as it would leave now.
    pub(super) fn build(
        &self,
        builder: &Builder,
        batch: &Batch,
        row: &RowView,
    ) -> Result<Built, BuildError> {
        let date = row.first_started.unwrap_or_else(|| self.now());
        let message_id = self.dress().message_id(batch, row).unwrap_or_default();
        build_row(builder, row, &Stamp { message_id, date })
    }

    /// Returns the rows whose messages most likely look wrong, the worst first, and why.
    async fn worst(
        &self,
        batch: &Batch,
        builder: &Builder,
        many: usize,
    ) -> Result<Vec<(RowView, Option<String>)>, OpsError> {
        let mut worst: Vec<(u64, RowView, String)> = Vec::new();
        let mut after = After::Start;
        loop {
            let page =
                self.ledger.rows(batch.id, &Selection::default(), after, PAGE, self.now()).await?;
            let Some(last) = page.rows.last() else { break };
            after = After::Row(last.id);
            for row in page.rows {
                let (score, why) = self.looks(builder, batch, &row);
                worst.push((score, row, why));
            }
            worst.sort_by_key(|(score, _, _)| std::cmp::Reverse(*score));
            worst.truncate(many);
        }
        Ok(worst.into_iter().map(|(_, row, why)| (row, Some(why))).collect())
    }

    /// Scores how likely a message looks wrong.
    fn looks(&self, builder: &Builder, batch: &Batch, row: &RowView) -> (u64, String) {
        let built = match self.build(builder, batch, row) {
            Ok(built) => built,
            Err(err) => return (u64::MAX, format!("cannot be built: {err}")),
        };
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&row.fields).unwrap_or_default();
        let empty: Vec<_> = builder
            .template
            .placeholders()
            .iter()
            .filter(|name| fields.get(*name).and_then(|value| value.as_str()) == Some(""))
            .map(String::as_str)
            .collect();
        let odd = built.text.chars().chain(built.subject.chars()).filter(|&c| is_odd(c)).count();
        if !empty.is_empty() {
            let score = 2_000_000_000 + empty.len() as u64;
            return (score, format!("empty: {}", empty.join(", ")));
        }
        if odd > 0 {
            return (1_000_000_000 + odd as u64, format!("odd characters: {odd}"));
        }
        let length = built.subject.chars().count() + built.text.chars().count();
        (length as u64, format!("long: {length} characters"))
    }
}

/// Builds a row's message.
pub(super) fn build_row(
    builder: &Builder,
    row: &RowView,
    stamp: &Stamp,
) -> Result<Built, BuildError> {
    let (address, _) = Address::parse(&row.address).map_err(|err| BuildError::Address {
        address: row.address.clone(),
        why: err.to_string(),
    })?;
    let person = Person { key: &row.key, address: &address, fields: &row.fields };
    builder.build(&person, stamp)
}

/// Returns a stamp as long as a real one, for messages that are only checked.
pub(super) fn any_stamp(domain: &str, now: Timestamp) -> Stamp {
    let message_id = format!("<{}@{domain}>", "0".repeat(40));
    Stamp { message_id, date: now }
}

/// A character that a broken conversion leaves behind.
const fn is_odd(c: char) -> bool {
    matches!(c, '\u{fffd}' | '\u{ff1f}' | '\u{3013}' | '\u{25a0}' | '\u{e000}'..='\u{f8ff}')
}

fn dress(row: &RowView, built: Result<Built, BuildError>) -> MessageBody {
    let (key, to) = (row.key.clone(), row.address.clone());
    match built {
        Ok(built) => MessageBody {
            key,
            to,
            subject: Some(built.subject),
            text: Some(built.text),
            html: built.html,
            size: Some(built.size),
            ..MessageBody::default()
        },
        Err(err) => MessageBody { key, to, error: Some(err.to_string()), ..MessageBody::default() },
    }
}
