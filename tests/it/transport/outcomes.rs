//! Every line of the outcome table, from a real server's bytes to the verdict.

use std::time::Duration;

use ittsu::cli::demo::mailserver::{At, Behaviour, Deed, Says, Then, When};
use ittsu::domain::smtp::{Event, Loss};
use ittsu::transport::smtp::Deadlines;
use rstest::rstest;

use super::{MESSAGE, PATIENT, SHORT, code, open, route_to, said, send, send_over, start};

/// Sends one message to a server that does this, with and without PIPELINING.
async fn ends(at: At, deed: Deed, deadlines: Deadlines) -> String {
    let mut answers = Vec::new();
    for behaviour in [Behaviour::default(), Behaviour::default().without("PIPELINING")] {
        let server = start(behaviour.with(at, When::Always, deed.clone()));
        let route = ittsu::transport::smtp::SmtpRoute { deadlines, ..route_to(&server) };
        answers.push(said(&send_over(route, "taro@example.test", MESSAGE).await));
    }
    assert_eq!(answers[0], answers[1], "pipelining must change nothing");
    answers.remove(0)
}

#[rstest]
#[case::at_the_greeting_421_backs_off("421 4.3.2 busy", "greeting: deferred, endpoint, close")]
#[case::at_the_greeting_450_backs_off("450 busy", "greeting: deferred, endpoint, close")]
#[case::at_the_greeting_554_pauses(
    "554 no SMTP service here",
    "greeting: not_sent, batch, pause service, close"
)]
#[case::a_greeting_in_other_words_is_nonsense(
    "HTTP/1.1 400 Bad Request",
    "greeting: not_sent, connection, close"
)]
#[tokio::test]
async fn greeting(#[case] answer: &str, #[case] expected: &str) {
    assert_eq!(ends(At::Greeting, Deed::reply(answer), PATIENT).await, expected);
}

#[rstest]
#[case::to_ehlo_421_backs_off("421 4.3.2 busy", "ehlo: deferred, endpoint, close")]
#[case::to_ehlo_450_backs_off("450 busy", "ehlo: deferred, endpoint, close")]
#[tokio::test]
async fn ehlo(#[case] answer: &str, #[case] expected: &str) {
    assert_eq!(ends(At::Ehlo, Deed::reply(answer), PATIENT).await, expected);
}

#[rstest]
#[case::a_421_backs_off("421 4.7.0 later", "mail: deferred, endpoint, close")]
#[case::a_4yz_backs_off("450 4.3.0 later", "mail: deferred, endpoint, keep")]
#[case::an_unheard_of_4yz_backs_off("499 later", "mail: deferred, endpoint, keep")]
#[case::a_refused_sender_pauses("550 5.1.7 no", "mail: not_sent, batch, pause sender, close")]
#[case::a_refused_size_pauses("552 5.3.4 big", "mail: not_sent, batch, pause size, close")]
#[case::a_missing_login_pauses("530 5.7.0 login", "mail: not_sent, batch, pause credential, close")]
#[case::a_refused_parameter_pauses("555 no", "mail: not_sent, batch, pause sender, close")]
#[case::a_354_to_mail_means_nothing("354 go", "mail: not_sent, connection, close")]
#[case::nonsense_means_nothing("850 NONSENSE", "mail: not_sent, connection, close")]
#[tokio::test]
async fn mail(#[case] answer: &str, #[case] expected: &str) {
    assert_eq!(ends(At::Mail, Deed::reply(answer), PATIENT).await, expected);
}

