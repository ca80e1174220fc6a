//! Mistakes about mail APIs, queues and lookups.

use rstest::rstest;

use super::mistakes_with;

#[rstest]
#[case::mail_api(
    "[folder.rehearsal]\npath = \"rehearsal\"",
    "[http.mailco]\nurl = \"http://api.example.com/\"\nbody = \"{}\"",
    "ittsu.toml:20: `http.mailco.url`: mails and the key of the API would travel in plain text to api.example.com; expected https://, or allow_plaintext = true"
)]
#[case::a_key_without_its_window(
    "[folder.rehearsal]\npath = \"rehearsal\"",
    "[http.a]\nurl = \"https://a.example/\"\nbody = \"{}\"\nidempotency_header = \"Idempotency-Key\"",
    "ittsu.toml:22: `http.a.idempotency_header` has no idempotency_window beside it, as in idempotency_window = \"24h\": how long the provider remembers a key"
)]
#[case::a_token_in_the_file(
    "[folder.rehearsal]\npath = \"rehearsal\"",
    "[http.a]\nurl = \"https://key@a.example/\"\nbody = \"{}\"",
    "ittsu.toml:20: `http.a.url`: a password never stands in the file; put it into `headers`, as in authorization = { env = \"NAME\", prefix = \"Basic \" }"
)]
#[case::order_queue(
    "once_per = \"kind\"",
    "queue = \"redis://127.0.0.1/0\"",
    "ittsu.toml:43: `kinds.order.queue`: expected redis://HOST/0?stream=NAME&group=NAME, or redis://HOST/0?list=NAME, got `redis://127.0.0.1/0`"
)]
#[case::a_queue_without_a_batch(
    "once_per = \"kind\"",
    "once_per = \"kind\"\nqueue = \"redis://127.0.0.1/0?list=orders\"",
    "ittsu.toml:44: `kinds.order.queue` needs `batch` beside it, as in batch = \"order-{date}\""
)]
#[case::a_queue_that_would_mail_once_a_day(
    "once_per = \"kind\"",
    "batch = \"order-{date}\"\nqueue = \"redis://127.0.0.1/0?list=orders\"",
    "ittsu.toml:44: `kinds.order.queue` needs once_per = \"kind\": with \"batch\" the same job on two days would be two mails"
)]
#[case::a_batch_without_the_day(
    "once_per = \"kind\"",
    "batch = \"orders\"",
    "ittsu.toml:43: `kinds.order.batch`: expected a name with the day in it, such as \"order-{date}\", got `orders`"
)]
#[case::a_lookup_without_its_ids(
    "once_per = \"kind\"",
    "lookup = { database = \"sqlite:shop.db\", sql = \"select 1\" }",
    "ittsu.toml:43: `kinds.order.lookup.sql`: expected `:ids` where the list of ids belongs, as in where id in (:ids)"
)]
fn a_mistake_about_order_mail_names_file_line_key_and_what_was_expected(
    #[case] good: &str,
    #[case] bad: &str,
    #[case] said: &str,
) {
    assert_eq!(mistakes_with(good, bad), said);
}
