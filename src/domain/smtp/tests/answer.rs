//! Replies to the message: DATA, the body, the final dot, and what follows.

use rstest::rstest;

use super::*;
use crate::domain::outcome::Phase::{Body, Data, Dot, File, Quit, Rset};

#[rstest]
#[case::a_421_4_2_1_outside_rcpt_slows_the_route_down(
    Dot,
    "421 4.2.1 slow down",
    "deferred, endpoint, after 10 min, close"
)]
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
#[case::a_mailbox_trouble_for_now_told_at_data_is_tried_again(
    Data,
    "452 4.2.2 full",
    "deferred, row, counted, keep"
)]
#[case::an_enhanced_size_told_at_data_pauses_the_batch(
    Data,
    "554 5.3.4 too big",
    "not_sent, batch, pause size, close"
)]
#[case::a_closed_system_after_the_dot_is_suspect(
    Dot,
    "554 5.3.2 not accepting",
    "refused, batch, suspect sender, keep"
)]
#[case::a_routing_loop_after_the_dot_is_suspect(
    Dot,
    "554 5.4.6 mail loop",
    "refused, batch, suspect sender, keep"
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
#[case::a_221_to_the_dot_is_a_yes_worth_a_look(
    Dot,
    "221 2.0.0 bye",
    "accepted, row, counted, review, close"
)]
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
fn what_a_reply_to_the_message_means(
    #[case] phase: Phase,
    #[case] line: &str,
    #[case] meaning: &str,
) {
    assert_eq!(say(classify(phase, &answer(line))), meaning);
}
