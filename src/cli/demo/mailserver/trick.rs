//! Faults that an address orders: `r-550-511.17@example.test` is refused at RCPT.
//!
//! The word stands before the first `.` or `+` of the local part, so that every person can have an
//! address of their own:
//!
//! - `r-CODE`, `d-CODE`, `b-CODE`, `dot-CODE`: this answer to RCPT, to DATA, in the middle of the
//!   body, to the final dot; `m-CODE` in the *sender* is the answer to MAIL. An enhanced code may
//!   follow: `r-550-511` says `550 5.1.1`.
//! - `rcpt-hang`, `rcpt-close`, `data-hang`, `data-close`, `body-hang`, `body-close`.
//! - `dot-hang`, `dot-half-close`, `dot-close-after-accept`, `dot-reset`: taken, but never answered.
//! - `dot-hang-before-accept`, `dot-close-before-accept`: not taken and never answered.
//! - `dot-garbage`, `dot-mixed`, `dot-empty`, `dot-cut`, `dot-huge`, `dot-endless`: taken, answered
//!   with nonsense; `dot-bare` (no text), `dot-euckr`, `dot-drip` (also `reply-drip`): taken, answered oddly but fully.
//! - `greylist`: put off once.

use std::time::Duration;

use super::behaviour::{At, Deed, Says, Then};

/// What an address orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trick {
    Do(At, Deed),
    /// Put off until this sender and recipient are seen again.
    Greylist,
}

/// Reads what the local part of an address orders, if it orders anything.
pub(super) fn ordered_by(address: &str) -> Option<Trick> {
    let local = address.rsplit_once('@').map_or(address, |(local, _)| local);
    let word = local.split(['.', '+']).next()?;
    if word == "greylist" {
        return Some(Trick::Greylist);
    }
    named(word).or_else(|| coded(word)).map(|(at, deed)| Trick::Do(at, deed))
}

fn named(word: &str) -> Option<(At, Deed)> {
    let nonsense = |bytes: &[u8]| (At::Dot, Deed::bytes(bytes).taking());
    Some(match word {
        "rcpt-hang" => (At::Rcpt, Deed::silence(Then::Hang)),
        "rcpt-close" => (At::Rcpt, Deed::silence(Then::Close)),
        "data-hang" => (At::Data, Deed::silence(Then::Hang)),
        "data-close" => (At::Data, Deed::silence(Then::Close)),
        "body-hang" => (At::Body, Deed::silence(Then::Freeze)),
        "body-close" => (At::Body, Deed::silence(Then::Close)),
        "dot-hang" => (At::Dot, Deed::silence(Then::Hang).taking()),
        "dot-half-close" => (At::Dot, Deed::silence(Then::HalfClose).taking()),
        "dot-close-after-accept" => (At::Dot, Deed::silence(Then::Close).taking()),
        "dot-reset" => (At::Dot, Deed::silence(Then::Reset).taking()),
        "dot-hang-before-accept" => (At::Dot, Deed::silence(Then::Hang)),
        "dot-close-before-accept" => (At::Dot, Deed::silence(Then::Close)),
        "dot-garbage" => nonsense(b"850 NONSENSE\r\n"),
        "dot-mixed" => nonsense(b"250-2.0.0 first\r\n251 second\r\n"),
        "dot-empty" => nonsense(b"\r\n"),
        "dot-cut" => (At::Dot, Deed::bytes("250 2.0.0 o").taking().then(Then::Close)),
        "dot-huge" => nonsense(&b"250-and so on and so on and so on\r\n".repeat(30_000)),
        "dot-endless" => {
            (At::Dot, Deed { says: Says::Endless, ..Deed::silence(Then::GoOn).taking() })
        }
        "dot-bare" => (At::Dot, Deed::reply("250")),
        // "Accepted" and "user" in EUC-KR.
        "dot-euckr" => (At::Dot, Deed::reply(&b"250 2.0.0 \xbc\xf6\xb6\xf4 \xbb\xe7\xbf\xeb"[..])),
        "dot-drip" | "reply-drip" => {
            (At::Dot, Deed::reply("250 2.0.0 ok").dripping(Duration::from_millis(2)))
        }
        _ => return None,
    })
}

