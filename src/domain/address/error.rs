//! Why a text is no address that mail can be sent to, in an operator's words.

/// Says what is wrong with an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("the address is empty")]
    Empty,
    #[error("no @ in the address")]
    NoAt,
    #[error("the @ is a full-width one")]
    FullWidthAt,
    #[error("more than one @ in the address")]
    ManyAt,
    #[error("more than the bare address; leave out the name and the < >")]
    WithName,
    #[error("nothing before the @")]
    NoLocal,
    #[error("nothing after the @")]
    NoDomain,
    #[error("{} in the address", name(*.0))]
    Hidden(char),
    #[error("{} before the @ is not allowed", name(*.0))]
    LocalChar(char),
    #[error("{} before the @ is a full-width letter", name(*.0))]
    FullWidth(char),
    #[error("the quotes before the @ are not closed")]
    Quotes,
    #[error("{0} bytes before the @; at most 64 are allowed")]
    LocalLong(usize),
    #[error("{} in the domain `{domain}`{}", name(*.found), hint(*.found))]
    DomainChar { domain: String, found: char },
    #[error("no dot in the domain `{0}`")]
    NoDot(String),
    #[error("two dots in a row, or a dot at an end, in the domain `{0}`")]
    Dots(String),
    #[error("`{0}` is an IP address, not a domain")]
    IpAddress(String),
    #[error("`{0}` is no valid domain")]
    Domain(String),
    #[error("a part of the domain has {0} bytes; at most 63 are allowed")]
    LabelLong(usize),
    #[error("{0} bytes in the domain; at most 255 are allowed")]
    DomainLong(usize),
    #[error("{0} bytes in the address; at most 254 are allowed")]
    Long(usize),
}

/// Names a character so that it can be found in the source.
fn name(c: char) -> String {
    match c {
        '\n' | '\r' => "a line break".to_owned(),
        '\t' => "a tab".to_owned(),
        ' ' => "a blank".to_owned(),
        '\0' => "a NUL".to_owned(),
        ',' => "a comma".to_owned(),
        c if c.is_whitespace() => format!("a wide blank (U+{:04X})", u32::from(c)),
        c if super::super::text::is_hidden(c) => {
            format!("an invisible character (U+{:04X})", u32::from(c))
        }
        c => format!("`{c}`"),
    }
}

const fn hint(c: char) -> &'static str {
    match c {
        ',' => "; is a dot meant?",
        _ => "",
    }
}
