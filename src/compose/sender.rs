//! Mailboxes that people configure: the `From` of a kind, the `Reply-To` of a template.

use crate::domain::address::Address;
use crate::domain::text::name_control;

/// Who the mail is from, read once and written into every message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    pub name: Option<String>,
    /// As it goes over the wire: the domain in A-labels.
    pub address: String,
    domain: String,
    /// The finished header line.
    from: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no sender: {why}")]
pub struct SenderError {
    pub text: String,
    pub why: String,
}

impl Sender {
    /// Reads `Name <user@domain>`, `"Name, with comma" <user@domain>` or a bare address.
    pub fn parse(text: &str) -> Result<Self, SenderError> {
        let wrong = |why: String| SenderError { text: text.escape_debug().to_string(), why };
        if let Some(c) = text.chars().find(|c| c.is_control()) {
            return Err(wrong(format!("it holds {}", name_control(c))));
        }
        let (name, address) = split(text).map_err(|why| wrong(why.to_owned()))?;
        let (address, _removed) = Address::parse(address).map_err(|err| wrong(err.to_string()))?;
        if address.needs_smtputf8() {
            return Err(wrong("what stands before the @ must be plain ASCII".to_owned()));
        }
        let mut sender = Self {
            name: Some(name).filter(|name| !name.is_empty()),
            address: address.on_the_wire(),
            domain: address.domain().to_owned(),
            from: String::new(),
        };
        let mut from = String::new();
        super::encode::mailbox_header(&mut from, "From", [sender.pair()]);
        sender.from = from;
        Ok(sender)
    }

    /// Reads several of them with commas between.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, SenderError> {
        split_list(text).into_iter().map(Self::parse).collect()
    }

    /// Returns what stands after the `@`, in A-labels.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the `From` header with its line end.
    pub(super) fn header_line(&self) -> &str {
        &self.from
    }

    /// Returns name and address as `encode::mailbox_header` takes them.
    pub(super) fn pair(&self) -> (Option<&str>, &str) {
        (self.name.as_deref(), &self.address)
    }
}

/// Splits a mailbox into the name without its quotes and the address without its brackets.
fn split(text: &str) -> Result<(String, &str), &'static str> {
    let text = text.trim();
    let Some((name, rest)) = text.rsplit_once('<') else { return Ok((String::new(), text)) };
    let Some((address, after)) = rest.split_once('>') else { return Err("the `>` is missing") };
    if !after.trim().is_empty() {
        return Err("something follows the `>`");
    }
    let name = name.trim();
    let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let Some(quoted) = quoted else {
        if name.contains(['<', '>', '"']) {
            return Err("the name holds a quote or bracket; write it in quotes");
        }
        return Ok((name.to_owned(), address));
    };
    let mut plain = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        plain.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    Ok((plain, address))
}

/// Splits at the commas that stand outside quotes and brackets.
fn split_list(text: &str) -> Vec<&str> {
    let (mut quoted, mut escaped, mut open) = (false, false, false);
    let mut mailboxes: Vec<&str> = text
        .split(|c: char| {
            let comma = c == ',' && !quoted && !open;
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = quoted,
                '"' => quoted = !quoted,
                '<' if !quoted => open = true,
                '>' if !quoted => open = false,
                _ => {}
            }
            comma
        })
        .collect();
    mailboxes.retain(|mailbox| !mailbox.trim().is_empty());
    mailboxes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_a_name_and_an_address() {
        for (text, name, address) in [
            ("会員サービス <notice@example.com>", Some("会員サービス"), "notice@example.com"),
            ("notice@example.com", None, "notice@example.com"),
            ("<notice@example.com>", None, "notice@example.com"),
            (r#""Shop, Ltd. \"A\"" <a@example.com>"#, Some(r#"Shop, Ltd. "A""#), "a@example.com"),
            ("A < B <a@例え.jp>", None, ""),
            ("店 <a@例え.jp>", Some("店"), "a@xn--r8jz45g.jp"),
        ] {
            match Sender::parse(text) {
                Ok(sender) => {
                    assert_eq!(sender.pair(), (name, address));
                    assert!(address.ends_with(sender.domain()));
                }
                Err(err) => assert_eq!("", address, "{err}"),
            }
        }
    }

    #[test]
    fn a_sender_with_a_line_break_is_refused_with_its_reason() {
        let err = Sender::parse("a\r\nBcc: x@example.com <a@example.com>").unwrap_err();
        assert_eq!(
            err.to_string(),
            r"`a\r\nBcc: x@example.com <a@example.com>` is no sender: it holds a line break"
        );
        assert!(Sender::parse("ä@example.com").is_err());
        assert!(Sender::parse("no address").is_err());
        assert!(Sender::parse("a <a@example.com> b").is_err());
    }

    #[test]
    fn commas_in_names_do_not_split_a_list() {
        let list = Sender::parse_list(r#""A, B" <a@example.com>, c@example.com,"#).unwrap();
        let names: Vec<_> = list.iter().map(Sender::pair).collect();
        assert_eq!(names, [(Some("A, B"), "a@example.com"), (None, "c@example.com")]);
    }
}