fn coded(word: &str) -> Option<(At, Deed)> {
    let mut parts = word.split('-');
    let at = match parts.next()? {
        "m" => At::Mail,
        "r" => At::Rcpt,
        "d" => At::Data,
        "b" => At::Body,
        "dot" => At::Dot,
        _ => return None,
    };
    let code = parts.next().filter(|code| code.len() == 3)?.parse::<u16>().ok()?;
    let enhanced = match parts.next() {
        None => None,
        Some(digits) => Some(enhanced(digits)?),
    };
    if parts.next().is_some() {
        return None;
    }
    let text = text(code, enhanced.as_deref());
    let enhanced = enhanced.map_or_else(String::new, |enhanced| format!("{enhanced} "));
    let deed = Deed::reply(format!("{code} {enhanced}{text}"));
    Some((at, if code == 421 { deed.then(Then::Close) } else { deed }))
}

/// Spells `511` as `5.1.1` and `5726` as `5.7.26`.
fn enhanced(digits: &str) -> Option<String> {
    let (class, rest) = digits.split_at_checked(1)?;
    let (subject, detail) = rest.split_at_checked(1)?;
    let all_digits = digits.bytes().all(|b| b.is_ascii_digit());
    (all_digits && !detail.is_empty()).then(|| format!("{class}.{subject}.{detail}"))
}

fn text(code: u16, enhanced: Option<&str>) -> &'static str {
    match (code, enhanced.and_then(|enhanced| enhanced.get(2..))) {
        (_, Some("1.1")) => "no such user here",
        (_, Some("1.7" | "1.8")) => "sender address rejected",
        (_, Some("2.1")) => "mailbox disabled",
        (_, Some("2.2")) => "mailbox full",
        (_, Some("5.3")) => "too many recipients",
        (_, Some("7.1")) => "rejected by policy",
        (421, _) => "come back later",
        (200..400, _) => "ok",
        (400..500, _) => "not now",
        _ => "no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(address: &str) -> (At, Vec<u8>) {
        match ordered_by(address) {
            Some(Trick::Do(at, Deed { says: Says::Line(line), .. })) => (at, line),
            other => panic!("{address}: {other:?}"),
        }
    }

    #[test]
    fn a_code_in_the_address_is_the_answer() {
        assert_eq!(says("r-550-511@a.test"), (At::Rcpt, b"550 5.1.1 no such user here".to_vec()));
        assert_eq!(says("dot-554-5726.9@a.test"), (At::Dot, b"554 5.7.26 no".to_vec()));
        assert_eq!(says("d-452+x@a.test"), (At::Data, b"452 not now".to_vec()));
        assert_eq!(
            says("m-553-517@a.test"),
            (At::Mail, b"553 5.1.7 sender address rejected".to_vec())
        );
    }

    #[test]
    fn an_ordinary_address_orders_nothing() {
        for address in
            ["taro@a.test", "r-@a.test", "r-abc@a.test", "dot@a.test", "r-550-x@a.test", ""]
        {
            assert_eq!(ordered_by(address), None, "{address}");
        }
    }

    #[test]
    fn what_is_taken_is_said_in_the_word() {
        let takes = |word: &str| match ordered_by(word) {
            Some(Trick::Do(_, deed)) => deed.takes == super::super::Takes::Message,
            _ => panic!("{word}"),
        };
        assert!(takes("dot-hang") && takes("dot-close-after-accept") && takes("dot-bare"));
        assert!(!takes("dot-hang-before-accept") && !takes("dot-close-before-accept"));
        assert!(!takes("dot-554"));
    }
}
