//! A queue of jobs in Redis: a stream with a consumer group, or a plain list.
//!
//! Promise: a job stays in Redis until `done` is called for it, whatever happens to this process in
//! between; it may then come again, to this worker or to another one.
//! Absent on purpose: what a job means (`job`), and any memory of what came: the ledger has that.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::streams::{StreamAutoClaimReply, StreamId, StreamReadReply};
use redis::{AsyncConnectionConfig, Client, RedisError, Value, cmd, pipe};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::Instant;

/// How long a connection may take, and an answer beyond the time that was asked to wait.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where jobs come from.
#[derive(Clone, Debug)]
pub struct QueueSettings {
    /// `redis://…`, with a password if there is one.
    pub url: SecretString,
    pub shape: Shape,
    /// This process among those that read the same queue.
    pub consumer: String,
    /// A job that was taken and not done for so long is taken over.
    pub idle: Duration,
}

/// How the jobs lie in Redis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Stream { stream: String, group: String },
    List { list: String },
}

/// One job that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub payload: Vec<u8>,
    /// Its number in the stream; a list knows a job only by its text.
    entry: Option<String>,
}

/// What can go wrong; never holds the password.
#[derive(Debug, thiserror::Error)]
#[error("Redis: {0}")]
pub struct QueueError(#[from] RedisError);

/// An open queue.
pub struct Queue {
    settings: QueueSettings,
    redis: MultiplexedConnection,
    /// From where jobs of others are looked through, and when that was done last.
    cursor: String,
    looked: Option<Instant>,
    /// Since when jobs have been lying in the list of those under way.
    lying: HashMap<Vec<u8>, Instant>,
}

impl Queue {
    /// Connects.
    pub async fn open(settings: QueueSettings) -> Result<Self, QueueError> {
        let client = Client::open(settings.url.expose_secret())?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let redis = client.get_multiplexed_async_connection_with_config(&config).await?;
        let (cursor, lying) = ("0-0".to_owned(), HashMap::new());
        Ok(Self { settings, redis, cursor, looked: None, lying })
    }

    /// Takes up to `most` jobs, waiting at most `wait` for the first.
    pub async fn take(&mut self, most: usize, wait: Duration) -> Result<Vec<Taken>, QueueError> {
        self.redis.set_response_timeout(wait + PATIENCE);
        match self.settings.shape.clone() {
            Shape::Stream { stream, group } => self.read_stream(&stream, &group, most, wait).await,
            Shape::List { list } => self.read_list(&list, most, wait).await,
        }
    }

    /// Says that these jobs need not come again.
    pub async fn done(&mut self, taken: &[Taken]) -> Result<(), QueueError> {
        if taken.is_empty() {
            return Ok(());
        }
        let mut all = pipe();
        match &self.settings.shape {
            Shape::Stream { stream, group } => {
                let mut ack = cmd("XACK");
                ack.arg(stream).arg(group);
                for job in taken {
                    ack.arg(job.entry.as_deref().unwrap_or_default());
                }
                all.add_command(ack).ignore();
            }
            Shape::List { list } => {
                let under_way = under_way(list);
                for job in taken {
                    self.lying.remove(&job.payload);
                    all.cmd("LREM").arg(&under_way).arg(1).arg(&job.payload).ignore();
                }
            }
        }
        Ok(all.query_async::<()>(&mut self.redis).await?)
    }

    async fn read_stream(
        &mut self,
        stream: &str,
        group: &str,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<Taken>, QueueError> {
        if self.looked.is_none_or(|at| at.elapsed() >= self.settings.idle / 2) {
            match self.left_by_others(stream, group, most).await {
                Ok(taken) if taken.is_empty() => {}
                done => return done,
            }
        }
        let read = cmd("XREADGROUP")
            .arg("GROUP")
            .arg(group)
            .arg(&self.settings.consumer)
            .arg("COUNT")
            .arg(most)
            .arg("BLOCK")
            .arg(millis(wait))
            .arg("STREAMS")
            .arg(stream)
            .arg(">")
            .query_async::<Option<StreamReadReply>>(&mut self.redis)
            .await;
        match read {
            Ok(reply) => {
                let keys = reply.into_iter().flat_map(|reply| reply.keys);
                Ok(keys.flat_map(|key| key.ids).map(taken).collect())
            }
            Err(error) if is_no_group(&error) => {
                self.make_group(stream, group).await?;
                Ok(Vec::new())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes over jobs that a consumer took and never finished.
    async fn left_by_others(
        &mut self,
        stream: &str,
        group: &str,
        most: usize,
    ) -> Result<Vec<Taken>, QueueError> {
        let claimed = cmd("XAUTOCLAIM")
            .arg(stream)
            .arg(group)
            .arg(&self.settings.consumer)
            .arg(millis(self.settings.idle))
            .arg(&self.cursor)
            .arg("COUNT")
            .arg(most)
            .query_async::<StreamAutoClaimReply>(&mut self.redis)
            .await;
        match claimed {
            Ok(reply) => {
                if reply.next_stream_id == "0-0" {
                    self.looked = Some(Instant::now());
                }
                self.cursor = reply.next_stream_id;
                Ok(reply.claimed.into_iter().map(taken).collect())
            }
            Err(error) if is_no_group(&error) => {
                self.make_group(stream, group).await?;
                Ok(Vec::new())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the group, and the stream with it: at the first start, or after Redis lost both.
    async fn make_group(&mut self, stream: &str, group: &str) -> Result<(), QueueError> {
        let made = cmd("XGROUP")
            .arg("CREATE")
            .arg(stream)
            .arg(group)
            .arg("0")
            .arg("MKSTREAM")
            .query_async::<()>(&mut self.redis)
            .await;
        match made {
            // Another worker was faster.
            Err(error) if error.code() == Some("BUSYGROUP") => Ok(()),
            made => Ok(made?),
        }
    }

    async fn read_list(
        &mut self,
        list: &str,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<Taken>, QueueError> {
        let under_way = under_way(list);
        let lying = self.lying_too_long(&under_way, most).await?;
        if !lying.is_empty() {
            return Ok(lying);
        }
        let first = cmd("BLMOVE")
            .arg(list)
            .arg(&under_way)
            .arg("RIGHT")
            .arg("LEFT")
            .arg(wait.as_secs_f64().max(0.01))
            .query_async::<Option<Vec<u8>>>(&mut self.redis)
            .await?;
        let Some(first) = first else { return Ok(Vec::new()) };
        let mut more = pipe();
        for _ in 1..most {
            more.cmd("LMOVE").arg(list).arg(&under_way).arg("RIGHT").arg("LEFT");
        }
        let more = more.query_async::<Vec<Option<Vec<u8>>>>(&mut self.redis).await?;
        let all = std::iter::once(first).chain(more.into_iter().flatten());
        Ok(all.map(|payload| Taken { payload, entry: None }).collect())
    }

    /// Returns jobs that lie among those under way for longer than anybody needs for one.
    async fn lying_too_long(
        &mut self,
        under_way: &str,
        most: usize,
    ) -> Result<Vec<Taken>, QueueError> {
        if self.looked.is_some_and(|at| at.elapsed() < self.settings.idle / 2) {
            return Ok(Vec::new());
        }
        self.looked = Some(Instant::now());
        let there = cmd("LRANGE")
            .arg(under_way)
            .arg(0)
            .arg(-1)
            .query_async::<Vec<Vec<u8>>>(&mut self.redis)
            .await?;
        let now = Instant::now();
        let there: HashSet<Vec<u8>> = there.into_iter().collect();
        self.lying.retain(|payload, _| there.contains(payload));
        for payload in there {
            self.lying.entry(payload).or_insert(now);
        }
        let long = self.lying.iter().filter(|(_, since)| since.elapsed() >= self.settings.idle);
        let long = long.take(most).map(|(payload, _)| payload.clone());
        Ok(long.map(|payload| Taken { payload, entry: None }).collect())
    }
}

/// The list of jobs that were taken and are not done.
fn under_way(list: &str) -> String {
    format!("{list}:processing")
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1)
}

fn is_no_group(error: &RedisError) -> bool {
    error.code() == Some("NOGROUP")
}

fn taken(entry: StreamId) -> Taken {
    let StreamId { id, map, .. } = entry;
    let payload = if let Some(job) = map.get("job").and_then(bytes) {
        job
    } else {
        let fields = map.iter().map(|(name, value)| {
            let text = bytes(value).unwrap_or_default();
            (name.clone(), String::from_utf8_lossy(&text).into_owned().into())
        });
        let object: serde_json::Map<String, serde_json::Value> = fields.collect();
        serde_json::Value::Object(object).to_string().into_bytes()
    };
    Taken { payload, entry: Some(id) }
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes.clone()),
        Value::SimpleString(text) => Some(text.clone().into_bytes()),
        Value::Int(number) => Some(number.to_string().into_bytes()),
        _ => None,
    }
}
