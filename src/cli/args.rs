//! What commands share: global flags, SELECT, sources, and how single values are read.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::config::Language;
use crate::domain::name::BatchName;
use crate::domain::policy::{OnUnknown, Policy};
use crate::domain::span::Span;
use crate::domain::state::{Cause, How, State};

const OPERATOR_HELP: &str =
    "Who does this, for the journal (default: $ITTSU_OPERATOR, $SUDO_USER, $USER)";

/// Flags that every command takes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Configuration file (else ./ittsu.toml, the user's config.toml, /etc/ittsu/config.toml)
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Ledger: sqlite:FILE, postgres://… or mysql://…
    #[arg(long, global = true, value_name = "URL")]
    pub ledger: Option<String>,

    #[arg(long, global = true, value_name = "NAME", help = OPERATOR_HELP)]
    pub operator: Option<String>,

    /// Refuse every command that would change something
    #[arg(long, global = true)]
    pub read_only: bool,

    /// Language of the console
    #[arg(long, global = true, value_name = "LANG", env = "ITTSU_LANG",
          value_parser = language_words())]
    pub lang: Option<Language>,

    /// Say nothing but data, warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Say more; twice for every step
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: ColorChoice,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    Always,
    Never,
}

/// Which rows: flags are joined by *and*, several `--key` by *or*.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Which rows (joined by and; --key among themselves by or)")]
pub struct Select {
    /// The row with this key; may be given several times
    #[arg(long = "key", value_name = "K")]
    pub keys: Vec<String>,

    /// The rows whose keys stand in this file, one a line (`-`: standard input)
    #[arg(long = "keys", value_name = "FILE")]
    pub keys_file: Option<PathBuf>,

    /// Rows in this state
    #[arg(long, value_name = "S", value_parser = state_words())]
    pub state: Option<State>,

    /// Rows that are sent or failed for this reason
    #[arg(long, value_name = "H", value_parser = how_words())]
    pub how: Option<How>,

    /// Rows whose last reply had this code
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u16).range(100..600))]
    pub code: Option<u16>,

    /// Rows with an address in this domain
    #[arg(long, value_name = "D")]
    pub domain: Option<String>,

    /// Rows that have not moved for this long, as in 10m, 2h, 3d
    #[arg(long, value_name = "T")]
    pub older_than: Option<Span>,

    /// Rows last held by this worker
    #[arg(long, value_name = "W")]
    pub worker: Option<i64>,

    /// Rows of which nobody knows whether they went out
    #[arg(long)]
    pub unknown: bool,
}

/// The flags of [`Select`], for commands that need at least one of them.
pub const SELECT_FLAGS: [&str; 9] =
    ["keys", "keys_file", "state", "how", "code", "domain", "older_than", "worker", "unknown"];

/// Where people come from and how their lines are read.
#[derive(Clone, Debug, Args)]
pub struct SourceArgs {
    /// FILE.csv|.tsv|.xlsx|.jsonl, `-`, query:NAME, or batch:NAME[?state=S]
    #[arg(long, value_name = "SOURCE")]
    pub from: String,

    /// Leave out the people of this source (by key); may be given several times
    #[arg(long, value_name = "SOURCE")]
    pub except: Vec<String>,

    /// The batch's own message, instead of the kind's
    #[arg(long, value_name = "FILE")]
    pub template: Option<PathBuf>,

    /// Title for people, in any language
    #[arg(long, value_name = "T")]
    pub title: Option<String>,

    /// Take a field from a column: key=会員番号, email=連絡先
    #[arg(long, value_name = "FIELD=COLUMN", value_parser = pair)]
    pub map: Vec<(String, String)>,

    /// Character set of the source, instead of the detected one
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,

    /// What stands between columns, instead of the detected one (`tab` for a tabulator)
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// Sheet of an .xlsx file (default: the first)
    #[arg(long, value_name = "S")]
    pub sheet: Option<String>,

