//! Every cell of the outcome table, one named case each.

use rstest::rstest;

use super::*;
use crate::domain::outcome::Phase::{
    Auth, Body, Connect, Data, Dot, Ehlo, File, Greeting, Local, Mail, Quit, Rcpt, Resolve, Rset,
    StartTls, Tls,
};

/// Says a verdict in words, so that a table of cases reads like the table it tests.
fn say(verdict: Verdict) -> String {
    let Verdict { outcome, blame, counts, not_before, suspect, review, keep_connection, pause } =
        verdict;
    let mut words = vec![outcome.as_str().to_owned(), blame.as_str().to_owned()];
    if counts {
        words.push("counted".to_owned());
    }
    if let Some(wait) = not_before {
        words.push(format!("after {} min", wait.as_secs() / 60));
    }
    if let Some(suspect) = suspect {
        words.push(format!("suspect {suspect:?}").to_lowercase());
    }
    if let Some(pause) = pause {
        words.push(format!("pause {pause:?}").to_lowercase());
    }
    if review {
        words.push("review".to_owned());
    }
    words.push(if keep_connection { "keep" } else { "close" }.to_owned());
    words.join(", ")
}

/// Makes an event out of `550 5.1.1 no such user`.
fn answer(line: &str) -> Event {
    let (code, text) = line.split_at(3);
    Event::reply(code.parse().unwrap(), text.trim_start())
}

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

