//! The last write of a message, byte by byte: what has left decides what may be claimed.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::super::wire::Counting;
use super::*;
use crate::domain::outcome::Outcome;
use crate::domain::smtp::Loss;
use crate::transport::NoSteps;

const CONTENT: &[u8] = b"Subject: hello\r\n\r\nhello\r\n";

/// A session whose message was just offered, and the server's end; the pipe holds `room` bytes.
fn offered(room: usize, counting: Counting) -> (Session<DuplexStream>, DuplexStream) {
    let (ours, theirs) = duplex(room);
    let wire = Wire::new(ours, counting);
    let mut session = Session::new(wire, Capabilities::default(), Deadlines::default());
    session.standing = Standing::Offered;
    (session, theirs)
}

/// Lets the other side of the pipe do all it can.
async fn let_the_client_write() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

/// Hands over while the pipe takes only `room` bytes before the server's end is dropped.
async fn cut_after(room: usize, counting: Counting) -> Ended {
    let (mut session, theirs) = offered(room, counting);
    let server = async {
        let_the_client_write().await;
        drop(theirs);
    };
    let (ended, ()) = tokio::join!(session.hand_over(CONTENT, &NoSteps, &|| true), server);
    assert!(!session.is_usable());
    ended
}

#[tokio::test]
async fn a_write_cut_before_the_dot_sent_nothing() {
    for room in [1, CONTENT.len() - 1, CONTENT.len()] {
        let ended = cut_after(room, Counting::Exact).await;
        assert_eq!((ended.phase, ended.verdict.outcome), (Phase::Body, Outcome::NotSent), "{room}");
    }
}

#[tokio::test]
async fn a_write_cut_behind_the_first_byte_of_the_dot_is_unknown() {
    for room in [1, 2, 3].map(|dot| CONTENT.len() + dot) {
        let ended = cut_after(room, Counting::Exact).await;
        assert_eq!(ended.phase, Phase::Dot, "{room}");
        assert!(matches!(ended.verdict.outcome, Outcome::Unknown(_)), "{room}");
    }
}

#[tokio::test]
async fn a_buffering_stream_that_fails_may_have_let_the_dot_out() {
    let ended = cut_after(1, Counting::Buffered).await;
    assert_eq!((ended.phase, ended.event), (Phase::Dot, Event::Lost(Loss::Reset)));
}

/// Hands over into a pipe of `room` bytes; the gate shuts while the write waits for the server.
/// Returns how it ended and all that the server ever got.
async fn shut_while_waiting(room: usize) -> (Ended, Vec<u8>) {
    let (mut session, mut theirs) = offered(room, Counting::Exact);
    let open = AtomicBool::new(true);
    let gate = || open.load(Ordering::Relaxed);
    let mut got = vec![0; room];
    let server = async {
        let_the_client_write().await;
        open.store(false, Ordering::Relaxed);
        theirs.read_exact(&mut got).await.unwrap();
    };
    let (ended, ()) = tokio::join!(session.hand_over(CONTENT, &NoSteps, &gate), server);
    drop(session);
    theirs.read_to_end(&mut got).await.unwrap();
    (ended, got)
}

#[tokio::test]
async fn the_gate_is_asked_again_when_the_dot_had_to_wait() {
    let (ended, got) = shut_while_waiting(10).await;
    assert_eq!((ended.phase, ended.event), (Phase::Body, Event::Fenced));
    assert_eq!(got, CONTENT[..10]);
}

#[tokio::test]
async fn a_gate_that_shuts_in_the_middle_of_the_dot_proves_nothing() {
    let (ended, got) = shut_while_waiting(CONTENT.len() + 1).await;
    assert_eq!(ended.phase, Phase::Dot);
    assert!(matches!(ended.verdict.outcome, Outcome::Unknown(_)));
    assert!(got.ends_with(b"."));
}

#[tokio::test]
async fn an_answer_that_comes_while_the_dot_waits_keeps_it_back() {
    let (mut session, mut theirs) = offered(10, Counting::Exact);
    let server = async {
        let_the_client_write().await;
        theirs.write_all(b"452 4.3.1\r\n").await.unwrap();
    };
    let (ended, ()) = tokio::join!(session.hand_over(CONTENT, &NoSteps, &|| true), server);
    assert_eq!((ended.phase, ended.reply.map(|reply| reply.code)), (Phase::Body, Some(452)));
    drop(session);
    let mut got = Vec::new();
    theirs.read_to_end(&mut got).await.unwrap();
    assert_eq!(got, CONTENT[..10]);
}

#[tokio::test]
async fn two_replies_in_one_packet_are_two_replies() {
    let (mut session, mut theirs) = offered(1024, Counting::Exact);
    theirs.write_all(b"250 a\r\n250 b\r\n").await.unwrap();
    let wait = session.deadlines.command;
    assert_eq!(session.wire.reply(wait).await, Ok(250));
    assert_eq!(session.wire.last_reply(250).bytes, b"250 a");
    assert!(session.wire.was_interrupted());
    assert_eq!(session.wire.reply(wait).await, Ok(250));
    assert_eq!(session.wire.last_reply(250).bytes, b"250 b");
    assert!(!session.wire.was_interrupted());
}
