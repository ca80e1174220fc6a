//! A Redis of a test's own: started empty on a free port, killed with the test.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{Cmd, Connection, FromRedisValue};
use tempfile::TempDir;

/// A running server that keeps nothing on disk.
pub(crate) struct Redis {
    port: u16,
    folder: TempDir,
    child: Option<Child>,
}

impl Redis {
    pub(crate) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = port.expect("a free port").port();
        let folder = tempfile::Builder::new().prefix("ittsu-redis-").tempdir().expect("a folder");
        let mut redis = Self { port, folder, child: None };
        redis.restart();
        redis
    }

    /// Returns the address of the first database.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Kills it; what it held is gone.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again, empty.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let child = Command::new("redis-server")
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--dir"])
            .arg(self.folder.path())
            .stdout(Stdio::null())
            .stdin(Stdio::null())
            .spawn()
            .expect("redis-server is not installed: run tests/run");
        self.child = Some(child);
        let begun = Instant::now();
        while self.try_connect().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(20), "Redis does not come up");
            std::thread::yield_now();
        }
    }

    /// Runs one command.
    pub(crate) fn tell<T: FromRedisValue>(&self, command: &Cmd) -> T {
        let mut connection = self.try_connect().expect("a connection to Redis");
        command.query(&mut connection).expect("an answer of Redis")
    }

    /// Puts a job into a stream.
    pub(crate) fn add(&self, stream: &str, job: &str) {
        self.tell::<String>(redis::cmd("XADD").arg(stream).arg("*").arg("job").arg(job));
    }

    /// Returns how many jobs of a stream were taken and not acknowledged.
    pub(crate) fn pending(&self, stream: &str) -> i64 {
        let all: redis::Value = self.tell(redis::cmd("XPENDING").arg(stream).arg("ittsu"));
        match all {
            redis::Value::Array(parts) => match parts.first() {
                Some(redis::Value::Int(pending)) => *pending,
                other => panic!("no number of pending jobs: {other:?}"),
            },
            other => panic!("no answer about pending jobs: {other:?}"),
        }
    }

    fn try_connect(&self) -> Option<Connection> {
        let mut connection = redis::Client::open(self.url()).ok()?.get_connection().ok()?;
        let pong: Result<String, _> = redis::cmd("PING").query(&mut connection);
        pong.ok().map(|_| connection)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}