#[rstest]
#[case::a_greeting_of_421_backs_the_route_off(
    Greeting,
    "421 too busy",
    "deferred, endpoint, close"
)]
#[case::a_greeting_of_4yz_backs_the_route_off(Greeting, "450 later", "deferred, endpoint, close")]
#[case::a_greeting_of_554_pauses_the_batch(
    Greeting,
    "554 no SMTP service here",
    "not_sent, batch, pause service, close"
)]
#[case::a_greeting_of_250_is_out_of_step(Greeting, "250 hello", "not_sent, connection, close")]
#[case::ehlo_4yz_backs_the_route_off(Ehlo, "421 4.3.2 closing", "deferred, endpoint, close")]
#[case::ehlo_5yz_pauses_the_batch(Ehlo, "550 go away", "not_sent, batch, pause service, close")]
#[case::starttls_454_backs_the_route_off(
    StartTls,
    "454 TLS not available",
    "deferred, endpoint, close"
)]
#[case::starttls_5yz_pauses_the_batch(
    StartTls,
    "502 not here",
    "not_sent, batch, pause downgrade, close"
)]
#[case::auth_454_too_many_logins_waits_long_with_one_probe(
    Auth,
    "454 4.7.0 too many login attempts",
    "deferred, endpoint, after 5 min, close"
)]
#[case::auth_421_waits_long(Auth, "421 4.7.0 later", "deferred, endpoint, after 5 min, close")]
#[case::auth_432_waits_long(
    Auth,
    "432 4.7.12 password change needed",
    "deferred, endpoint, after 5 min, close"
)]
#[case::auth_of_another_4yz_backs_the_route_off(Auth, "471 no", "deferred, endpoint, close")]
#[case::auth_535_pauses_the_batch(
    Auth,
    "535 5.7.8 bad credentials",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_534_pauses_the_batch(
    Auth,
    "534 5.7.9 too weak",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_538_pauses_the_batch(
    Auth,
    "538 5.7.11 encryption needed",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_530_pauses_the_batch(
    Auth,
    "530 5.7.0 first STARTTLS",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_504_pauses_the_batch(
    Auth,
    "504 5.5.4 mechanism",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_501_pauses_the_batch(
    Auth,
    "501 5.5.2 cannot decode",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_503_pauses_the_batch(
    Auth,
    "503 5.5.1 bad sequence",
    "not_sent, batch, pause credential, close"
)]
#[case::a_challenge_that_was_not_asked_for_is_out_of_step(
    Auth,
    "334 VXNlcm5hbWU6",
    "not_sent, connection, close"
)]
#[case::mail_421_backs_the_route_off(Mail, "421 4.4.2 timeout", "deferred, endpoint, close")]
#[case::mail_4yz_backs_the_route_off_and_keeps_the_row_ready(
    Mail,
    "451 4.3.0 try again",
    "deferred, endpoint, keep"
)]
#[case::mail_452_backs_the_route_off(Mail, "452 4.3.1 disk full", "deferred, endpoint, keep")]
#[case::a_sender_refused_at_mail_pauses_the_batch(
    Mail,
    "550 5.7.1 sender rejected",
    "not_sent, batch, pause sender, close"
)]
#[case::a_sender_domain_refused_at_mail_pauses_the_batch(
    Mail,
    "553 5.1.8 bad sender domain",
    "not_sent, batch, pause sender, close"
)]
#[case::a_plain_550_at_mail_pauses_the_batch(
    Mail,
    "550 no",
    "not_sent, batch, pause sender, close"
)]
#[case::parameters_refused_at_mail_pause_the_batch(
    Mail,
    "555 5.5.4 unsupported",
    "not_sent, batch, pause sender, close"
)]
#[case::a_size_refused_at_mail_pauses_the_batch(
    Mail,
    "552 5.3.4 message too big",
    "not_sent, batch, pause size, close"
)]
#[case::a_plain_552_at_mail_is_the_size(
    Mail,
    "552 exceeds limit",
    "not_sent, batch, pause size, close"
)]
#[case::a_login_demanded_at_mail_pauses_the_batch(
    Mail,
    "530 5.7.0 authentication required",
    "not_sent, batch, pause credential, close"
)]
#[case::a_login_refused_in_the_middle_of_a_run_pauses_the_batch(
    Mail,
    "535 5.7.8 password changed",
    "not_sent, batch, pause credential, close"
)]
#[case::a_354_to_mail_is_out_of_step(Mail, "354 go", "not_sent, connection, close")]
#[case::rcpt_421_backs_the_route_off(Rcpt, "421 4.7.0 closing", "deferred, endpoint, close")]
#[case::greylisting_by_words_waits_5_min(
    Rcpt,
    "450 4.2.0 Greylisted, see postgrey",
    "deferred, row, counted, after 5 min, keep"
)]
#[case::greylisting_by_code_waits_5_min(
    Rcpt,
    "451 4.7.1 please try again",
    "deferred, row, counted, after 5 min, keep"
)]
#[case::greylisting_without_an_enhanced_code_waits_5_min(
    Rcpt,
    "451 Greylisting in action",
    "deferred, row, counted, after 5 min, keep"
)]
#[case::too_many_recipients_by_code_go_at_once_over_a_new_connection(
    Rcpt,
    "452 4.5.3 enough",
    "deferred, connection, close"
)]
#[case::docomos_552_too_many_recipients_go_at_once_over_a_new_connection(
    Rcpt,
    "552 too many recipients",
    "deferred, connection, close"
)]
#[case::a_452_too_many_recipients_without_an_enhanced_code_goes_at_once(
    Rcpt,
    "452 Too many recipients received this hour",
    "deferred, connection, close"
)]
#[case::a_full_disk_at_rcpt_backs_the_route_off(
    Rcpt,
    "452 4.3.1 out of space",
    "deferred, endpoint, close"
)]
#[case::a_plain_452_is_a_full_disk(
    Rcpt,
    "452 insufficient system storage",
    "deferred, endpoint, close"
)]
#[case::a_broken_server_at_rcpt_backs_the_route_off(
    Rcpt,
    "451 4.3.0 queue file write error",
    "deferred, endpoint, close"
)]
#[case::a_mailbox_that_is_full_for_now_is_tried_again(
    Rcpt,
    "452 4.2.2 over quota",
    "deferred, row, counted, keep"
)]
#[case::a_mailbox_that_takes_no_more_for_now_is_tried_again(
    Rcpt,
    "450 4.2.1 receiving too fast",
    "deferred, row, counted, keep"
)]
#[case::a_mailbox_that_is_full_for_good_fails(
    Rcpt,
    "552 5.2.2 over quota",
    "refused, row, counted, keep"
)]
#[case::a_network_trouble_for_now_is_tried_again(
    Rcpt,
    "450 4.4.1 host not reachable",
    "deferred, row, counted, keep"
)]
#[case::a_plain_450_is_tried_again(Rcpt, "450 later", "deferred, row, counted, keep")]
#[case::too_many_recipient_attempts_slow_the_route_down(
    Rcpt,
    "450 too many recipient attempts",
    "deferred, endpoint, after 10 min, close"
)]
#[case::gmails_rate_limit_slows_the_route_down(
    Rcpt,
    "450 4.7.28 unusual rate",
    "deferred, endpoint, after 10 min, close"
)]
#[case::gmails_rate_limit_as_421_slows_the_route_down(
    Mail,
    "421 4.7.28 same Message-ID",
    "deferred, endpoint, after 10 min, close"
)]
#[case::a_421_4_2_1_outside_rcpt_slows_the_route_down(
    Dot,
    "421 4.2.1 slow down",
    "deferred, endpoint, after 10 min, close"
)]
#[case::yahoos_tss04_pauses_the_route_for_two_hours(
    Mail,
    "421 4.7.0 [TSS04] Messages deferred",
    "deferred, endpoint, after 120 min, close"
)]
#[case::outlooks_rp_001_pauses_the_route_for_two_hours(
    Mail,
    "421 RP-001 unusual rate of complaints",
    "deferred, endpoint, after 120 min, close"
)]
#[case::a_code_of_422_is_later_whatever_it_is(Rcpt, "422 full", "deferred, row, counted, keep")]
#[case::a_code_of_471_is_later_whatever_it_is(Rcpt, "471 hm", "deferred, row, counted, keep")]
#[case::a_code_of_499_is_later_whatever_it_is(Rcpt, "499 hm", "deferred, row, counted, keep")]
#[case::a_code_of_599_is_final_whatever_it_is(Rcpt, "599 hm", "refused, row, counted, keep")]
#[case::an_unknown_mailbox_fails(Rcpt, "550 5.1.1 no such user", "refused, row, counted, keep")]
#[case::a_bad_system_fails(Rcpt, "550 5.1.2 bad host", "refused, row, counted, keep")]
#[case::a_bad_syntax_fails(Rcpt, "501 5.1.3 bad syntax", "refused, row, counted, keep")]
#[case::a_moved_mailbox_fails(Rcpt, "551 5.1.6 moved", "refused, row, counted, keep")]
#[case::a_null_mx_fails(Rcpt, "556 5.1.10 null MX", "refused, row, counted, keep")]
#[case::a_disabled_mailbox_fails(Rcpt, "553 5.2.1 disabled", "refused, row, counted, keep")]
#[case::a_mailbox_of_somebody_else_now_fails(
    Rcpt,
    "550 5.7.17 owner changed",
    "refused, row, counted, keep"
)]
#[case::a_domain_of_somebody_else_now_fails(
    Rcpt,
    "550 5.7.18 owner changed",
    "refused, row, counted, keep"
)]
#[case::an_address_the_next_hop_cannot_write_fails(
    Rcpt,
    "553 5.6.7 non-ASCII not permitted",
    "refused, row, counted, keep"
)]
#[case::a_domain_without_a_route_fails(Rcpt, "550 5.4.4 no route", "refused, row, counted, keep")]
#[case::an_unknown_mailbox_by_554_fails(Rcpt, "554 5.1.1 gone", "refused, row, counted, keep")]
#[case::a_plain_550_fails_and_feeds_the_breaker(Rcpt, "550 no", "refused, row, counted, keep")]
#[case::a_plain_551_fails_and_feeds_the_breaker(Rcpt, "551 no", "refused, row, counted, keep")]
#[case::a_plain_552_at_rcpt_is_a_full_mailbox(Rcpt, "552 full", "refused, row, counted, keep")]
#[case::a_plain_553_fails_and_feeds_the_breaker(Rcpt, "553 no", "refused, row, counted, keep")]
#[case::a_bad_sender_told_at_rcpt_is_suspect(
    Rcpt,
    "550 5.1.7 bad sender",
    "refused, batch, suspect sender, keep"
)]
#[case::a_bad_sender_domain_told_at_rcpt_is_suspect(
    Rcpt,
    "550 5.1.8 bad sender domain",
    "refused, batch, suspect sender, keep"
)]
#[case::a_policy_refusal_told_at_rcpt_is_suspect(
    Rcpt,
    "550 5.7.1 relaying denied",
    "refused, batch, suspect sender, keep"
)]
#[case::a_reputation_refusal_told_at_rcpt_is_suspect(
    Rcpt,
    "550 5.7.26 unauthenticated",
    "refused, batch, suspect sender, keep"
)]
#[case::microsofts_5_7_515_is_suspect(
    Rcpt,
    "550 5.7.515 access denied",
    "refused, batch, suspect sender, keep"
)]
#[case::a_530_told_at_rcpt_is_suspect(
    Rcpt,
    "530 log in first",
    "refused, batch, suspect sender, keep"
)]
#[case::a_535_told_at_rcpt_is_suspect(Rcpt, "535 no", "refused, batch, suspect sender, keep")]
#[case::a_plain_554_told_at_rcpt_is_suspect(
    Rcpt,
    "554 rejected",
    "refused, batch, suspect sender, keep"
)]
#[case::a_plain_503_told_at_rcpt_is_suspect(
    Rcpt,
    "503 bad sequence",
    "refused, batch, suspect sender, keep"
)]
#[case::a_plain_555_told_at_rcpt_is_suspect(
    Rcpt,
    "555 parameters",
    "refused, batch, suspect sender, keep"
)]
#[case::protocol_trouble_at_rcpt_is_suspect_and_closes(
    Rcpt,
    "501 5.5.2 syntax",
    "refused, batch, suspect sender, close"
)]
#[case::a_size_told_at_rcpt_is_suspect(
    Rcpt,
    "552 5.3.4 too big",
    "refused, batch, suspect content, keep"
)]
#[case::a_5_5_3_about_size_is_suspect(
    Rcpt,
    "552 5.5.3 message size",
    "refused, batch, suspect content, keep"
)]
#[case::a_server_not_accepting_mail_backs_the_route_off(
    Rcpt,
    "554 5.3.2 not accepting",
    "deferred, endpoint, close"
)]
#[case::a_354_to_rcpt_is_out_of_step(Rcpt, "354 go", "not_sent, connection, close")]
#[case::a_250_to_data_is_out_of_step(Data, "250 ok", "not_sent, connection, close")]
#[case::data_421_backs_the_route_off(Data, "421 closing", "deferred, endpoint, close")]
#[case::data_4yz_backs_the_route_off(Data, "451 later", "deferred, endpoint, keep")]
#[case::greylisting_at_data_waits_5_min(
    Data,
    "451 4.7.1 greylisted",
    "deferred, row, counted, after 5 min, keep"
)]
#[case::a_554_no_valid_recipients_says_nothing_new(
    Data,
    "554 5.5.1 No valid recipients",
    "not_sent, connection, close"
)]
#[case::a_plain_503_to_data_says_nothing_new(Data, "503 no", "not_sent, connection, close")]
#[case::a_5yz_to_data_is_suspect(
    Data,
    "550 5.7.1 not for you",
    "refused, batch, suspect content, keep"
)]
#[case::a_plain_554_to_data_is_suspect(Data, "554 no", "refused, batch, suspect content, keep")]
#[case::an_unknown_mailbox_told_at_data_fails(
    Data,
    "550 5.1.1 no such user",
    "refused, row, counted, keep"
)]
#[case::a_size_told_at_data_pauses_the_batch(
    Data,
    "552 too big",
    "not_sent, batch, pause size, close"
)]
#[case::an_early_refusal_in_the_body_fails_the_row_and_closes(
    Body,
    "550 5.1.1 no such user",
    "refused, row, counted, close"
)]
#[case::an_early_421_in_the_body_backs_the_route_off(
    Body,
    "421 closing",
    "deferred, endpoint, close"
)]
#[case::an_early_content_refusal_in_the_body_is_suspect(
    Body,
    "554 5.6.0 content",
    "refused, batch, suspect content, close"
)]
#[case::a_250_in_the_middle_of_the_body_accepts_nothing(
    Body,
    "250 queued",
    "not_sent, connection, close"
)]
#[case::a_250_to_the_dot_is_accepted(
    Dot,
    "250 2.0.0 queued as 4F1",
    "accepted, row, counted, keep"
)]
#[case::a_250_without_text_is_accepted(Dot, "250", "accepted, row, counted, keep")]
#[case::any_2yz_to_the_dot_is_accepted(Dot, "299 fine", "accepted, row, counted, keep")]
#[case::a_254_with_4_7_1_is_accepted_and_worth_a_look(
    Dot,
    "254 4.7.1 recipient suppressed",
    "accepted, row, counted, review, keep"
)]
#[case::a_250_with_5_1_1_is_accepted_and_worth_a_look(
    Dot,
    "250 5.1.1 hm",
    "accepted, row, counted, review, keep"
)]
#[case::a_4yz_to_the_dot_is_tried_again(Dot, "450 later", "deferred, row, counted, keep")]
#[case::greylisting_after_the_dot_waits_5_min(
    Dot,
    "451 4.7.1 greylisted",
    "deferred, row, counted, after 5 min, keep"
)]
#[case::a_421_to_the_dot_backs_the_route_off(
    Dot,
    "421 4.3.2 shutting down",
    "deferred, endpoint, close"
)]
#[case::a_broken_server_after_the_dot_backs_the_route_off(
    Dot,
    "451 4.3.5 misconfigured",
    "deferred, endpoint, close"
)]
#[case::a_network_trouble_after_the_dot_backs_the_route_off(
    Dot,
    "451 4.4.1 no route",
    "deferred, endpoint, close"
)]
#[case::a_full_disk_after_the_dot_backs_the_route_off(
    Dot,
    "452 no space",
    "deferred, endpoint, close"
)]
#[case::a_mailbox_full_for_now_after_the_dot_is_tried_again(
    Dot,
    "452 4.2.2 full",
    "deferred, row, counted, keep"
)]
#[case::a_plain_550_to_the_dot_fails_the_row(Dot, "550 no", "refused, row, counted, keep")]
#[case::an_unknown_mailbox_told_after_the_dot_fails_the_row(
    Dot,
    "550 5.1.1 no",
    "refused, row, counted, keep"
)]
#[case::a_full_mailbox_told_after_the_dot_fails_the_row(
    Dot,
    "552 5.2.2 full",
    "refused, row, counted, keep"
)]
#[case::a_policy_refusal_after_the_dot_is_suspect(
    Dot,
    "550 5.7.1 spam",
    "refused, batch, suspect content, keep"
)]
#[case::a_content_refusal_after_the_dot_is_suspect(
    Dot,
    "554 5.6.0 content",
    "refused, batch, suspect content, keep"
)]
#[case::a_plain_554_after_the_dot_is_suspect(
    Dot,
    "554 no",
    "refused, batch, suspect content, keep"
)]
#[case::a_bad_sender_told_after_the_dot_is_suspect(
    Dot,
    "550 5.1.8 sender",
    "refused, batch, suspect sender, keep"
)]
#[case::a_size_told_after_the_dot_pauses_the_batch(
    Dot,
    "552 5.3.4 too big",
    "not_sent, batch, pause size, close"
)]
#[case::a_plain_552_after_the_dot_is_the_size(
    Dot,
    "552 too big",
    "not_sent, batch, pause size, close"
)]
#[case::too_many_recipients_told_after_the_dot_fail_nobody(
    Dot,
    "552 too many recipients",
    "deferred, connection, close"
)]
#[case::a_code_of_471_to_the_dot_is_later(Dot, "471 hm", "deferred, row, counted, keep")]
#[case::a_354_to_the_dot_is_unknown(Dot, "354 go", "unknown, connection, counted, close")]
#[case::a_3yz_to_the_dot_is_unknown(Dot, "399 hm", "unknown, connection, counted, close")]
#[case::a_1yz_to_the_dot_is_unknown(Dot, "150 hm", "unknown, connection, counted, close")]
#[case::an_850_to_the_dot_is_unknown(Dot, "850 NONSENSE", "unknown, connection, counted, close")]
#[case::a_reply_in_bytes_of_another_charset_counts_by_its_code(
    Dot,
    "250 \\xc0\\xfa\\xc0\\xe5",
    "accepted, row, counted, keep"
)]
#[case::a_written_file_is_accepted(
    File,
    "250 2.0.0 written to 1.eml",
    "accepted, row, counted, keep"
)]
#[case::a_rset_refused_costs_only_the_connection(
    Rset,
    "421 closing",
    "not_sent, connection, close"
)]
#[case::a_quit_refused_costs_only_the_connection(Quit, "500 what", "not_sent, connection, close")]
fn what_a_reply_means(#[case] phase: Phase, #[case] line: &str, #[case] meaning: &str) {
    assert_eq!(say(classify(phase, &answer(line))), meaning);
}

