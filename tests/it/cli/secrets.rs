//! No password comes out anywhere: not in words, not in the log, not in the ledger.

use std::path::Path;

use ittsu::cli::demo::mailserver::{Behaviour, Login, MailServer};

use crate::support::shell::Shell;

const CANARY: &str = "kanaria-8c1f";

/// A shell whose relay wants a login, and one mail to send.
fn shell(server: &MailServer, secret: &str) -> Shell {
    let shell = Shell::new().set("RELAY_PASSWORD", secret);
    let port = server.addr().port();
    shell.write(
        "ittsu.toml",
        format!(
            "[smtp.relay]\nhost = \"127.0.0.1\"\nport = {port}\ntls = \"none\"\nuser = \"bulk\"\n\
             password = {{ env = \"RELAY_PASSWORD\" }}\n\
             [kinds.notice]\nvia = \"smtp.relay\"\nfrom = \"n@example.com\"\ntemplate = \"n.txt\"\n"
        ),
    );
    shell.write("n.txt", "Subject: Hello\n\nHello {{ key }}\n");
    shell.write("people.csv", "key,email\n1,a@example.jp\n");
    shell
}

fn wants_login() -> Behaviour {
    let login =
        Login { user: "bulk".to_owned(), password: CANARY.to_owned(), mechanisms: "PLAIN LOGIN" };
    Behaviour { login: Some(login), ..Behaviour::default() }
}

/// Reads every file below `folder`, the ledger and the state of workers included.
fn everything_below(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(everything_below(&path));
        } else {
            all.extend(std::fs::read(&path).unwrap());
        }
    }
    all
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn a_login_that_works_leaves_no_trace_of_the_password() {
    let server = MailServer::start(wants_login()).unwrap();
    let shell = shell(&server, CANARY);
    let send = ["-vv", "send", "notice", "notice-1", "--from", "people.csv", "--confirm", "1"];
    let run = shell.run(&send);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(server.journal().len(), 1);
    let encoded = data_encoding::BASE64.encode(format!("\0bulk\0{CANARY}").as_bytes());
    for word in [CANARY, encoded.as_str()] {
        assert!(!run.to_string().contains(word), "{run}");
        assert!(!holds(&everything_below(&shell.path("")), word), "a file holds {word}");
    }
    for words in [&["config", "show"][..], &["config", "show", "--json"], &["status", "--json"]] {
        let output = shell.run(words);
        assert!(!output.to_string().contains(CANARY), "{output}");
    }
}

#[test]
fn a_refused_login_pauses_fails_nobody_and_shows_no_password() {
    let server = MailServer::start(wants_login()).unwrap();
    let wrong = "wrong-kanaria-77";
    let shell = shell(&server, wrong);
    let send = ["-vv", "send", "notice", "notice-1", "--from", "people.csv", "--confirm", "1"];
    let run = shell.run(&send);
    assert_eq!(run.code, Some(3), "{run}");
    assert!(!run.to_string().contains(wrong), "{run}");
    assert!(!holds(&everything_below(&shell.path("")), wrong));
    let status = shell.run(&["status", "notice-1", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    let batch = &document["batches"][0];
    assert_eq!((&batch["ready"], &batch["failed"]), (&1.into(), &0.into()), "{status}");
    assert_eq!(batch["state"], "paused", "{status}");
}

#[test]
fn a_secret_that_is_missing_is_named_before_anything_is_sent() {
    let server = MailServer::start(wants_login()).unwrap();
    let shell = shell(&server, "");
    let send = ["send", "notice", "notice-1", "--from", "people.csv", "--confirm", "1"];
    let run = shell.run(&send);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("RELAY_PASSWORD"), "{run}");
    assert_eq!(server.seen().connections, 0);
}
