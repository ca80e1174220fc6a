//! The server itself: what the other tests believe of it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use ittsu::cli::demo::mailserver::{
    At, Behaviour, Deed, Goodbye, MailServer, Then, When, read_journal,
};

use super::{code, connect, send, start};

/// A client that says what a test wants, without any of our own transport.
struct Raw {
    stream: BufReader<TcpStream>,
}

impl Raw {
    fn connect(server: &MailServer) -> Self {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut raw = Self { stream: BufReader::new(stream) };
        assert_eq!(raw.line(), "220 demo.test ESMTP");
        raw
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Says `line` and returns the first line of the answer.
    fn say(&mut self, line: &str) -> String {
        self.stream.get_mut().write_all(line.as_bytes()).unwrap();
        self.line()
    }
}

#[test]
fn a_server_needs_no_runtime_and_keeps_the_order_of_commands() {
    let server = start(Behaviour::default());
    let mut raw = Raw::connect(&server);
    assert_eq!(raw.say("RCPT TO:<a@example.test>\r\n"), "503 5.5.1 MAIL first");
    assert_eq!(raw.say("MAIL FROM:<>\r\n"), "250 2.1.0 ok");
    assert_eq!(raw.say("MAIL FROM:<>\r\n"), "503 5.5.1 a transaction is open");
    assert_eq!(raw.say("DATA\r\n"), "554 5.5.1 no valid recipients");
    assert_eq!(raw.say("RCPT TO:<a@example.test> NOTIFY=NEVER\r\n"), "250 2.1.5 ok");
    assert_eq!(raw.say("RCPT TO:<b@example.test>\r\n"), "250 2.1.5 ok");
    assert_eq!(raw.say("DATA\r\n"), "354 go ahead");
    assert!(raw.say("Message-Id: <x@y>\r\n\r\n..\r\n.\r\n").starts_with("250 2.0.0 ok, queued as"));
    assert_eq!(raw.say("nonsense\r\n"), "500 5.5.2 what?");
    assert_eq!(raw.say("quit\r\n"), "221 2.0.0 bye");
    let accepted = server.journal();
    let to: Vec<_> = accepted.iter().map(|one| one.to.as_str()).collect();
    assert_eq!(to, ["a@example.test", "b@example.test"]);
    assert_eq!(accepted[0].message_id, "<x@y>");
    assert_eq!(accepted[0].content, b"Message-Id: <x@y>\r\n\r\n.\r\n");
}

#[test]
fn a_dot_in_pieces_is_still_the_end() {
    let server = start(Behaviour::default());
    let mut raw = Raw::connect(&server);
    raw.say("MAIL FROM:<>\r\n");
    raw.say("RCPT TO:<a@example.test>\r\n");
    raw.say("DATA\r\n");
    let stream = raw.stream.get_mut();
    stream.set_nodelay(true).unwrap();
    for piece in ["body\r", "\n", ".", "\r", "\n"] {
        stream.write_all(piece.as_bytes()).unwrap();
    }
    assert!(raw.line().starts_with("250"));
    assert_eq!(server.journal()[0].content, b"body\r\n");
}

#[tokio::test]
async fn the_file_holds_an_acceptance_before_the_dot_is_answered() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("journal");
    let behaviour = Behaviour { journal: Some(path.clone()), ..Behaviour::default() };
    let server = start(behaviour.clone());
    let mut connection = connect(&server).await;
    for number in 0..10 {
        let to = format!("m{number}@example.test");
        assert_eq!(code(&send(&mut connection, &to).await), Some(250));
        assert_eq!(read_journal(&path).unwrap().len(), number + 1);
    }
    drop(server);
    // A server that comes back goes on in the same file.
    let server = start(behaviour);
    send(&mut connect(&server).await, "dot-close-after-accept@example.test").await;
    let all = read_journal(&path).unwrap();
    assert_eq!(all.len(), 11);
    assert_eq!(all[10].to, "dot-close-after-accept@example.test");
    assert_eq!(all[10].message_id, "<1.test@example.com>");
    assert_eq!(all[10].sha256, all[0].sha256);
}

#[tokio::test]
async fn a_share_of_faults_hits_the_same_people_in_every_run() {
    let behaviour = Behaviour { seed: 7, ..Behaviour::default() }
        .with(At::Rcpt, When::Share(0.2), Deed::reply("550 5.1.1 no"))
        .with(At::Dot, When::ShareOnce(0.2), Deed::reply("451 4.2.0 later"));
    let mut runs = Vec::new();
    for _ in 0..2 {
        let server = start(behaviour.clone());
        let mut connection = connect(&server).await;
        let mut codes = Vec::new();
        for number in (0..200).chain(0..200) {
            let to = format!("m{number}@example.test");
            codes.push(code(&send(&mut connection, &to).await).unwrap());
        }
        runs.push(codes);
    }
    assert_eq!(runs[0], runs[1]);
    let (first, second) = runs[0].split_at(200);
    let count = |codes: &[u16], code| codes.iter().filter(|&&c| c == code).count();
    assert!((20..60).contains(&count(first, 550)), "{}", count(first, 550));
    assert_eq!(count(first, 550), count(second, 550));
    assert!(count(first, 451) > 10);
    assert_eq!(count(second, 451), 0);
}

#[tokio::test]
async fn a_server_comes_back_at_its_old_address() {
    let server = start(Behaviour::default());
    let addr = server.addr();
    drop(connect(&server).await);
    drop(server);
    let server = MailServer::start_at(addr, Behaviour::default()).unwrap();
    assert_eq!(code(&send(&mut connect(&server).await, "taro@example.test").await), Some(250));
}

#[tokio::test]
async fn a_stopped_server_cuts_every_connection() {
    let server = start(Behaviour::default());
    let mut connection = connect(&server).await;
    drop(server);
    let ended = send(&mut connection, "taro@example.test").await;
    assert_eq!(ended.verdict.outcome.as_str(), "not_sent");
}

#[tokio::test]
async fn a_good_bye_after_some_messages_may_have_words() {
    let behaviour =
        Behaviour { messages_per_connection: Some((1, Goodbye::With421)), ..Behaviour::default() };
    let server = start(behaviour);
    let mut connection = connect(&server).await;
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(421));
}

#[tokio::test]
async fn a_rule_may_mean_one_connection_or_one_message() {
    let behaviour = Behaviour::default()
        .with(At::Greeting, When::Connection(2), Deed::silence(Then::Close))
        .with(At::Dot, When::Message(2), Deed::reply("451 later"));
    let server = start(behaviour);
    let mut first = connect(&server).await;
    assert_eq!(code(&send(&mut first, "a@example.test").await), Some(250));
    assert_eq!(code(&send(&mut first, "a@example.test").await), Some(451));
    assert!(super::open(super::route_to(&server)).await.is_err());
    connect(&server).await;
}