#[rstest]
#[case::greeting(Greeting, &[220])]
#[case::starttls(StartTls, &[220])]
#[case::login(Auth, &[235])]
#[case::only_354_lets_the_body_begin(Data, &[354])]
#[case::recipient_taken_forwarded_or_not_verified(Rcpt, &[250, 251, 252, 299])]
#[case::sender(Mail, &[250])]
#[case::hello(Ehlo, &[250])]
#[case::reset(Rset, &[250])]
fn the_dialogue_goes_on_only_after_the_right_code(#[case] phase: Phase, #[case] codes: &[u16]) {
    assert!(codes.iter().all(|&code| goes_on(phase, code)));
    let others = [150, 200, 220, 235, 250, 334, 354, 421, 450, 550, 850];
    let only_2yz = matches!(phase, Ehlo | Mail | Rcpt | Rset);
    for code in others.into_iter().filter(|c| !codes.contains(c)) {
        assert_eq!(goes_on(phase, code), only_2yz && code / 100 == 2, "{code}");
    }
}

#[test]
fn nothing_is_accepted_or_unknown_before_the_dot() {
    let codes = (100..1000).map(|code| Event::reply(code, ""));
    let others = [Event::Malformed, Event::Lost(Loss::Eof), Event::Cancelled, Event::Fenced];
    for event in codes.chain(others) {
        for &phase in Phase::ALL.iter().filter(|&&p| p != Dot && p != File) {
            let outcome = classify(phase, &event).outcome;
            assert!(
                !matches!(outcome, Outcome::Accepted | Outcome::Unknown(_)),
                "{phase} {event:?}: {outcome:?}"
            );
        }
    }
}

