//! An operator's desk: a configuration, a template, a list, and a mail server that does as told.

use std::fmt::Write as _;

use ittsu::cli::demo::mailserver::{Behaviour, MailServer};
use serde_json::Value;

use crate::support::shell::{Output, Shell};

/// A shell with everything that a notice needs.
pub(crate) struct Desk {
    pub(crate) shell: Shell,
    pub(crate) server: MailServer,
}

impl Desk {
    /// Sets a desk up; `kind` is what stands in `[kinds.notice]` besides the usual.
    pub(crate) fn new(kind: &str) -> Self {
        let server = MailServer::start(Behaviour::default()).expect("a mail server");
        let shell = Shell::new();
        let port = server.addr().port();
        shell.write(
            "ittsu.toml",
            format!(
                r#"ledger = "sqlite:ittsu.db"
timezone = "Asia/Tokyo"
[smtp.relay]
host = "127.0.0.1"
port = {port}
tls = "none"
connections = 2
[worker]
heartbeat = "1s"
lost_after = "10s"
[kinds.notice]
via = "smtp.relay"
from = "Members <notice@service.example>"
template = "notice.txt"
retry = {{ attempts = 3, first = "1s", last = "2s" }}
{kind}
"#
            ),
        );
        shell.write(
            "notice.txt",
            "Subject: News for {{ name }}\n\nDear {{ name }}, number {{ no }}.\n",
        );
        Self { shell, server }
    }

    /// Writes a list with one line for each local part, numbered from 1.
    pub(crate) fn list(&self, file: &str, people: &[&str]) {
        let mut csv = "no,name,email\n".to_owned();
        for (place, who) in people.iter().enumerate() {
            writeln!(csv, "{},Person {who},{who}@member.example", place + 1).expect("text");
        }
        self.shell.write(file, csv);
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.shell.run(&line.split(' ').collect::<Vec<_>>())
    }

    /// Runs a command that has to succeed.
    pub(crate) fn done(&self, line: &str) {
        let output = self.run(line);
        assert_eq!(output.code, Some(0), "{line}: {output}");
    }

    /// Runs a command with `--json` and reads its document.
    pub(crate) fn json(&self, line: &str) -> Value {
        let output = self.run(&format!("{line} --json"));
        serde_json::from_str(&output.stdout).unwrap_or_else(|err| panic!("{line}: {err}: {output}"))
    }

    /// Returns the one batch of `status --json`.
    pub(crate) fn batch(&self, name: &str) -> Value {
        self.json(&format!("status {name}"))["batches"][0].clone()
    }

    /// Imports these people into `notice-1` and starts it.
    pub(crate) fn started(self, people: &[&str]) -> Self {
        self.list("m.csv", people);
        self.done("import notice notice-1 --from m.csv");
        self.done(&format!("start notice-1 --confirm {}", people.len()));
        self
    }

    /// Works until nothing is left.
    pub(crate) fn work(&self) -> Option<i32> {
        self.run("work --until-idle").code
    }
}

/// Returns the names of a document's fields, in order.
pub(crate) fn fields(document: &Value) -> Vec<&str> {
    document.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Returns what was printed without the times, which differ from run to run.
pub(crate) fn timeless(text: &str) -> String {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let fits = |bytes: &[u8]| {
        bytes.len() >= SHAPE.len()
            && bytes.iter().zip(SHAPE).all(|(byte, shape)| match shape {
                b'd' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        if fits(rest.as_bytes()) {
            let tail = rest.split_at(SHAPE.len()).1;
            let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | ':');
            rest = tail.trim_start_matches(part);
            out += "TIME";
        } else {
            out.push(first);
            rest = rest.split_at(first.len_utf8()).1;
        }
    }
    out
}
