//! Messages, built by the product and read back by a mail reader of other people's making.

mod body;
mod errors;
mod headers;
mod privacy;
mod signature;

use ittsu::compose::{BuildError, Built, Dkim, Person, Sender, Stamp, Template};
use ittsu::domain::address::Address;
use ittsu::domain::time::Timestamp;
use mail_parser::{Message, MessageParser};

/// A Message-ID as the codec writes it.
const ID: &str = "<aerukz4jvpg66ayb4qtqc.k7eqxr2m@example.com>";

/// Monday, 30 November 2026, 05:32:07 UTC.
const AT: Timestamp = Timestamp(1_796_016_727_123_456);

/// One person and a template to be built for them.
struct Case<'a> {
    text: &'a str,
    html: Option<&'a str>,
    from: &'a str,
    key: &'a str,
    address: &'a str,
    fields: &'a str,
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            text: "Subject: Hello\n\nHello\n",
            html: None,
            from: "会員サービス <notice@example.com>",
            key: "100234",
            address: "taro@example.jp",
            fields: "{}",
        }
    }
}

impl Case<'_> {
    fn build(&self) -> Result<Built, BuildError> {
        self.sign(None)
    }

    fn sign(&self, dkim: Option<&Dkim>) -> Result<Built, BuildError> {
        let template = Template::parse(self.text, self.html).unwrap();
        let sender = Sender::parse(self.from).unwrap();
        let (address, _) = Address::parse(self.address).unwrap();
        let person = Person { key: self.key, address: &address, fields: self.fields };
        let stamp = Stamp { message_id: ID.to_owned(), date: AT };
        let built = template.build(&sender, &person, &stamp, dkim)?;
        assert_fit_for_the_wire(&built);
        Ok(built)
    }
}

/// Checks what every message must keep, whatever it holds.
fn assert_fit_for_the_wire(built: &Built) {
    let content = &built.content;
    assert_eq!(built.size, content.len());
    assert!(content.is_ascii(), "8BITMIME would be needed");
    assert!(!content.contains(&0), "a NUL");
    assert!(content.ends_with(b"\r\n"));
    let text = std::str::from_utf8(content).unwrap();
    for line in text.split("\r\n") {
        assert!(line.len() < 998, "a line of {} bytes", line.len());
        assert!(!line.contains(['\r', '\n']), "a bare line break in {line:?}");
    }
    let message = parse(built);
    let to = message.to().expect("a To header");
    assert_eq!(to.iter().count(), 1, "exactly one recipient");
    for name in ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version"] {
        let times = message.headers_raw().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        assert_eq!(times.count(), 1, "{name} in {text}");
    }
    for name in ["Bcc", "Cc"] {
        assert!(message.header(name).is_none(), "{name} in {text}");
    }
}

fn parse(built: &Built) -> Message<'_> {
    MessageParser::default().parse(&built.content).expect("a message")
}

/// Returns the header lines as they go over the wire, without those of the parts.
fn head(built: &Built) -> String {
    let text = String::from_utf8(built.content.clone()).unwrap();
    text.split_once("\r\n\r\n").unwrap().0.to_owned()
}
