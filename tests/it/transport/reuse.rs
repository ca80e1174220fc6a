//! What becomes of a connection after each end, and what must never reach the next message.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ittsu::cli::demo::mailserver::{
    At, Behaviour, Deed, Goodbye, MailServer, Records, Says, Then, When,
};
use ittsu::domain::smtp::Event;
use ittsu::domain::step::Step;
use ittsu::transport::{Connection, NoSteps, Steps};

use super::{
    MESSAGE, SHORT, code, connect, envelope, open, route_to, said, send, send_this, start, until,
};

fn recording() -> Behaviour {
    Behaviour { records: Records::Lines, ..Behaviour::default() }
}

/// The commands a server heard, without what stands behind the verb.
fn verbs(server: &MailServer) -> String {
    let lines = server.lines();
    let verbs = lines.iter().filter_map(|line| line.split([' ', ':']).nth(1));
    verbs.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn messages_follow_each_other_without_a_reset() {
    let server = start(recording());
    let mut connection = connect(&server).await;
    for _ in 0..3 {
        assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    }
    connection.close().await;
    let one = "MAIL RCPT DATA";
    assert_eq!(verbs(&server), format!("EHLO {one} {one} {one} QUIT"));
    assert_eq!(server.seen().connections, 1);
}

#[tokio::test]
async fn a_reset_comes_only_after_a_transaction_that_was_left_open() {
    for behaviour in [recording(), recording().without("PIPELINING")] {
        let server = start(behaviour);
        let mut connection = connect(&server).await;
        let refused = send(&mut connection, "r-550-511@example.test").await;
        assert_eq!(code(&refused), Some(550));
        assert!(connection.is_usable());
        assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
        assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
        let resets = verbs(&server).matches("RSET").count();
        assert_eq!(resets, 1, "{}", verbs(&server));
    }
}

#[tokio::test]
async fn a_refused_sender_needs_no_reset_and_spoils_nothing() {
    let behaviour = recording().with(At::Mail, When::Times(1), Deed::reply("450 4.3.0 not now"));
    let server = start(behaviour);
    let mut connection = connect(&server).await;
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(450));
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    assert!(!verbs(&server).contains("RSET"));
}

#[tokio::test]
async fn a_reset_that_is_refused_costs_only_the_connection() {
    let behaviour = recording().with(At::Rset, When::Always, Deed::reply("451 no"));
    let server = start(behaviour);
    let mut connection = connect(&server).await;
    send(&mut connection, "r-550-511@example.test").await;
    let next = send(&mut connection, "taro@example.test").await;
    assert_eq!(said(&next), "rset: not_sent, connection, close");
    assert!(!connection.is_usable());
    assert_eq!(server.journal().len(), 0);
}

#[tokio::test]
async fn data_taken_for_nobody_is_ended_by_a_lone_dot() {
    let server = start(recording().with(At::Data, When::Message(1), Deed::reply("354 go")));
    let mut connection = connect(&server).await;
    let refused = send(&mut connection, "r-550-511@example.test").await;
    assert_eq!(said(&refused), "rcpt: refused, row, counted, keep");
    assert!(connection.is_usable());
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    let accepted = server.journal();
    assert_eq!(accepted.len(), 1);
    assert_eq!(accepted[0].content, MESSAGE);
}

#[tokio::test]
async fn data_taken_after_a_refused_sender_closes() {
    let server =
        start(recording().with(At::Mail, When::Times(1), Deed::reply("450 4.3.0 not now")).with(
            At::Data,
            When::Always,
            Deed::reply("354 go"),
        ));
    let mut connection = connect(&server).await;
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(450));
    assert!(!connection.is_usable());
}

#[tokio::test]
async fn a_late_answer_is_never_taken_for_another_message_s() {
    let late = Deed::reply("250 2.0.0 late").after(4 * SHORT);
    let server = start(recording().with(At::Dot, When::To("late".into()), late));
    let mut route = route_to(&server);
    route.deadlines.answer = SHORT;
    let mut connection = open(route).await.unwrap();
    let first = send(&mut connection, "late@example.test").await;
    assert_eq!(said(&first), "dot: unknown, connection, counted, close");
    assert!(!connection.is_usable());
    let heard = server.lines().len();
    // Even a caller that does not ask gets no answer that belongs to the first message.
    let second = send(&mut connection, "r-550-511@example.test").await;
    assert_eq!(said(&second), "mail: not_sent, connection, close");
    assert_eq!(server.lines().len(), heard);
    let mut other = connect(&server).await;
    let second = send(&mut other, "r-550-511@example.test").await;
    assert_eq!(code(&second), Some(550));
}

#[tokio::test]
async fn a_connection_whose_wait_was_dropped_is_never_used_again() {
    let server = start(recording());
    for to in ["rcpt-hang@example.test", "data-hang@example.test", "dot-hang@example.test"] {
        let mut connection = connect(&server).await;
        let step = tokio::time::timeout(SHORT, send(&mut connection, to)).await;
        assert!(step.is_err(), "{to} must hang");
        assert!(!connection.is_usable(), "{to}");
        let next = send(&mut connection, "taro@example.test").await;
        assert_eq!(said(&next), "mail: not_sent, connection, close");
    }
    assert!(server.lines().iter().all(|line| !line.contains("taro@")));
}

