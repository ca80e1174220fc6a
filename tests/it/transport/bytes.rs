//! What is built is what arrives, byte for byte.

use std::fmt::Write as _;

use ittsu::cli::demo::mailserver::{Addresses, Behaviour, Keep};
use ittsu::transport::NoSteps;
use rstest::rstest;

use super::{code, connect, envelope, send_this, start};

async fn arrives(content: &[u8]) -> Vec<u8> {
    let server = start(Behaviour { addresses: Addresses::Ordinary, ..Behaviour::default() });
    let mut connection = connect(&server).await;
    let to = envelope("taro@example.test");
    // The second proves that the first left nothing behind.
    for _ in 0..2 {
        assert_eq!(code(&send_this(&mut connection, &to, content, &NoSteps).await), Some(250));
    }
    let mut accepted = server.journal();
    assert_eq!(accepted.len(), 2);
    assert_eq!(accepted[0].content, accepted[1].content);
    assert_eq!(accepted[0].from, "bounce@example.com");
    accepted.remove(0).content
}

#[rstest]
#[case::leading_dots(b".a\r\n..b\r\n...\r\n.\r\n\r\n.\r\n".to_vec())]
#[case::dots_everywhere(b"Subject: a.b\r\n\r\n. . .\r\na.\r\n".to_vec())]
#[case::a_line_of_998([b"x".repeat(998), b"\r\n".to_vec()].concat())]
#[case::a_line_far_too_long([b"x".repeat(200_000), b"\r\n".to_vec()].concat())]
#[case::dots_at_the_edges_of_blocks(b".\r\n".repeat(100_000))]
#[case::empty_lines(b"\r\n".repeat(1000))]
#[case::nothing_at_all(Vec::new())]
#[case::nul_and_eight_bits(b"a\0b\xff\xfe\r\n".to_vec())]
#[case::commands_in_the_text(b"RSET\r\nQUIT\r\nMAIL FROM:<x@example.test>\r\n".to_vec())]
#[tokio::test]
async fn content_arrives_as_it_was_built(#[case] content: Vec<u8>) {
    assert!(arrives(&content).await == content);
}

#[tokio::test]
async fn a_last_line_without_an_end_gets_one() {
    assert_eq!(arrives(b"a\r\nb").await, b"a\r\nb\r\n");
}

#[rstest]
#[case::line_feeds(b"a\n.\nMAIL FROM:<x@example.test>\r\n")]
#[case::carriage_returns(b"a\r.\rMAIL FROM:<x@example.test>\r\n")]
#[case::a_mixture(b"a\n.\r\nMAIL FROM:<x@example.test>\r\n")]
#[case::the_other_mixture(b"a\r\n.\nMAIL FROM:<x@example.test>\r\n")]
#[tokio::test]
async fn nothing_can_be_smuggled_behind_a_false_end(#[case] content: &[u8]) {
    let arrived = arrives(content).await;
    let lines = arrived.split(|&b| b == b'\r' || b == b'\n');
    assert!(arrived.ends_with(b"MAIL FROM:<x@example.test>\r\n"));
    // What a lenient server would take for the end stands doubled.
    let false_ends = lines.filter(|line| *line == b".").count();
    assert!(false_ends == 0 || content.starts_with(b"a\r\n."), "{arrived:?}");
}

#[tokio::test]
async fn five_thousand_people_get_their_own_message() {
    let server = start(Behaviour { keep: Keep::Bytes, ..Behaviour::default() });
    let mut connection = connect(&server).await;
    let mut content = String::new();
    for number in 0..5_000 {
        content.clear();
        write!(content, "Message-ID: <{number}@example.com>\r\n\r\ntoken-{number}.\r\n").unwrap();
        let to = envelope(&format!("m{number}@example.test"));
        let ended = send_this(&mut connection, &to, content.as_bytes(), &NoSteps).await;
        assert_eq!(code(&ended), Some(250));
    }
    let accepted = server.journal();
    assert_eq!(accepted.len(), 5_000);
    for (number, one) in accepted.iter().enumerate() {
        assert_eq!(one.to, format!("m{number}@example.test"));
        assert_eq!(one.message_id, format!("<{number}@example.com>"));
        assert!(String::from_utf8_lossy(&one.content).contains(&format!("token-{number}.")));
    }
}
