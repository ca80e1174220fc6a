//! What is no reply: silence, nonsense, our own stop, and what fails before any dialogue.

use rstest::rstest;

use super::*;
use crate::domain::outcome::Phase::{
    Auth, Body, Connect, Data, Dot, Ehlo, File, Greeting, Local, Mail, Quit, Rcpt, Resolve, Rset,
    StartTls, Tls,
};

#[rstest]
#[case::a_relay_that_does_not_exist_pauses_the_batch(
    Resolve,
    Event::NameNotFound,
    "not_sent, batch, pause name, close"
)]
#[case::a_name_server_that_fails_backs_the_route_off(
    Resolve,
    Event::NameFailed,
    "not_sent, endpoint, close"
)]
#[case::a_name_server_that_is_silent_backs_the_route_off(
    Resolve,
    Event::Lost(Loss::Timeout),
    "not_sent, endpoint, close"
)]
#[case::a_refused_connect_backs_the_route_off(
    Connect,
    Event::Lost(Loss::Reset),
    "not_sent, endpoint, close"
)]
#[case::a_connect_without_answer_backs_the_route_off(
    Connect,
    Event::Lost(Loss::Timeout),
    "not_sent, endpoint, close"
)]
#[case::a_greeting_cut_off_costs_only_the_connection(
    Greeting,
    Event::Lost(Loss::Eof),
    "not_sent, connection, close"
)]
#[case::a_greeting_that_never_comes_costs_only_the_connection(
    Greeting,
    Event::Lost(Loss::Timeout),
    "not_sent, connection, close"
)]
#[case::a_greeting_that_is_nonsense_costs_only_the_connection(
    Greeting,
    Event::Malformed,
    "not_sent, connection, close"
)]
#[case::a_bad_certificate_pauses_the_batch(
    Tls,
    Event::BadCertificate,
    "not_sent, batch, pause certificate, close"
)]
#[case::a_bad_certificate_after_starttls_pauses_the_batch(
    StartTls,
    Event::BadCertificate,
    "not_sent, batch, pause certificate, close"
)]
#[case::a_failed_handshake_backs_the_route_off(
    Tls,
    Event::HandshakeFailed,
    "not_sent, endpoint, close"
)]
#[case::a_lost_handshake_backs_the_route_off(
    Tls,
    Event::Lost(Loss::Reset),
    "not_sent, endpoint, close"
)]
#[case::a_failed_handshake_after_starttls_backs_the_route_off(
    StartTls,
    Event::HandshakeFailed,
    "not_sent, endpoint, close"
)]
#[case::a_missing_starttls_pauses_the_batch(
    StartTls,
    Event::NotOffered("STARTTLS"),
    "not_sent, batch, pause downgrade, close"
)]
#[case::plain_text_injected_after_starttls_pauses_the_batch(
    StartTls,
    Event::Injected,
    "not_sent, batch, pause downgrade, close"
)]
#[case::starttls_lost_costs_only_the_connection(
    StartTls,
    Event::Lost(Loss::Eof),
    "not_sent, connection, close"
)]
#[case::ehlo_lost_costs_only_the_connection(
    Ehlo,
    Event::Lost(Loss::Eof),
    "not_sent, connection, close"
)]
#[case::a_missing_login_mechanism_pauses_the_batch(
    Auth,
    Event::NotOffered("AUTH PLAIN"),
    "not_sent, batch, pause service, close"
)]
#[case::a_login_lost_costs_only_the_connection(
    Auth,
    Event::Lost(Loss::Timeout),
    "not_sent, connection, close"
)]
#[case::a_login_answered_with_nonsense_costs_only_the_connection(
    Auth,
    Event::Malformed,
    "not_sent, connection, close"
)]
#[case::a_silent_close_after_n_messages_costs_only_the_connection(
    Mail,
    Event::Lost(Loss::Eof),
    "not_sent, connection, close"
)]
#[case::a_silence_after_mail_costs_only_the_connection(
    Mail,
    Event::Lost(Loss::Timeout),
    "not_sent, connection, close"
)]
#[case::nonsense_after_mail_costs_only_the_connection(
    Mail,
    Event::Malformed,
    "not_sent, connection, close"
)]
#[case::a_stop_after_mail_costs_only_the_connection(
    Mail,
    Event::Cancelled,
    "not_sent, connection, close"
)]
#[case::a_connection_lost_after_rcpt_costs_only_the_connection(
    Rcpt,
    Event::Lost(Loss::Reset),
    "not_sent, connection, close"
)]
#[case::nonsense_after_rcpt_costs_only_the_connection(
    Rcpt,
    Event::Malformed,
    "not_sent, connection, close"
)]
#[case::a_stop_after_rcpt_costs_only_the_connection(
    Rcpt,
    Event::Cancelled,
    "not_sent, connection, close"
)]
#[case::an_address_that_needs_smtputf8_fails_its_row(
    Rcpt,
    Event::NoSmtpUtf8,
    "refused, row, counted, keep"
)]
#[case::an_address_that_needs_smtputf8_fails_its_row_before_any_connection(
    Local,
    Event::NoSmtpUtf8,
    "refused, row, counted, keep"
)]
#[case::a_message_above_the_announced_size_pauses_the_batch(
    Mail,
    Event::TooLarge,
    "not_sent, batch, pause size, close"
)]
#[case::a_connection_lost_after_data_costs_only_the_connection(
    Data,
    Event::Lost(Loss::Eof),
    "not_sent, connection, close"
)]
#[case::nonsense_after_data_costs_only_the_connection(
    Data,
    Event::Malformed,
    "not_sent, connection, close"
)]
#[case::a_stop_after_data_costs_only_the_connection(
    Data,
    Event::Cancelled,
    "not_sent, connection, close"
)]
#[case::a_write_error_in_the_body_is_not_sent(
    Body,
    Event::Lost(Loss::Reset),
    "not_sent, connection, close"
)]
#[case::a_body_that_takes_too_long_is_not_sent(
    Body,
    Event::Lost(Loss::Timeout),
    "not_sent, connection, close"
)]
#[case::a_stop_in_the_body_is_not_sent(Body, Event::Cancelled, "not_sent, connection, close")]
#[case::nonsense_in_the_body_is_not_sent(Body, Event::Malformed, "not_sent, connection, close")]
#[case::a_worker_that_may_be_dead_does_not_send_the_dot(
    Body,
    Event::Fenced,
    "not_sent, connection, close"
)]
#[case::a_shut_gate_means_that_the_dot_was_never_begun(
    Dot,
    Event::Fenced,
    "not_sent, connection, close"
)]
#[case::no_answer_to_the_dot_in_time_is_unknown(
    Dot,
    Event::Lost(Loss::Timeout),
    "unknown, connection, counted, close"
)]
#[case::a_close_after_the_dot_or_a_reply_cut_in_the_middle_is_unknown(
    Dot,
    Event::Lost(Loss::Eof),
    "unknown, connection, counted, close"
)]
#[case::a_reset_after_the_dot_is_unknown(
    Dot,
    Event::Lost(Loss::Reset),
    "unknown, connection, counted, close"
)]
#[case::nonsense_or_differing_codes_after_the_dot_are_unknown(
    Dot,
    Event::Malformed,
    "unknown, connection, counted, close"
)]
#[case::our_own_stop_after_the_dot_is_unknown(
    Dot,
    Event::Cancelled,
    "unknown, connection, counted, close"
)]
#[case::an_event_that_cannot_follow_the_dot_is_unknown(
    Dot,
    Event::NameFailed,
    "unknown, connection, counted, close"
)]
#[case::a_lost_rset_costs_only_the_connection(
    Rset,
    Event::Lost(Loss::Timeout),
    "not_sent, connection, close"
)]
#[case::a_lost_quit_costs_only_the_connection(
    Quit,
    Event::Lost(Loss::Timeout),
    "not_sent, connection, close"
)]
#[case::a_file_that_cannot_be_written_pauses_the_batch(
    File, Event::FileFailed("disk full".into()), "not_sent, batch, pause local, close")]
fn what_is_no_reply(#[case] phase: Phase, #[case] event: Event, #[case] meaning: &str) {
    assert_eq!(say(classify(phase, &event)), meaning);
}