#[tokio::test]
async fn an_answer_too_many_is_the_end_of_the_connection() {
    let twice = Deed::bytes("250 2.0.0 ok\r\n250 2.0.0 again\r\n").taking();
    let server = start(recording().with(At::Dot, When::Always, twice));
    let mut connection = connect(&server).await;
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    assert!(!connection.is_usable());
}

#[tokio::test]
async fn an_answer_too_many_before_the_body_keeps_the_body_back() {
    for (at, bytes) in [
        (At::Mail, "250 ok\r\n250 again\r\n"),
        (At::Rcpt, "250 ok\r\n250 again\r\n"),
        (At::Data, "354 go\r\n250 ok\r\n"),
    ] {
        for behaviour in [recording(), recording().without("PIPELINING")] {
            let server = start(behaviour.with(at, When::Always, Deed::bytes(bytes)));
            let mut connection = connect(&server).await;
            let ended = send(&mut connection, "taro@example.test").await;
            assert_eq!(ended.verdict.outcome.as_str(), "not_sent", "{at:?}");
            assert!(!connection.is_usable());
            drop(connection);
            assert!(server.journal().is_empty());
        }
    }
}

#[tokio::test]
async fn a_word_between_two_messages_ends_the_connection_before_anything_is_said() {
    let idle = Behaviour { idle: Some(SHORT), ..recording() };
    let server = start(idle);
    let mut connection = connect(&server).await;
    until(|| server.seen().open == 0).await;
    let ended = send(&mut connection, "taro@example.test").await;
    assert_eq!(said(&ended), "mail: deferred, endpoint, close");
    assert_eq!(verbs(&server), "EHLO");
}

#[tokio::test]
async fn a_421_in_any_phase_harms_no_other_row() {
    for at in [At::Mail, At::Rcpt, At::Data, At::Dot] {
        let deed = Deed::reply("421 4.3.2 shutting down");
        let server = start(recording().with(at, When::Times(1), deed));
        let mut connection = connect(&server).await;
        let first = send(&mut connection, "taro@example.test").await;
        assert_eq!((code(&first), connection.is_usable()), (Some(421), false), "{at:?}");
        let mut next = connect(&server).await;
        assert_eq!(code(&send(&mut next, "hanako@example.test").await), Some(250), "{at:?}");
        let accepted: Vec<_> = server.journal().into_iter().map(|one| one.to).collect();
        assert_eq!(accepted, ["hanako@example.test"], "{at:?}");
    }
}

/// Sends to `people` one after the other, over new connections when they are needed.
async fn send_all(server: &MailServer, people: usize) -> Vec<String> {
    let mut ends = Vec::new();
    let mut connection: Option<Connection> = None;
    for number in 0..people {
        let to = format!("m{number}@example.test");
        loop {
            let mut open = match connection.take() {
                Some(open) => open,
                None => connect(server).await,
            };
            let ended = send(&mut open, &to).await;
            if open.is_usable() {
                connection = Some(open);
            }
            if code(&ended) == Some(250) {
                break;
            }
            ends.push(said(&ended));
        }
    }
    ends
}

#[tokio::test]
async fn a_close_after_so_many_messages_loses_and_doubles_nothing() {
    for (most, people) in [(1, 5), (10, 35), (100, 250)] {
        let behaviour = Behaviour {
            messages_per_connection: Some((most, Goodbye::Silent)),
            ..Behaviour::default()
        };
        let server = start(behaviour);
        let ends = send_all(&server, people).await;
        assert!(ends.iter().all(|end| end == "mail: not_sent, connection, close"), "{ends:?}");
        let mut accepted: Vec<_> = server.journal().into_iter().map(|one| one.to).collect();
        accepted.sort();
        accepted.dedup();
        assert_eq!((accepted.len(), server.journal().len()), (people, people));
    }
}

#[tokio::test]
async fn too_many_errors_cost_the_connection_and_no_row_its_outcome() {
    let server = start(Behaviour { errors: Some(20), ..Behaviour::default() });
    let mut connection = connect(&server).await;
    let mut refused = 0;
    let last = loop {
        let ended = send(&mut connection, &format!("r-550-511.{refused}@example.test")).await;
        if code(&ended) != Some(550) {
            break ended;
        }
        refused += 1;
    };
    // RCPT and the DATA behind it are an error each.
    assert_eq!(refused, 10);
    assert_eq!(said(&last), "rcpt: deferred, endpoint, close");
    assert!(!connection.is_usable());
}

#[tokio::test]
async fn too_many_connections_are_turned_away_at_the_greeting() {
    let server = start(Behaviour { connections: Some(2), ..Behaviour::default() });
    let (first, second) = (connect(&server).await, connect(&server).await);
    let third = open(route_to(&server)).await.unwrap_err();
    assert_eq!(said(&third), "greeting: deferred, endpoint, close");
    first.close().await;
    until(|| server.seen().open < 2).await;
    assert!(open(route_to(&server)).await.is_ok());
    drop(second);
}