#[rstest]
#[case::a_421_backs_off("421 4.7.0 later", "rcpt: deferred, endpoint, close")]
#[case::greylisting_waits(
    "450 4.7.1 greylisted",
    "rcpt: deferred, row, counted, after 5 min, keep"
)]
#[case::too_many_recipients_goes_again("452 4.5.3 too many", "rcpt: deferred, connection, close")]
#[case::too_many_recipients_in_docomos_words_goes_again(
    "552 too many recipients",
    "rcpt: deferred, connection, close"
)]
#[case::a_full_system_backs_off("452 4.3.1 full", "rcpt: deferred, endpoint, close")]
#[case::a_full_mailbox_waits("452 4.2.2 full", "rcpt: deferred, row, counted, keep")]
#[case::a_full_mailbox_for_good_fails("552 5.2.2 full", "rcpt: refused, row, counted, keep")]
#[case::an_unheard_of_4yz_waits("471 later", "rcpt: deferred, row, counted, keep")]
#[case::an_unknown_mailbox_fails("550 5.1.1 no", "rcpt: refused, row, counted, keep")]
#[case::a_bad_domain_fails("550 5.1.2 no", "rcpt: refused, row, counted, keep")]
#[case::a_bad_syntax_fails("553 5.1.3 no", "rcpt: refused, row, counted, keep")]
#[case::a_moved_mailbox_fails("551 5.1.6 no", "rcpt: refused, row, counted, keep")]
#[case::a_domain_without_mail_fails("550 5.1.10 no", "rcpt: refused, row, counted, keep")]
#[case::a_disabled_mailbox_fails("550 5.2.1 no", "rcpt: refused, row, counted, keep")]
#[case::a_refusal_without_reason_fails("550 no", "rcpt: refused, row, counted, keep")]
#[case::a_refused_sender_is_suspect("550 5.1.7 no", "rcpt: refused, batch, suspect sender, keep")]
#[case::a_policy_is_suspect("550 5.7.1 no", "rcpt: refused, batch, suspect sender, keep")]
#[case::a_missing_login_is_suspect("530 no", "rcpt: refused, batch, suspect sender, keep")]
#[case::a_554_is_suspect("554 no", "rcpt: refused, batch, suspect sender, keep")]
#[case::a_354_to_rcpt_means_nothing("354 go", "rcpt: not_sent, connection, close")]
#[case::nonsense_means_nothing("850 NONSENSE", "rcpt: not_sent, connection, close")]
#[tokio::test]
async fn rcpt(#[case] answer: &str, #[case] expected: &str) {
    assert_eq!(ends(At::Rcpt, Deed::reply(answer), PATIENT).await, expected);
}

#[rstest]
#[case::a_yes_instead_of_354_closes("250 2.0.0 ok", "data: not_sent, connection, close")]
#[case::a_421_backs_off("421 4.7.0 later", "data: deferred, endpoint, close")]
#[case::a_4yz_backs_off("451 4.3.0 later", "data: deferred, endpoint, keep")]
#[case::a_policy_is_suspect("554 5.7.1 no", "data: refused, batch, suspect content, keep")]
#[case::no_recipients_says_nothing_new(
    "554 5.5.1 no valid recipients",
    "data: not_sent, connection, close"
)]
#[case::nonsense_means_nothing("850 NONSENSE", "data: not_sent, connection, close")]
#[tokio::test]
async fn data(#[case] answer: &str, #[case] expected: &str) {
    assert_eq!(ends(At::Data, Deed::reply(answer), PATIENT).await, expected);
}

#[rstest]
#[case::a_plain_yes("250 2.0.0 ok", "dot: accepted, row, counted, keep")]
#[case::a_yes_without_text("250", "dot: accepted, row, counted, keep")]
#[case::an_unheard_of_yes("299 fine", "dot: accepted, row, counted, keep")]
#[case::a_yes_that_says_no("254 4.7.1 suppressed", "dot: accepted, row, counted, review, keep")]
#[case::a_421_backs_off("421 4.3.2 later", "dot: deferred, endpoint, close")]
#[case::a_4yz_waits("451 later", "dot: deferred, row, counted, keep")]
#[case::a_full_system_backs_off("452 4.3.1 full", "dot: deferred, endpoint, close")]
#[case::a_5yz_fails("550 no", "dot: refused, row, counted, keep")]
#[case::a_policy_is_suspect("550 5.7.1 spam", "dot: refused, batch, suspect content, keep")]
#[case::refused_content_is_suspect("554 no", "dot: refused, batch, suspect content, keep")]
#[case::a_refused_size_pauses("552 big", "dot: not_sent, batch, pause size, close")]
#[case::a_354_is_unknown("354 go", "dot: unknown, connection, counted, close")]
#[case::an_850_is_unknown("850 NONSENSE", "dot: unknown, connection, counted, close")]
#[case::a_1yz_is_unknown("150 wait", "dot: unknown, connection, counted, close")]
#[case::words_are_unknown("ok", "dot: unknown, connection, counted, close")]
#[case::an_empty_line_is_unknown("", "dot: unknown, connection, counted, close")]
#[case::codes_that_differ_are_unknown(
    "250-2.0.0 ok\r\n251 ok",
    "dot: unknown, connection, counted, close"
)]
#[case::a_multiline_yes("250-2.0.0 ok\r\n250-queued\r\n250", "dot: accepted, row, counted, keep")]
#[tokio::test]
async fn dot(#[case] answer: &str, #[case] expected: &str) {
    assert_eq!(ends(At::Dot, Deed::reply(answer), PATIENT).await, expected);
}

