//! What a worker is told when it starts, as plain values.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::compose::{Dkim, RequestBody};
use crate::domain::breaker::Limits;
use crate::domain::id::BatchId;
use crate::domain::rate::Rate;
use crate::transport::Route;

/// Everything a worker needs to know besides the ledger.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the step file and the outcome file live; must survive this process.
    pub state_dir: PathBuf,
    pub heartbeat: Duration,
    /// A beat that has not moved for so long makes a worker lost.
    pub lost_after: Duration,
    pub serve: Serve,
    pub until: Until,
    /// The transports of the configuration by the name that a batch has frozen (`smtp.relay`).
    pub routes: BTreeMap<String, RouteSettings>,
    /// Only these addresses (`a@example.jp`) or domains (`@example.jp`); empty: everybody.
    pub only_to: Vec<String>,
    /// Whose days a rate per day counts.
    pub zone: TimeZone,
    /// The keys that sign a kind's messages, by kind.
    pub dkim: BTreeMap<String, Arc<Dkim>>,
    /// When the breakers trip.
    pub limits: Limits,
    pub grouping: Grouping,
    /// Where jitter begins; a test gives a fixed one.
    pub seed: u64,
}

/// Which batches a worker takes rows from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Serve {
    #[default]
    Everything,
    Kinds(Vec<String>),
    /// This one only: `ittsu send` works on its own batch.
    Batch(BatchId),
}

/// When a worker ends by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    #[default]
    Forever,
    /// Nothing is ready, now or later, and nothing is in the hands of a living worker.
    Idle,
    /// Nothing is due now.
    NothingDue,
}

/// How the ledger's writes travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// All writes that wait share one transaction, and a finish travels with the next start.
    #[default]
    Together,
    /// One transaction for each transition; only to measure what the recorder gains.
    OneByOne,
}

/// A transport with what all workers share about it.
#[derive(Clone, Debug)]
pub struct RouteSettings {
    pub route: Route,
    /// Connections open at once, of all workers together.
    pub connections: usize,
    pub messages_per_connection: u32,
    /// None: as fast as it goes.
    pub rate: Option<Rate>,
    /// What a call to a mail API holds; none where the message itself is handed over.
    pub request: Option<Arc<RequestBody>>,
    /// The longest time from the start of an attempt in which its answer can come.
    pub longest: Duration,
}
