use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::domain::text::is_hidden;

fn address(text: &str) -> Address {
    text.parse().unwrap_or_else(|err| panic!("{text}: {err}"))
}

#[rstest]
#[case::ordinary("taro@example.jp", "taro@example.jp", "taro@example.jp")]
#[case::plus("taro+news@example.jp", "taro+news@example.jp", "taro+news@example.jp")]
#[case::upper_case("Taro@Example.JP", "Taro@example.jp", "taro@example.jp")]
#[case::dot_before_the_at("user.@docomo.ne.jp", "\"user.\"@docomo.ne.jp", "user.@docomo.ne.jp")]
#[case::two_dots("a..b@docomo.ne.jp", "\"a..b\"@docomo.ne.jp", "a..b@docomo.ne.jp")]
#[case::dot_in_front(".a@ezweb.ne.jp", "\".a\"@ezweb.ne.jp", ".a@ezweb.ne.jp")]
#[case::two_dots_in_quotes("\"a..b\"@docomo.ne.jp", "\"a..b\"@docomo.ne.jp", "a..b@docomo.ne.jp")]
#[case::needless_quotes("\"taro\"@example.jp", "taro@example.jp", "taro@example.jp")]
#[case::blank_in_quotes("\"a b\"@example.jp", "\"a b\"@example.jp", "\"a b\"@example.jp")]
#[case::at_in_quotes("\"a@b\"@example.jp", "\"a@b\"@example.jp", "\"a@b\"@example.jp")]
#[case::escaped_quote("\"a\\\"b\"@example.jp", "\"a\\\"b\"@example.jp", "\"a\\\"b\"@example.jp")]
#[case::japanese_domain("taro@日本語.jp", "taro@xn--wgv71a119e.jp", "taro@xn--wgv71a119e.jp")]
#[case::a_labels("taro@XN--wgv71a119e.jp", "taro@xn--wgv71a119e.jp", "taro@xn--wgv71a119e.jp")]
#[case::full_width_domain("taro@ｅｘａｍｐｌｅ。ｊｐ", "taro@example.jp", "taro@example.jp")]
#[case::sharp_s("taro@straße.de", "taro@xn--strae-oqa.de", "taro@xn--strae-oqa.de")]
#[case::double_hyphen("a@r3---sn.example.jp", "a@r3---sn.example.jp", "a@r3---sn.example.jp")]
#[case::apostrophe("o'neil@example.jp", "o'neil@example.jp", "o'neil@example.jp")]
fn an_address_has_a_wire_form_and_a_compare_form(
    #[case] text: &str,
    #[case] wire: &str,
    #[case] compare: &str,
) {
    let address = address(text);
    assert_eq!(address.on_the_wire(), wire);
    assert_eq!(address.compare_form(), compare);
    assert_eq!(address.as_written(), text);
    assert!(!address.needs_smtputf8());
}

#[test]
fn a_local_part_beyond_ascii_is_kept_and_needs_smtputf8() {
    let address = address("たろう@example.jp");
    assert!(address.needs_smtputf8());
    assert_eq!(address.on_the_wire(), "たろう@example.jp");
}

#[test]
fn one_person_in_several_spellings_is_one_person() {
    let spellings = [
        "Taro@Example.test",
        "taro@example.test",
        " taro@example.test ",
        "taro@example.test\u{200b}",
        "taro@ｅｘａｍｐｌｅ.test",
        "\"taro\"@EXAMPLE.TEST",
    ];
    for text in spellings {
        assert_eq!(address(text).compare_form(), "taro@example.test", "{text}");
    }
    assert_ne!(address("taro+a@example.test").compare_form(), "taro@example.test");
}

#[test]
fn composed_and_decomposed_letters_are_one_address() {
    let (composed, decomposed) = (address("é@example.jp"), address("e\u{301}@example.jp"));
    assert_ne!(composed.as_written(), decomposed.as_written());
    assert_eq!(composed.compare_form(), decomposed.compare_form());
}