#[rstest]
#[case::at_the_greeting(At::Greeting, "greeting: not_sent, connection, close")]
#[case::after_ehlo(At::Ehlo, "ehlo: not_sent, connection, close")]
#[case::after_mail(At::Mail, "mail: not_sent, connection, close")]
#[case::after_rcpt(At::Rcpt, "rcpt: not_sent, connection, close")]
#[case::after_data(At::Data, "data: not_sent, connection, close")]
#[case::after_the_dot(At::Dot, "dot: unknown, connection, counted, close")]
#[tokio::test]
async fn a_server_that_falls_silent_runs_into_the_deadline(#[case] at: At, #[case] expected: &str) {
    let deadlines = match at {
        At::Greeting => Deadlines { greeting: SHORT, ..PATIENT },
        At::Data => Deadlines { data: SHORT, ..PATIENT },
        At::Dot => Deadlines { answer: SHORT, ..PATIENT },
        _ => Deadlines { command: 4 * SHORT, ..PATIENT },
    };
    assert_eq!(ends(at, Deed::silence(Then::Hang), deadlines).await, expected);
}

#[rstest]
#[case::at_the_greeting(At::Greeting, "greeting: not_sent, connection, close")]
#[case::after_ehlo(At::Ehlo, "ehlo: not_sent, connection, close")]
#[case::after_mail(At::Mail, "mail: not_sent, connection, close")]
#[case::after_rcpt(At::Rcpt, "rcpt: not_sent, connection, close")]
#[case::after_data(At::Data, "data: not_sent, connection, close")]
#[case::after_the_dot(At::Dot, "dot: unknown, connection, counted, close")]
#[tokio::test]
async fn a_server_that_leaves(#[case] at: At, #[case] expected: &str) {
    for then in [Then::Close, Then::HalfClose, Then::Reset] {
        assert_eq!(ends(at, Deed::silence(then), PATIENT).await, expected, "{then:?}");
    }
}

#[rstest]
#[case::at_the_greeting(At::Greeting, "greeting: not_sent, connection, close")]
#[case::after_ehlo(At::Ehlo, "ehlo: not_sent, connection, close")]
#[case::after_mail(At::Mail, "mail: not_sent, connection, close")]
#[case::after_rcpt(At::Rcpt, "rcpt: not_sent, connection, close")]
#[case::after_data(At::Data, "data: not_sent, connection, close")]
#[case::after_the_dot(At::Dot, "dot: unknown, connection, counted, close")]
#[tokio::test]
async fn an_endless_line_and_a_megabyte_are_cut_off(#[case] at: At, #[case] expected: &str) {
    let endless = Deed { says: Says::Endless, ..Deed::silence(Then::GoOn).taking() };
    assert_eq!(ends(at, endless, PATIENT).await, expected);
    let huge = Deed::bytes(b"250-and so on\r\n".repeat(70_000)).taking();
    assert_eq!(ends(at, huge, PATIENT).await, expected);
}

#[rstest]
#[case::at_the_greeting(At::Greeting, "220 hello", "greeting: not_sent, connection, close")]
#[case::after_mail(At::Mail, "250 ok", "mail: not_sent, connection, close")]
#[case::after_data(At::Data, "354 go", "data: not_sent, connection, close")]
#[case::after_the_dot(At::Dot, "250 ok", "dot: unknown, connection, counted, close")]
#[tokio::test]
async fn a_reply_that_drips_runs_into_the_step_s_deadline(
    #[case] at: At,
    #[case] line: &str,
    #[case] expected: &str,
) {
    // Each byte comes well before a deadline per read would end; the whole reply never does.
    let slow = Deed::reply(line).dripping(Duration::from_secs(10));
    let wait = 4 * SHORT;
    let deadlines = match at {
        At::Greeting => Deadlines { greeting: wait, ..PATIENT },
        At::Data => Deadlines { data: wait, ..PATIENT },
        At::Dot => Deadlines { answer: wait, ..PATIENT },
        _ => Deadlines { command: wait, ..PATIENT },
    };
    assert_eq!(ends(at, slow, deadlines).await, expected);
    // And one that is slow but in time is an answer like any other.
    let in_time = Deed::reply(line).dripping(Duration::from_millis(1));
    assert_eq!(ends(at, in_time, PATIENT).await, "dot: accepted, row, counted, keep");
}

