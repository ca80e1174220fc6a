//! A first configuration, with a comment at every value.

use crate::domain::policy::Policy;

/// What the person answered.
#[derive(Clone, Debug)]
pub struct Answers {
    pub host: String,
    pub sender: String,
    /// Each kind and what happens to its mails when nobody can know.
    pub kinds: Vec<(String, Policy)>,
}

/// Returns the text of the file.
pub fn file(answers: &Answers) -> String {
    let mut text = HEAD.replace("{host}", &quoted(&answers.host));
    for (name, policy) in &answers.kinds {
        let kind = KIND
            .replace("{name}", name)
            .replace("{policy}", policy.as_str())
            .replace("{meaning}", meaning(*policy))
            .replace("{sender}", &quoted(&answers.sender));
        text.push_str(&kind);
    }
    text.push_str(FOOT);
    text
}

/// Returns a first message, so that the file's `template` leads somewhere.
pub const TEMPLATE: &str = "\
Subject: A notice for {{ name | default('you') }}

Hello,

this is the message that everybody in a batch gets. Any column of the list can be
used in it, as {{ key }} is here.
";

/// Says what a policy means for the person who gets the mail.
pub const fn meaning(policy: Policy) -> &'static str {
    match policy {
        Policy::AssumeSent => "count as sent: may lose one, never doubles",
        Policy::Resend => "send again: may double, never loses",
        Policy::Hold => "wait for a person, who decides each one",
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

const HEAD: &str = r#"# ittsu: `ittsu config check` checks this file, `ittsu config show` says where each value comes from.
# Variables (ITTSU_LEDGER, ITTSU_SMTP__RELAY__PORT, ...) and flags win over it.
# Relative paths are relative to this file.

ledger = "sqlite:ittsu.db"          # or postgres://USER@HOST/NAME, mysql://USER@HOST/NAME
# label = "PRODUCTION"              # shown on every screen and in every dialog
# timezone = "Asia/Tokyo"           # for dates, hours and --at; default: the system's
# language = "en"                   # en, ja, ko
# only_to = ["@example.co.jp"]      # for test systems: any other address is left out

[smtp.relay]                        # a way out; a kind names it in `via`
host = {host}
port = 587
tls = "starttls"                    # implicit (port 465), starttls, none (this machine only)
# user = "bulk"
# password = { env = "SMTP_PASSWORD" }   # or { file = "..." } or { command = "..." }
# ca = "relay-ca.pem"               # trust only this authority
connections = 8                     # at once, of all workers together
messages_per_connection = 100
# rate = "1200/min"                 # of all workers together; also 20/s, 50000/day

[folder.rehearsal]                  # writes .eml files instead of sending
path = "rehearsal"
"#;

const KIND: &str = r#"
[kinds.{name}]
via = "smtp.relay"                  # or "folder.rehearsal"
on_unknown = "{policy}"             # {meaning}
once_per = "batch"                  # one mail per key in a batch; "kind": in all batches
from = {sender}
# envelope_from = "bounce@example.com"   # where bounces go; default: the sender's address
template = "templates/{name}.txt"   # header lines, an empty line, the text; .html beside it
# words = { key = "member number", person = "member" }
retry = { attempts = 5, first = "5m", last = "4h" }
# hours = "08:00-21:00"             # outside, it waits and says so
# give_up_after = "3d"              # rows still waiting then become failed (expired)
# dkim = { domain = "example.com", selector = "ittsu1", key = "dkim.pem" }
"#;

const FOOT: &str = r#"
# [queries.members]                 # people from a database: import ... --from query:members
# database = "mysql://USER@HOST/NAME"
# sql = "select member_no as key, email as address, name from member where grade >= :grade"
"#;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::{Request, Settings};

    #[test]
    fn the_first_configuration_is_right_whatever_was_answered() {
        let answers = Answers {
            host: "mail.example.com".to_owned(),
            sender: "会員 \"サービス\" <notice@example.com>".to_owned(),
            kinds: vec![
                ("notice".to_owned(), Policy::Resend),
                ("order".to_owned(), Policy::AssumeSent),
            ],
        };
        let request = Request { here: PathBuf::from("/tmp"), ..Request::default() };
        let text = file(&answers);
        let settings = Settings::read(&request, None, &text).unwrap();
        assert_eq!(settings.kinds["notice"].on_unknown.crash, Policy::Resend);
        assert_eq!(settings.kinds["order"].on_unknown.no_answer, Policy::AssumeSent);
        assert_eq!(settings.kinds["order"].from, answers.sender);

        // What is commented out is right as well, once the hash is gone.
        let all: String = text
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(line) if line.contains(" = ") || line.starts_with('[') => format!("{line}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let settings = Settings::read(&request, None, &all).unwrap();
        assert!(settings.kinds["order"].dkim.is_some());
        assert_eq!(settings.queries.len(), 1);
    }
}