#[rstest]
#[case::outer_blanks(" taro@example.test ", &[Removed::Blanks])]
#[case::wide_and_hard_blanks("\u{3000}taro@example.test\u{a0}", &[Removed::Blanks])]
#[case::tab("\ttaro@example.test", &[Removed::Blanks])]
#[case::zero_width_at_the_end("taro@example.test\u{200b}", &[Removed::ZeroWidth])]
#[case::zero_width_inside("ta\u{200d}ro@example.test", &[Removed::ZeroWidth])]
#[case::direction_marks("\u{200e}taro@example.test\u{200f}", &[Removed::ZeroWidth])]
#[case::bom("\u{feff}taro@example.test", &[Removed::Bom])]
#[case::all("\u{feff} taro@exam\u{2060}ple.test\u{200b} ",
    &[Removed::Bom, Removed::ZeroWidth, Removed::Blanks])]
#[case::nothing("taro@example.test", &[])]
fn what_is_taken_away_is_said(#[case] text: &str, #[case] removed: &[Removed]) {
    let (address, said) = Address::parse(text).unwrap();
    assert_eq!((address.as_written().as_str(), said.as_slice()), ("taro@example.test", removed));
}

#[rstest]
#[case::empty("", "the address is empty")]
#[case::only_blanks(" \u{3000} ", "the address is empty")]
#[case::no_at("taro.example.jp", "no @ in the address")]
#[case::full_width_at("taro＠example.jp", "the @ is a full-width one")]
#[case::two_addresses("a@example.jp,b@example.jp", "more than one @ in the address")]
#[case::two_ats("a@b@example.jp", "more than one @ in the address")]
#[case::with_a_name(
    "Taro <taro@example.jp>",
    "more than the bare address; leave out the name and the < >"
)]
#[case::with_a_quoted_name(
    "\"Yamada, Taro\" <taro@example.jp>",
    "more than the bare address; leave out the name and the < >"
)]
#[case::nothing_before("@example.jp", "nothing before the @")]
#[case::empty_quotes("\"\"@example.jp", "nothing before the @")]
#[case::nothing_after("taro@", "nothing after the @")]
#[case::blank_before("ta ro@example.jp", "a blank before the @ is not allowed")]
#[case::wide_blank_before(
    "ta\u{3000}ro@example.jp",
    "a wide blank (U+3000) before the @ is not allowed"
)]
#[case::comma_before("ta,ro@example.jp", "a comma before the @ is not allowed")]
#[case::mailto("mailto:taro@example.jp", "`:` before the @ is not allowed")]
#[case::full_width_before("ｔaro@example.jp", "`ｔ` before the @ is a full-width letter")]
#[case::open_quotes("\"taro@example.jp", "the quotes before the @ are not closed")]
#[case::comma_for_a_dot("name@verizon,net", "a comma in the domain `verizon,net`; is a dot meant?")]
#[case::blank_in_the_domain("taro@exa mple.jp", "a blank in the domain `exa mple.jp`")]
#[case::underscore_in_the_domain("taro@exa_mple.jp", "`_` in the domain `exa_mple.jp`")]
#[case::localhost("user@localhost", "no dot in the domain `localhost`")]
#[case::no_dot("user@example", "no dot in the domain `example`")]
#[case::trailing_dot(
    "taro@example.jp.",
    "two dots in a row, or a dot at an end, in the domain `example.jp.`"
)]
#[case::leading_dot(
    "taro@.example.jp",
    "two dots in a row, or a dot at an end, in the domain `.example.jp`"
)]
#[case::two_dots_in_the_domain(
    "taro@example..jp",
    "two dots in a row, or a dot at an end, in the domain `example..jp`"
)]
#[case::literal("taro@[192.0.2.1]", "`[192.0.2.1]` is an IP address, not a domain")]
#[case::ip_address("taro@192.0.2.1", "`192.0.2.1` is an IP address, not a domain")]
#[case::hyphen_in_front("taro@-example.jp", "`-example.jp` is no valid domain")]
#[case::broken_punycode("taro@xn--a.jp", "`xn--a.jp` is no valid domain")]
#[case::line_break("taro@example.jp\r\nBcc: x@example.jp", "a line break in the address")]
#[case::line_break_at_the_end("taro@example.jp\n", "a line break in the address")]
#[case::nul("ta\0ro@example.jp", "a NUL in the address")]
#[case::escape("ta\x1bro@example.jp", "an invisible character (U+001B) in the address")]
#[case::bidi("ta\u{202e}ro@example.jp", "an invisible character (U+202E) in the address")]
fn what_cannot_be_delivered_is_refused_in_an_operators_words(
    #[case] text: &str,
    #[case] why: &str,
) {
    assert_eq!(Address::parse(text).map_err(|err| err.to_string()), Err(why.to_owned()));
}

