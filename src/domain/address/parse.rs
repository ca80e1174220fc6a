//! Reads an address: first cleaning it, then taking it apart.

use std::borrow::Cow;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use super::{Address, BadAddress, Local, Removed, is_atext, is_dot_atom};
use crate::domain::text::is_hidden;

/// Takes away BOM and zero-width characters anywhere and blanks around the rest.
pub(super) fn clean(text: &str) -> (Cow<'_, str>, Vec<Removed>) {
    let mut removed = Vec::new();
    let mut clean = Cow::Borrowed(text);
    if text.contains(is_zero_width) {
        if text.contains('\u{feff}') {
            removed.push(Removed::Bom);
        }
        if text.contains(|c| c != '\u{feff}' && is_zero_width(c)) {
            removed.push(Removed::ZeroWidth);
        }
        clean = Cow::Owned(text.replace(is_zero_width, ""));
    }
    let trimmed = clean.trim_matches(is_blank);
    if trimmed.len() < clean.len() {
        removed.push(Removed::Blanks);
        clean = Cow::Owned(trimmed.to_owned());
    }
    (clean, removed)
}

/// Characters of no width that come along when people copy; none can be part of an address.
const fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{180e}')
}

/// Blanks of any width, but no line breaks: those are never taken for blanks.
fn is_blank(c: char) -> bool {
    c == '\t' || (c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}'))
}

/// Reads a cleaned address.
pub(super) fn read(text: &str) -> Result<Address, BadAddress> {
    if text.is_empty() {
        return Err(BadAddress::Empty);
    }
    if let Some(hidden) = text.chars().find(|&c| is_hidden(c)) {
        return Err(BadAddress::Hidden(hidden));
    }
    let (local, quoted, domain) = match text.strip_prefix('"') {
        Some(rest) => split_quoted(rest)?,
        None => split_bare(text)?,
    };
    if local.is_empty() {
        return Err(BadAddress::NoLocal);
    }
    let ascii = read_domain(domain)?;
    let wire_quotes = !is_dot_atom(&local);
    let length = Local { text: &local, quoted: wire_quotes }.to_string().len();
    if length > 64 {
        return Err(BadAddress::LocalLong(length));
    }
    let length = length + 1 + ascii.len();
    if length > 254 {
        return Err(BadAddress::Long(length));
    }
    Ok(Address { local, quoted, written_domain: domain.to_owned(), domain: ascii })
}

fn split_bare(text: &str) -> Result<(String, bool, &str), BadAddress> {
    if text.contains(['<', '>']) {
        return Err(BadAddress::WithName);
    }
    let Some((local, domain)) = text.split_once('@') else {
        return Err(if text.contains('＠') { BadAddress::FullWidthAt } else { BadAddress::NoAt });
    };
    if domain.contains('@') {
        return Err(BadAddress::ManyAt);
    }
    for c in local.chars() {
        if matches!(c, '！'..='～') {
            return Err(BadAddress::FullWidth(c));
        }
        if c != '.' && (!is_atext(c) || c.is_whitespace()) {
            return Err(BadAddress::LocalChar(c));
        }
    }
    Ok((local.to_owned(), false, domain))
}

/// Splits what follows an opening quote.
fn split_quoted(rest: &str) -> Result<(String, bool, &str), BadAddress> {
    let mut local = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next().ok_or(BadAddress::Quotes)? {
            '"' => break,
            '\\' => local.push(chars.next().ok_or(BadAddress::Quotes)?),
            c => local.push(c),
        }
    }
    match chars.as_str().strip_prefix('@') {
        Some(domain) if domain.contains('@') => Err(BadAddress::ManyAt),
        Some(domain) => Ok((local, true, domain)),
        None if chars.as_str().contains('<') => Err(BadAddress::WithName),
        None if chars.as_str().is_empty() => Err(BadAddress::NoAt),
        None => Err(BadAddress::Quotes),
    }
}

/// Checks a domain and returns it in A-labels.
fn read_domain(domain: &str) -> Result<String, BadAddress> {
    if domain.is_empty() {
        return Err(BadAddress::NoDomain);
    }
    if domain.starts_with('[') {
        return Err(BadAddress::IpAddress(domain.to_owned()));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let odd = |c: char| if c.is_ascii() { !plain(c) } else { c.is_whitespace() };
    if let Some(found) = domain.chars().find(|&c| odd(c)) {
        return Err(BadAddress::DomainChar { domain: domain.to_owned(), found });
    }
    let ascii = Uts46::new()
        .to_ascii(
            domain.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::CheckFirstLast,
            DnsLength::Ignore,
        )
        // The error of idna says nothing.
        .map_err(|_nothing| BadAddress::Domain(domain.to_owned()))?;
    if ascii.split('.').any(str::is_empty) {
        return Err(BadAddress::Dots(domain.to_owned()));
    }
    let Some((_, top)) = ascii.rsplit_once('.') else {
        return Err(BadAddress::NoDot(domain.to_owned()));
    };
    if top.bytes().all(|b| b.is_ascii_digit()) {
        return Err(BadAddress::IpAddress(domain.to_owned()));
    }
    if let Some(label) = ascii.split('.').find(|label| label.len() > 63) {
        return Err(BadAddress::LabelLong(label.len()));
    }
    if ascii.len() > 255 {
        return Err(BadAddress::DomainLong(ascii.len()));
    }
    Ok(ascii.into_owned())
}