    /// A value of the query's own parameter :NAME
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub param: Vec<(String, String)>,
}

/// Reads a number of rows; separators of thousands are allowed.
pub fn count(text: &str) -> Result<u64, String> {
    let plain: String = text.chars().filter(|c| !matches!(c, ',' | '_')).map(half_width).collect();
    plain.parse().map_err(|_err| "a count is a whole number, as in 5012".to_owned())
}

const fn half_width(c: char) -> char {
    match c {
        '\u{ff10}'..='\u{ff19}' => match char::from_u32(c as u32 - 0xff10 + 0x30) {
            Some(digit) => digit,
            None => c,
        },
        c => c,
    }
}

/// Reads `name=value`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as NAME=VALUE".to_owned()),
    }
}

/// Reads `old=new`, where `new` is a state.
pub fn old_state(text: &str) -> Result<(String, State), String> {
    let (old, new) = pair(text)?;
    match State::from_word(&new) {
        Some(state) => Ok((old.trim().to_owned(), state)),
        None => Err(format!("`{new}` is none of ready, sending, sent, failed")),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" | "\t" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii_punctuation() || *byte == b' ' => Ok(*byte),
            _ => Err("a delimiter is one ASCII sign, or the word tab".to_owned()),
        },
    }
}

/// Reads a policy: one word, or `no_answer=resend,crash=hold`.
pub fn on_unknown(text: &str) -> Result<OnUnknown, String> {
    let policy = |word: &str| {
        Policy::from_word(word)
            .ok_or_else(|| format!("`{word}` is none of assume_sent, resend, hold"))
    };
    if !text.contains('=') {
        return Ok(OnUnknown::one_word(policy(text)?));
    }
    let mut all = OnUnknown::one_word(Policy::Hold);
    for part in text.split(',') {
        let (cause, word) = pair(part)?;
        match Cause::from_word(&cause) {
            Some(Cause::NoAnswer) => all.no_answer = policy(&word)?,
            Some(Cause::Crash) => all.crash = policy(&word)?,
            Some(Cause::ServerError) => all.server_error = policy(&word)?,
            None => return Err(format!("`{cause}` is none of no_answer, crash, server_error")),
        }
    }
    Ok(all)
}

/// Reads the name of a batch.
pub fn batch(text: &str) -> Result<BatchName, String> {
    text.parse().map_err(|err: crate::domain::name::BadName| err.to_string())
}

/// Makes a parser of the words of a domain enum; they show up in help and completions.
macro_rules! words_of {
    ($type:ty) => {
        PossibleValuesParser::new(<$type>::ALL.iter().map(|word| word.as_str()))
            .map(|word| <$type>::from_word(&word).expect("a possible value"))
    };
}
pub(super) use words_of;

fn state_words() -> impl TypedValueParser<Value = State> {
    words_of!(State)
}

fn language_words() -> impl TypedValueParser<Value = Language> {
    words_of!(Language)
}

fn how_words() -> impl TypedValueParser<Value = How> {
    words_of!(How)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_may_be_written_as_people_write_it() {
        assert_eq!(count("5,012"), Ok(5012));
        assert_eq!(count("５０１２"), Ok(5012));
        assert!(count("-1").is_err() && count("all").is_err());
    }

    #[test]
    fn a_policy_is_one_word_or_names_its_causes() {
        assert_eq!(on_unknown("resend"), Ok(OnUnknown::one_word(Policy::Resend)));
        let mixed = on_unknown("no_answer=assume_sent,crash=resend").unwrap();
        assert_eq!(mixed.of(Cause::NoAnswer), Policy::AssumeSent);
        assert_eq!(mixed.of(Cause::Crash), Policy::Resend);
        assert_eq!(mixed.of(Cause::ServerError), Policy::Hold);
        assert!(on_unknown("maybe").is_err() && on_unknown("crush=hold").is_err());
    }
}
