//! Replies to RCPT: the recipient, or ourselves?

use rstest::rstest;

use super::*;
use crate::domain::outcome::Phase::Rcpt;

#[rstest]
#[case::rcpt_421_backs_the_route_off("421 4.7.0 closing", "deferred, endpoint, close")]
#[case::greylisting_by_words_waits_5_min(
    "450 4.2.0 Greylisted, see postgrey",
    "deferred, row, counted, after 5 min, keep"
)]
#[case::greylisting_by_code_waits_5_min(
    "451 4.7.1 please try again",
    "deferred, row, counted, after 5 min, keep"
)]
#[case::greylisting_without_an_enhanced_code_waits_5_min(
    "451 Greylisting in action",
    "deferred, row, counted, after 5 min, keep"
)]
#[case::too_many_recipients_by_code_go_at_once_over_a_new_connection(
    "452 4.5.3 enough",
    "deferred, connection, close"
)]
#[case::docomos_552_too_many_recipients_go_at_once_over_a_new_connection(
    "552 too many recipients",
    "deferred, connection, close"
)]
#[case::a_452_too_many_recipients_without_an_enhanced_code_goes_at_once(
    "452 Too many recipients received this hour",
    "deferred, connection, close"
)]
#[case::a_full_disk_at_rcpt_backs_the_route_off(
    "452 4.3.1 out of space",
    "deferred, endpoint, close"
)]
#[case::a_plain_452_is_a_full_disk("452 insufficient system storage", "deferred, endpoint, close")]
#[case::a_broken_server_at_rcpt_backs_the_route_off(
    "451 4.3.0 queue file write error",
    "deferred, endpoint, close"
)]
#[case::a_sender_domain_that_cannot_be_looked_up_now_blames_no_recipient(
    "450 4.1.8 sender domain not found",
    "deferred, endpoint, close"
)]
#[case::a_mailbox_that_is_full_for_now_is_tried_again(
    "452 4.2.2 over quota",
    "deferred, row, counted, keep"
)]
#[case::a_mailbox_that_takes_no_more_for_now_is_tried_again(
    "450 4.2.1 receiving too fast",
    "deferred, row, counted, keep"
)]
#[case::a_mailbox_that_is_full_for_good_fails(
    "552 5.2.2 over quota",
    "refused, row, counted, keep"
)]
#[case::a_network_trouble_for_now_is_tried_again(
    "450 4.4.1 host not reachable",
    "deferred, row, counted, keep"
)]
#[case::a_plain_450_is_tried_again("450 later", "deferred, row, counted, keep")]
#[case::too_many_recipient_attempts_slow_the_route_down(
    "450 too many recipient attempts",
    "deferred, endpoint, after 10 min, close"
)]
#[case::gmails_rate_limit_slows_the_route_down(
    "450 4.7.28 unusual rate",
    "deferred, endpoint, after 10 min, close"
)]
#[case::a_code_of_422_is_later_whatever_it_is("422 full", "deferred, row, counted, keep")]
#[case::a_code_of_471_is_later_whatever_it_is("471 hm", "deferred, row, counted, keep")]
#[case::a_code_of_499_is_later_whatever_it_is("499 hm", "deferred, row, counted, keep")]
#[case::a_code_of_599_is_final_whatever_it_is("599 hm", "refused, row, counted, keep")]
#[case::an_unknown_mailbox_fails("550 5.1.1 no such user", "refused, row, counted, keep")]
#[case::a_bad_system_fails("550 5.1.2 bad host", "refused, row, counted, keep")]
#[case::a_bad_syntax_fails("501 5.1.3 bad syntax", "refused, row, counted, keep")]
#[case::a_moved_mailbox_fails("551 5.1.6 moved", "refused, row, counted, keep")]
#[case::a_null_mx_fails("556 5.1.10 null MX", "refused, row, counted, keep")]
#[case::a_disabled_mailbox_fails("553 5.2.1 disabled", "refused, row, counted, keep")]
#[case::a_mailbox_of_somebody_else_now_fails(
    "550 5.7.17 owner changed",
    "refused, row, counted, keep"
)]
#[case::a_domain_of_somebody_else_now_fails(
    "550 5.7.18 owner changed",
    "refused, row, counted, keep"
)]
#[case::an_address_the_next_hop_cannot_write_fails(
    "553 5.6.7 non-ASCII not permitted",
    "refused, row, counted, keep"
)]
#[case::a_domain_without_a_route_fails("550 5.4.4 no route", "refused, row, counted, keep")]
#[case::an_unknown_mailbox_by_554_fails("554 5.1.1 gone", "refused, row, counted, keep")]
#[case::a_plain_550_fails_and_feeds_the_breaker("550 no", "refused, row, counted, keep")]
#[case::a_plain_551_fails_and_feeds_the_breaker("551 no", "refused, row, counted, keep")]
#[case::a_plain_552_at_rcpt_is_a_full_mailbox("552 full", "refused, row, counted, keep")]
#[case::a_plain_553_fails_and_feeds_the_breaker("553 no", "refused, row, counted, keep")]
#[case::a_bad_sender_told_at_rcpt_is_suspect(
    "550 5.1.7 bad sender",
    "refused, batch, suspect sender, keep"
)]
#[case::a_bad_sender_domain_told_at_rcpt_is_suspect(
    "550 5.1.8 bad sender domain",
    "refused, batch, suspect sender, keep"
)]
#[case::a_policy_refusal_told_at_rcpt_is_suspect(
    "550 5.7.1 relaying denied",
    "refused, batch, suspect sender, keep"
)]
#[case::a_reputation_refusal_told_at_rcpt_is_suspect(
    "550 5.7.26 unauthenticated",
    "refused, batch, suspect sender, keep"
)]
#[case::microsofts_5_7_515_is_suspect(
    "550 5.7.515 access denied",
    "refused, batch, suspect sender, keep"
)]
#[case::a_530_told_at_rcpt_is_suspect("530 log in first", "refused, batch, suspect sender, keep")]
#[case::a_535_told_at_rcpt_is_suspect("535 no", "refused, batch, suspect sender, keep")]
#[case::a_plain_554_told_at_rcpt_is_suspect("554 rejected", "refused, batch, suspect sender, keep")]
#[case::a_plain_503_told_at_rcpt_is_suspect(
    "503 bad sequence",
    "refused, batch, suspect sender, keep"
)]
#[case::a_plain_555_told_at_rcpt_is_suspect(
    "555 parameters",
    "refused, batch, suspect sender, keep"
)]
#[case::protocol_trouble_at_rcpt_is_suspect_and_closes(
    "501 5.5.2 syntax",
    "refused, batch, suspect sender, close"
)]
#[case::a_size_told_at_rcpt_is_suspect(
    "552 5.3.4 too big",
    "refused, batch, suspect content, keep"
)]
#[case::a_5_5_3_about_size_is_suspect(
    "552 5.5.3 message size",
    "refused, batch, suspect content, keep"
)]
#[case::a_server_not_accepting_mail_is_suspect(
    "554 5.3.2 not accepting",
    "refused, batch, suspect sender, keep"
)]
#[case::a_354_to_rcpt_is_out_of_step("354 go", "not_sent, connection, close")]
fn what_a_reply_to_rcpt_means(#[case] line: &str, #[case] meaning: &str) {
    assert_eq!(say(classify(Rcpt, &answer(line))), meaning);
}