#[test]
fn after_the_dot_only_a_complete_4yz_or_5yz_says_no_and_only_2yz_says_yes() {
    for code in 100..1000 {
        for text in ["", "4.7.1 x", "5.1.1 x", "2.0.0 x", "4.7.28 x", "too many recipients"] {
            let outcome = classify(Dot, &Event::reply(code, text)).outcome;
            let expected = match code / 100 {
                2 => outcome == Outcome::Accepted,
                4 | 5 => !matches!(outcome, Outcome::Accepted | Outcome::Unknown(_)),
                _ => matches!(outcome, Outcome::Unknown(_)),
            };
            assert!(expected, "{code} {text}: {outcome:?}");
        }
    }
}

#[test]
fn what_is_not_the_rows_fault_never_counts_against_it() {
    for code in 100..1000 {
        for text in ["", "5.7.1 x", "4.3.1 x", "5.5.3 x", "4.7.28 x"] {
            for &phase in Phase::ALL {
                let verdict = classify(phase, &Event::reply(code, text));
                let unknown = matches!(verdict.outcome, Outcome::Unknown(_));
                assert_eq!(verdict.counts, verdict.blame == Blame::Row || unknown, "{code} {text}");
                assert!(verdict.pause.is_none() || verdict.outcome == Outcome::NotSent);
            }
        }
    }
}

#[test]
fn a_suspect_refusal_is_no_evidence_against_its_row() {
    let suspect = classify(Rcpt, &answer("550 5.7.1 no"));
    assert_eq!((suspect.outcome, suspect.as_evidence()), (Outcome::Refused, Outcome::NotSent));
    let plain = classify(Rcpt, &answer("550 5.1.1 no"));
    assert_eq!(plain.as_evidence(), Outcome::Refused);
}

#[rstest]
#[case::a_reply_is_shown_with_its_code(answer("550 5.1.1 no such user"), "550 5.1.1 no such user")]
#[case::a_reply_without_text_is_its_code(answer("250"), "250")]
#[case::a_reply_of_two_lines_is_one(answer("550 no\n  really"), "550 no / really")]
#[case::a_hostile_reply_is_written_out(answer("550 \x1b[2J"), "550 \\u{1b}[2J")]
#[case::what_is_no_reply_is_said(Event::Lost(Loss::Timeout), "no answer in time")]
#[case::what_is_missing_is_named(Event::NotOffered("AUTH"), "the server does not offer AUTH")]
fn an_event_has_words_that_are_safe_to_show(#[case] event: Event, #[case] words: &str) {
    assert_eq!(event.to_string(), words);
}
