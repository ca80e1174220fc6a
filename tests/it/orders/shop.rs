//! A shop: its configuration, its Redis, the mail company's API, and workers.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::api::{Api, Call, Says};
use crate::support::redis::Redis;
use crate::support::shell::{Output, Shell};

/// Where the shop's jobs lie, after the address of Redis.
pub(super) const STREAM: &str = "stream=orders&group=ittsu&idle=300ms";

pub(super) struct Shop {
    pub(super) shell: Shell,
    pub(super) redis: Redis,
    pub(super) api: Api,
}

impl Shop {
    /// Opens a shop whose API says yes to everything.
    pub(super) fn open(ledger: &str, kind: &str) -> Self {
        Self::with(ledger, STREAM, kind, |_| Says::yes())
    }

    /// Opens a shop; `kind` is what stands in `[kinds.order]` besides the usual.
    pub(super) fn with(
        ledger: &str,
        queue: &str,
        kind: &str,
        api: impl Fn(&Call) -> Says + Send + Sync + 'static,
    ) -> Self {
        let (redis, api) = (Redis::start(), Api::start(api));
        let shell = Shell::new().set("ITTSU_STATE_DIR", "state");
        let (queue, url) = (format!("{}?{queue}", redis.url()), api.url());
        shell.write(
            "ittsu.toml",
            format!(
                r#"ledger = "{ledger}"
timezone = "UTC"
[http.mailco]
url = "{url}"
body = '{{"to": {{{{ address | tojson }}}}, "text": {{{{ text | tojson }}}}, "key": {{{{ key | tojson }}}}}}'
id = "/id"
connections = 4
[worker]
heartbeat = "1s"
lost_after = "5s"
[kinds.order]
via = "http.mailco"
from = "Shop <order@shop.example>"
template = "order.txt"
once_per = "kind"
batch = "order-{{date}}"
retry = {{ attempts = 3, first = "1s", last = "2s" }}
queue = "{queue}"
{kind}
"#
            ),
        );
        shell.write("order.txt", "Subject: Order {{ key }}\n\nDear {{ name | default('you') }}.\n");
        let shop = Self { shell, redis, api };
        // Only these commands make a ledger; the kind's first batch opens by itself.
        shop.shell.write("none.csv", "key,address\nk,nobody@shop.example\n");
        let made = shop.run("import order setup --from none.csv");
        assert_eq!(made.code, Some(0), "{made}");
        assert_eq!(shop.run("discard setup").code, Some(0));
        shop
    }

    /// Puts a job with an address in it into the stream.
    pub(super) fn order(&self, key: &str) {
        self.redis.add("orders", &job(key));
    }

    pub(super) fn run(&self, line: &str) -> Output {
        self.shell.run(&line.split(' ').collect::<Vec<_>>())
    }

    /// Runs a command of which only the effect counts.
    pub(super) fn does(&self, line: &str) {
        let _ = self.run(line);
    }

    pub(super) fn json(&self, line: &str) -> Value {
        let output = self.run(&format!("{line} --json"));
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"))
    }

    /// Returns the sums over every batch: total, sent, failed, unknown, assumed, ready.
    pub(super) fn sums(&self) -> Sums {
        let status = self.json("status");
        let mut sums = Sums::default();
        for batch in status["batches"].as_array().expect("batches") {
            let number = |name: &str| batch[name].as_i64().expect("a number");
            sums.total += number("total");
            sums.sent += number("sent");
            sums.failed += number("failed");
            sums.unknown += number("unknown");
            sums.assumed += number("assumed");
            sums.ready += number("ready");
        }
        sums
    }

    /// Starts a worker that goes on until it is told to end.
    pub(super) fn hire(&self) -> Hired {
        self.hire_doomed("")
    }

    /// Starts a worker that dies at a fail point.
    pub(super) fn hire_doomed(&self, at: &str) -> Hired {
        let mut command = self.shell.command(&["work"]);
        if !at.is_empty() {
            command.env("ITTSU_FAIL_AT", at);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Hired(command.spawn().expect("a worker"))
    }

    /// Waits until the ledger or the API shows what a test waits for.
    pub(super) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            let late = begun.elapsed() > Duration::from_secs(90);
            assert!(!late, "it never came to this: {what}; {:?}", self.sums());
            std::thread::yield_now();
        }
    }

    /// Reports whether no job is left that somebody took.
    pub(super) fn is_done(&self, queue: &str) -> bool {
        if queue.starts_with("list") {
            self.redis.tell::<i64>(redis::cmd("LLEN").arg("orders:processing")) == 0
        } else {
            self.redis.pending("orders") == 0
        }
    }

    /// How often the mail of each order went out.
    pub(super) fn times(&self) -> BTreeMap<String, usize> {
        let mut times = BTreeMap::new();
        for call in self.api.taken() {
            *times.entry(call.field("key")).or_default() += 1;
        }
        times
    }

    /// Makes sure that nobody got two mails, and returns how many got one.
    pub(super) fn nobody_twice(&self) -> usize {
        let times = self.times();
        let twice: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "mailed twice: {twice:?}");
        times.len()
    }
}

/// The counts of a shop's orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) total: i64,
    pub(super) sent: i64,
    pub(super) failed: i64,
    pub(super) unknown: i64,
    pub(super) assumed: i64,
    pub(super) ready: i64,
}

/// A worker that ends with its owner.
pub(super) struct Hired(Child);

impl Hired {
    pub(super) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Waits until it is dead, and says whether a signal killed it.
    pub(super) fn died(&mut self) -> bool {
        self.0.wait().expect("a worker that ends").code().is_none()
    }

    pub(super) fn is_alive(&mut self) -> bool {
        self.0.try_wait().expect("a worker").is_none()
    }

    /// Asks it to end and waits.
    pub(super) fn drain(mut self) {
        let pid = Pid::from_raw(i32::try_from(self.0.id()).expect("a pid")).expect("a pid");
        let _ = kill_process(pid, Signal::TERM);
        let _ = self.0.wait();
    }
}

impl Drop for Hired {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A job with everything in it.
pub(super) fn job(key: &str) -> String {
    format!(r#"{{"id":"{key}","address":"c{key}@shop.example","fields":{{"name":"N{key}"}}}}"#)
}