/// Writes down which steps were noted.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap()).join(" ")
    }
}

impl Steps for Notes {
    fn note(&self, step: Step) {
        let word = match step {
            Step::Answered(reply) => format!("Answered({})", reply.code),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(word);
    }

    fn dot_has_left(&self) {
        self.0.lock().unwrap().push("left".to_owned());
    }
}

#[tokio::test]
async fn every_step_is_noted_before_it_is_taken() {
    let server = start(Behaviour::default());
    let mut connection = connect(&server).await;
    let notes = Notes::default();
    let taro = envelope("taro@example.test");
    send_this(&mut connection, &taro, MESSAGE, &notes).await;
    assert_eq!(notes.take(), "Rcpt Data BodyComplete Dot left Answered(250)");
    send_this(&mut connection, &envelope("r-550-511@example.test"), MESSAGE, &notes).await;
    assert_eq!(notes.take(), "Rcpt");
    send_this(&mut connection, &envelope("dot-garbage@example.test"), MESSAGE, &notes).await;
    assert_eq!(notes.take(), "Rcpt Data BodyComplete Dot left");
}

#[tokio::test]
async fn a_shut_gate_keeps_the_dot_back() {
    let server = start(recording());
    let mut connection = connect(&server).await;
    let notes = Notes::default();
    let taro = envelope("taro@example.test");
    connection.offer(&taro, MESSAGE, &notes).await.unwrap();
    let asked = AtomicUsize::new(0);
    let gate = || {
        asked.fetch_add(1, Ordering::Relaxed);
        false
    };
    let ended = connection.hand_over(MESSAGE, &notes, &gate).await;
    assert_eq!(ended.event, Event::Fenced);
    assert_eq!(said(&ended), "body: not_sent, connection, close");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    // The last note proves that nothing was sent.
    assert_eq!(notes.take(), "Rcpt Data BodyComplete Dot Data");
    assert!(!connection.is_usable());
    connection.close().await;
    until(|| server.seen().open == 0).await;
    assert!(server.journal().is_empty());
}

#[tokio::test]
async fn content_without_an_offer_goes_nowhere() {
    let server = start(recording());
    let mut connection = connect(&server).await;
    let ended = connection.hand_over(MESSAGE, &NoSteps, &|| true).await;
    assert_eq!(said(&ended), "body: not_sent, connection, close");
    drop(connection);
    until(|| server.seen().open == 0).await;
    assert_eq!(verbs(&server), "EHLO");
}

#[tokio::test]
async fn an_offer_that_is_not_taken_up_leaves_no_message() {
    let server = start(recording());
    let mut connection = connect(&server).await;
    let taro = envelope("taro@example.test");
    connection.offer(&taro, MESSAGE, &NoSteps).await.unwrap();
    assert!(!connection.is_usable());
    // QUIT would be a line of the message now: closing says nothing.
    connection.close().await;
    until(|| server.seen().open == 0).await;
    assert!(server.journal().is_empty());
    assert_eq!(verbs(&server), "EHLO MAIL RCPT DATA");
}

#[tokio::test]
async fn good_bye_is_waited_for_two_seconds_at_most() {
    let server = start(recording().with(At::Quit, When::Always, Deed::silence(Then::Hang)));
    let connection = connect(&server).await;
    let before = std::time::Instant::now();
    connection.close().await;
    assert!(before.elapsed() < Duration::from_secs(20));
    assert_eq!(verbs(&server), "EHLO QUIT");
}

#[tokio::test]
async fn a_refusal_stands_although_the_rest_of_its_flight_is_never_answered() {
    let refused = Deed { says: Says::Line(b"550 5.1.1 no".to_vec()), ..Deed::silence(Then::Hang) };
    let server = start(Behaviour::default().with(At::Rcpt, When::Always, refused));
    let mut route = route_to(&server);
    route.deadlines.command = 4 * SHORT;
    let mut connection = open(route).await.unwrap();
    let ended = send(&mut connection, "taro@example.test").await;
    assert_eq!(said(&ended), "rcpt: refused, row, counted, keep");
    assert!(!connection.is_usable());
}

#[tokio::test]
async fn greylisting_lets_the_second_try_through() {
    let server = start(Behaviour::default());
    let mut connection = connect(&server).await;
    let to = "greylist.taro@example.test";
    let first = send(&mut connection, to).await;
    assert_eq!(said(&first), "rcpt: deferred, row, counted, after 5 min, keep");
    assert_eq!(code(&send(&mut connection, to).await), Some(250));
}

#[tokio::test]
async fn a_password_changed_in_the_middle_of_a_run_pauses() {
    let server = start(recording());
    let mut connection = connect(&server).await;
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    server.change(|behaviour| {
        let refused = Deed::reply("530 5.7.0 authentication required").then(Then::Close);
        *behaviour = behaviour.clone().with(At::Mail, When::Always, refused);
    });
    let ended = send(&mut connection, "taro@example.test").await;
    assert_eq!(said(&ended), "mail: not_sent, batch, pause credential, close");
}