#[tokio::test]
async fn a_reply_that_is_cut_after_the_dot_is_unknown() {
    let cut = Deed::bytes("250 2.0.0 queu").taking().then(Then::Close);
    assert_eq!(ends(At::Dot, cut, PATIENT).await, "dot: unknown, connection, counted, close");
}

/// More than the buffers of both systems hold, so that writing has to wait for the server.
fn large() -> Vec<u8> {
    b"a line of the body that is neither long nor short\r\n".repeat(640 * 1024)
}

#[rstest]
#[case::a_size("552 5.3.4 too big", "body: not_sent, batch, pause size, close")]
#[case::a_full_disk("452 4.3.1 full", "body: deferred, endpoint, close")]
#[case::a_policy("554 5.7.1 no", "body: refused, batch, suspect content, close")]
#[case::a_yes_before_the_dot("250 ok", "body: not_sent, connection, close")]
#[tokio::test]
async fn an_answer_in_the_middle_of_the_body_is_read(#[case] answer: &str, #[case] expected: &str) {
    let deed = Deed::reply(answer).then(Then::Freeze);
    let server = start(Behaviour::default().without("SIZE").with(At::Body, When::Always, deed));
    let ended = send_over(route_to(&server), "taro@example.test", &large()).await;
    assert_eq!(said(&ended), expected);
}

#[tokio::test]
async fn a_server_that_leaves_in_the_middle_of_the_body_took_nothing() {
    for then in [Then::Close, Then::Reset] {
        let behaviour = Behaviour::default().without("SIZE");
        let server = start(behaviour.with(At::Body, When::Always, Deed::silence(then)));
        let ended = send_over(route_to(&server), "taro@example.test", &large()).await;
        assert_eq!(said(&ended), "body: not_sent, connection, close", "{then:?}");
    }
}

#[tokio::test]
async fn a_block_that_nobody_reads_runs_into_the_deadline() {
    let deed = Deed::silence(Then::Freeze);
    let server = start(Behaviour::default().without("SIZE").with(At::Body, When::Always, deed));
    let mut route = route_to(&server);
    route.deadlines.body = SHORT;
    let ended = send_over(route, "taro@example.test", &large()).await;
    assert_eq!(ended.event, Event::Lost(Loss::Timeout));
    assert_eq!(said(&ended), "body: not_sent, connection, close");
}

#[tokio::test]
async fn text_in_korean_and_japanese_encodings_leaves_the_code() {
    let euc_kr = b"550 5.1.1 \xbc\xf6\xbd\xc5\xc0\xda \xbe\xf8\xc0\xbd";
    let shift_jis = b"250 2.0.0 \x8e\xf3\x95\x74\x82\xdc\x82\xb5\x82\xbd";
    let server = start(
        Behaviour::default()
            .with(At::Rcpt, When::To("suzuki".into()), Deed::reply(&euc_kr[..]))
            .with(At::Dot, When::Always, Deed::reply(&shift_jis[..])),
    );
    let mut connection = open(route_to(&server)).await.unwrap();
    let refused = send(&mut connection, "suzuki@example.test").await;
    assert_eq!(said(&refused), "rcpt: refused, row, counted, keep");
    assert_eq!(refused.reply.unwrap().bytes, euc_kr);
    let accepted = send(&mut connection, "taro@example.test").await;
    assert_eq!((code(&accepted), accepted.reply.unwrap().bytes), (Some(250), shift_jis.to_vec()));
}

#[rstest]
#[case::a_server_error("dot-hang.1@example.test", 1)]
#[case::a_close_after_accepting("dot-close-after-accept.1@example.test", 1)]
#[case::a_half_close("dot-half-close.1@example.test", 1)]
#[case::a_reset("dot-reset.1@example.test", 1)]
#[case::nonsense("dot-garbage.1@example.test", 1)]
#[case::a_megabyte("dot-huge.1@example.test", 1)]
#[case::a_close_before_accepting("dot-close-before-accept.1@example.test", 0)]
#[case::a_hang_before_accepting("dot-hang-before-accept.1@example.test", 0)]
#[tokio::test]
async fn what_the_server_really_did_after_the_dot_cannot_be_told(
    #[case] to: &str,
    #[case] accepted: usize,
) {
    let server = start(Behaviour::default());
    let mut route = route_to(&server);
    route.deadlines.answer = 4 * SHORT;
    let ended = send_over(route, to, MESSAGE).await;
    assert_eq!(said(&ended), "dot: unknown, connection, counted, close");
    assert_eq!(server.journal().len(), accepted);
}