#[test]
fn the_size_limits_of_rfc_5321_hold_to_the_byte() {
    let local = "a".repeat(64);
    address(&format!("{local}@example.jp"));
    assert_eq!(Address::parse(&format!("{local}a@example.jp")), Err(BadAddress::LocalLong(65)));
    // The quotes are part of what travels.
    let dotted = format!("{}.", "a".repeat(61));
    address(&format!("{dotted}@docomo.ne.jp"));
    assert_eq!(Address::parse(&format!("a{dotted}@docomo.ne.jp")), Err(BadAddress::LocalLong(65)));
    let label = "b".repeat(63);
    let domain = |last: usize| format!("{label}.{label}.{label}.{}", "c".repeat(last));
    address(&format!("a@{}", domain(60)));
    assert_eq!(Address::parse(&format!("a@{}", domain(61))), Err(BadAddress::Long(255)));
    let long = format!("a@{}.{}", domain(63), "d".repeat(2));
    assert_eq!(Address::parse(&long), Err(BadAddress::DomainLong(258)));
    assert_eq!(Address::parse(&format!("a@{label}b.jp")), Err(BadAddress::LabelLong(64)));
}

#[rstest]
#[case::ordinary("taro@example.org", "t***@example.org")]
#[case::one_letter("t@example.org", "t***@example.org")]
#[case::quoted("\"a b\"@example.org", "a***@example.org")]
#[case::japanese("髙橋@example.org", "髙***@example.org")]
#[case::no_address("taro", "t***")]
#[case::empty("", "")]
#[case::nothing_before("@example.org", "@example.org")]
#[case::escape_in_front("\x1b[2Jx@exa\x07mple.org", "\\u{1b}***@exa\\u{7}mple.org")]
fn a_masked_address_shows_one_letter_and_the_domain(#[case] text: &str, #[case] masked: &str) {
    assert_eq!(mask(text), masked);
}

proptest! {
    #[test]
    fn the_compare_form_of_a_compare_form_is_itself(
        text in r#""?[a-zA-Z0-9.+éÉßΣ髙ﬁ\\" @]{0,12}"?@[a-zA-Z0-9é日ß.-]{1,12}\.(jp|com|한국)"#,
    ) {
        if let Ok(address) = text.parse::<Address>() {
            let once = address.compare_form();
            let again: Address = once.parse().unwrap();
            prop_assert_eq!(again.compare_form(), once);
        }
    }

    #[test]
    fn every_form_reads_back_as_the_same_address(
        text in r#""?[a-z.+é\\" @]{0,12}"?@[a-z日.-]{1,9}\.jp"#,
    ) {
        if let Ok(address) = text.parse::<Address>() {
            for form in [address.as_written(), address.on_the_wire()] {
                let again: Address = form.parse().unwrap();
                prop_assert_eq!(again.compare_form(), address.compare_form());
                prop_assert_eq!(again.on_the_wire(), address.on_the_wire());
            }
        }
    }

    #[test]
    fn no_control_and_nothing_invisible_survives(text: String, at in 0_usize..20, hidden: char) {
        let mut tried = format!("taro{text}@example.jp");
        if tried.is_char_boundary(at) {
            tried.insert(at, hidden);
        }
        for text in [tried, text] {
            if let Ok(address) = text.parse::<Address>() {
                for form in [address.as_written(), address.on_the_wire(), address.compare_form()] {
                    prop_assert!(!form.contains(is_hidden), "{form:?}");
                    prop_assert!(form.len() <= 320);
                }
            }
        }
    }

    #[test]
    fn the_wire_form_keeps_to_the_size_limits(text in "\\PC{1,80}@\\PC{1,80}") {
        if let Ok(address) = text.parse::<Address>() {
            let wire = address.on_the_wire();
            prop_assert!(wire.len() <= 254);
            let (local, domain) = wire.rsplit_once('@').unwrap();
            prop_assert!(local.len() <= 64 && domain.len() <= 255 && domain.is_ascii());
        }
    }
}
