//! Which column is the address, the key and the name.

pub(super) mod headings;

use std::collections::BTreeSet;

use jiff::tz::TimeZone;

use self::headings::{ADDRESS, KEY, NAME, plain};
use super::error::IntakeError;
use super::finding::{Finding, Why};
use super::past::{PastMapping, known};
use super::source::{Options, Wanted};
use crate::domain::address::Address;

/// The columns that a row is made from, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// `None` only in a list of keys.
    pub address: Option<String>,
    /// `None`: the address in compare form is the key, which is said aloud.
    pub key: Option<String>,
    pub name: Option<String>,
    /// Further names given by `--map`: placeholder and column.
    pub others: Vec<(String, String)>,
    /// The source says what became of each mail in an older system.
    pub past: Option<PastMapping>,
}

/// What is known about the columns before they are mapped.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    pub(super) source: &'a str,
    /// The line of the headings.
    pub(super) line: u64,
    pub(super) names: &'a [String],
    pub(super) samples: &'a [Vec<String>],
    /// The author of a query names its columns `key`, `address` and `name` on purpose.
    pub(super) named_on_purpose: bool,
}

impl Columns<'_> {
    /// Maps the columns, by `--map` where it says so, else by their headings and contents.
    pub(super) fn map(&self, options: &Options) -> Result<Mapping, IntakeError> {
        let mut mapping = Mapping::default();
        for (field, column) in &options.map {
            let column = Some(self.find(column)?);
            match &*plain(field) {
                "address" | "email" | "mail" => mapping.address = column,
                "key" | "id" => mapping.key = column,
                "name" => mapping.name = column,
                _ => mapping.others.extend(column.map(|column| (field.clone(), column))),
            }
        }
        if options.wanted == Wanted::People {
            mapping.past = self.past(options, &mapping.others)?;
        }
        if mapping.address.is_none() {
            mapping.address = self.address(mapping.key.as_deref())?;
        }
        if mapping.key.is_none() {
            mapping.key = self.key(mapping.address.as_deref(), options.wanted)?;
        }
        let needs_address = options.wanted == Wanted::People && mapping.past.is_none();
        if mapping.address.is_none() && (needs_address || mapping.key.is_none()) {
            return Err(IntakeError::NoAddressColumn {
                name: self.source.to_owned(),
                columns: self.names.to_vec(),
            });
        }
        if mapping.name.is_none() {
            let taken = [mapping.address.as_deref(), mapping.key.as_deref()];
            mapping.name = self
                .headed(NAME)
                .find(|column| !taken.contains(&Some(column)) && !self.is_mostly_addresses(column))
                .map(str::to_owned);
        }
        Ok(mapping)
    }

    /// Finds the column that `--map` names.
    fn find(&self, column: &str) -> Result<String, IntakeError> {
        if let Some(found) = self.names.iter().find(|name| *name == column) {
            return Ok(found.clone());
        }
        let same: Vec<&String> =
            self.names.iter().filter(|name| plain(name) == plain(column)).collect();
        if let [only] = same.as_slice() {
            return Ok((*only).clone());
        }
        let likeness =
            |name: &str| strsim::normalized_damerau_levenshtein(&plain(name), &plain(column));
        let nearest = self
            .names
            .iter()
            .filter(|name| likeness(name) >= 0.4)
            .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        Err(IntakeError::NoSuchColumn {
            name: self.source.to_owned(),
            column: column.to_owned(),
            nearest: nearest.cloned(),
        })
    }

    /// Finds the columns of an older system's record.
    ///
    /// A column that is only called `state` may say where somebody lives: it counts if its words
    /// are states, if their meaning was given, or if columns beside it speak of attempts.
    fn past(
        &self,
        options: &Options,
        mapped: &[(String, String)],
    ) -> Result<Option<PastMapping>, IntakeError> {
        let by_map = |name: &str| {
            let named = mapped.iter().find(|(field, _)| plain(field) == name);
            named.map(|(_, column)| column.clone())
        };
        let by_name = |name: &str| self.names().find(|own| plain(own) == name).map(str::to_owned);
        let column = |name| by_map(name).or_else(|| by_name(name));
        let (attempts, settled_at) = (column("attempts"), column("settledat"));
        let words = &options.map_state;
        let state = match (by_map("state"), by_name("state")) {
            (Some(mapped), _) => mapped,
            (None, None) if words.is_empty() => return Ok(None),
            (None, None) => self.find("state")?,
            (None, Some(named)) => {
                let speaks = attempts.is_some() || settled_at.is_some() || !words.is_empty();
                let is_known = |value: &str| known(words, value).is_some();
                if !speaks && !self.values(&named).any(is_known) {
                    return Ok(None);
                }
                named
            }
        };
        let zone = options.zone.clone().unwrap_or(TimeZone::UTC);
        Ok(Some(PastMapping { state, attempts, settled_at, words: words.clone(), zone }))
    }

    fn address(&self, key: Option<&str>) -> Result<Option<String>, IntakeError> {
        if self.named_on_purpose && self.names.iter().any(|name| name == "address") {
            return Ok(Some("address".to_owned()));
        }
        let holding: Vec<&str> = self
            .names()
            .filter(|name| Some(*name) != key && self.is_mostly_addresses(name))
            .collect();
        let empty = |name: &str| self.values(name).all(str::is_empty);
        // A heading counts only if what stands under it does not speak against it.
        let headed = self.headed(ADDRESS).find(|name| holding.contains(name) || empty(name));
        if let Some(name) = headed {
            self.only_one(name, "address")?;
            return Ok(Some(name.to_owned()));
        }
        let mail = |name: &&str| {
            ["mail", "メール", "メアド", "메일"].iter().any(|word| plain(name).contains(word))
        };
        let by_word: Vec<&str> = holding.iter().copied().filter(mail).collect();
        match (by_word.as_slice(), holding.as_slice()) {
            ([only], _) | ([], [only]) => Ok(Some((*only).to_owned())),
            ([], []) => Ok(self
                .headed(ADDRESS)
                .next()
                .filter(|_| self.samples.is_empty())
                .map(str::to_owned)),
            _ => Err(self.ambiguous("address", &holding)),
        }
    }

    fn key(&self, address: Option<&str>, wanted: Wanted) -> Result<Option<String>, IntakeError> {
        if self.named_on_purpose && self.names.iter().any(|name| name == "key") {
            return Ok(Some("key".to_owned()));
        }
        if let Some(name) = self.headed(KEY).find(|name| Some(*name) != address) {
            self.only_one(name, "key")?;
            return Ok(Some(name.to_owned()));
        }
        let bare_list = wanted == Wanted::List && address.is_none();
        Ok(self.names.first().filter(|_| bare_list && self.names.len() == 1).cloned())
    }

    /// Refuses a guess between two columns of one heading.
    fn only_one(&self, name: &str, field: &'static str) -> Result<(), IntakeError> {
        let same: Vec<&str> = self
            .names()
            .filter(|other| *other == name || without_number(other) == Some(name))
            .collect();
        if same.len() > 1 { Err(self.ambiguous(field, &same)) } else { Ok(()) }
    }

    fn ambiguous(&self, field: &'static str, columns: &[&str]) -> IntakeError {
        IntakeError::Ambiguous {
            name: self.source.to_owned(),
            line: self.line,
            field,
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the columns with one of these headings, the surest heading first.
    fn headed(&self, headings: &'static [&str]) -> impl Iterator<Item = &str> {
        headings.iter().flat_map(|heading| self.names().filter(move |name| plain(name) == *heading))
    }

    fn values(&self, column: &str) -> impl Iterator<Item = &str> {
        let at = self.names.iter().position(|name| name == column);
        self.samples.iter().filter_map(move |row| row.get(at?)).map(|value| value.trim())
    }

    fn is_mostly_addresses(&self, column: &str) -> bool {
        let (mut all, mut addresses) = (0_usize, 0_usize);
        for value in self.values(column).filter(|value| !value.is_empty()) {
            all += 1;
            addresses += usize::from(looks_like_address(value));
        }
        addresses > 0 && 2 * addresses > all
    }
}

/// Reports whether a value can only be an address, also one with a mistake in it.
pub(super) fn looks_like_address(value: &str) -> bool {
    Address::parse(value).is_ok()
        || value.trim().split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty()
                && domain.contains(['.', ','])
                && !value.trim().contains(char::is_whitespace)
        })
}

/// Gives every column a name of its own and says where it had to.
pub(super) fn own_names(line: u64, headings: Vec<String>) -> (Vec<String>, Vec<Finding>) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let (mut names, mut notes) = (Vec::with_capacity(headings.len()), Vec::new());
    for (at, heading) in headings.into_iter().enumerate() {
        let is_mark = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}');
        let heading = heading.trim_matches(is_mark);
        let wanted = if heading.is_empty() { (at + 1).to_string() } else { heading.to_owned() };
        let mut name = wanted.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{wanted} ({number})");
            number += 1;
        }
        if name != wanted {
            let why = Why::ColumnTwice(name.clone());
            notes.push(Finding { line, column: wanted.clone(), why, value: wanted });
        }
        names.push(name);
    }
    (names, notes)
}

/// Takes the number away that `own_names` gave.
fn without_number(name: &str) -> Option<&str> {
    name.strip_suffix(')')?
        .rsplit_once(" (")
        .filter(|(_, number)| number.parse::<u32>().is_ok())
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::state::State;

    fn map(table: &[&str], options: &Options) -> Result<Mapping, IntakeError> {
        let mut rows =
            table.iter().map(|row| row.split(',').map(str::to_owned).collect::<Vec<_>>());
        let (names, _) = own_names(1, rows.next().unwrap());
        let samples: Vec<Vec<String>> = rows.collect();
        Columns { source: "f", line: 1, names: &names, samples: &samples, named_on_purpose: false }
            .map(options)
    }

    fn guessed(table: &[&str]) -> (Option<String>, Option<String>, Option<String>) {
        let mapping = map(table, &Options::default()).unwrap();
        (mapping.address, mapping.key, mapping.name)
    }

    fn some(
        address: &str,
        key: &str,
        name: &str,
    ) -> (Option<String>, Option<String>, Option<String>) {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        (some(address), some(key), some(name))
    }

    #[rstest]
    #[case::english("member_no,Name,E-mail", some("E-mail", "member_no", "Name"))]
    #[case::with_blanks("ID,Full name,Email Address", some("Email Address", "ID", "Full name"))]
    #[case::japanese("会員番号,氏名,メールアドレス", some("メールアドレス", "会員番号", "氏名"))]
    #[case::half_width("会員ＮＯ,お名前,ﾒｰﾙｱﾄﾞﾚｽ", some("ﾒｰﾙｱﾄﾞﾚｽ", "会員ＮＯ", "お名前"))]
    #[case::korean("회원번호,이름,이메일 주소", some("이메일 주소", "회원번호", "이름"))]
    #[case::orders("注文番号,顧客名,メール", some("メール", "注文番号", "顧客名"))]
    #[case::unknown_headings("x,y,z", some("z", "", ""))]
    #[case::by_word("x,y,連絡用メール1", some("連絡用メール1", "", ""))]
    fn columns_are_guessed_by_heading_and_contents(
        #[case] heading: &str,
        #[case] expected: (Option<String>, Option<String>, Option<String>),
    ) {
        assert_eq!(guessed(&[heading, "1,山田,a@example.jp", "2,鈴木,b@example.jp"]), expected);
    }

    #[test]
    fn a_postal_address_is_no_mail_address() {
        assert_eq!(
            guessed(&["no,address,contact", "1,Tokyo,a@example.jp"]),
            some("contact", "no", "")
        );
    }

    #[test]
    fn a_member_number_is_surer_than_a_line_number() {
        assert_eq!(
            guessed(&["No.,会員番号,mail", "1,77,a@example.jp"]),
            some("mail", "会員番号", "")
        );
    }

    #[test]
    fn two_columns_of_addresses_are_asked_about() {
        for heading in ["mail (pc),mail (mobile),x", "a,b,c", "email,email,x"] {
            let err = map(&[heading, "a@x.jp,b@x.jp,1"], &Options::default()).unwrap_err();
            assert!(
                matches!(err, IntakeError::Ambiguous { field: "address", .. }),
                "{heading}: {err}"
            );
        }
    }

    #[test]
    fn map_overrides_every_guess_and_names_further_fields() {
        let options = Options {
            map: [("address", "b"), ("key", "a"), ("total", "合計")]
                .map(|(field, column)| (field.to_owned(), column.to_owned()))
                .into(),
            ..Options::default()
        };
        let mapping = map(&["a,b,id,合計", "a@x.jp,b@x.jp,1,100"], &options).unwrap();
        assert_eq!((mapping.address.as_deref(), mapping.key.as_deref()), (Some("b"), Some("a")));
        assert_eq!(mapping.others, [("total".to_owned(), "合計".to_owned())]);
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_the_nearest() {
        let options =
            Options { map: vec![("key".into(), "会員番".into())], ..Options::default() };
        let err = map(&["会員番号,mail", "1,a@x.jp"], &options).unwrap_err();
        assert_eq!(err.to_string(), "f has no column `会員番`; did you mean `会員番号`?");
    }

    #[test]
    fn a_column_called_state_is_a_record_only_if_it_speaks_like_one() {
        let past = |table: &[&str], options: &Options| {
            map(table, options).unwrap().past.map(|past| (past.state, past.attempts))
        };
        let none = Options::default();
        let lives = ["id,email,state", "1,a@x.jp,CA"];
        let record = Some(("state".to_owned(), None));
        assert_eq!(past(&lives, &none), None);
        assert_eq!(past(&["id,email,state", "1,a@x.jp,sent"], &none), record);
        let given =
            Options { map_state: vec![("CA".to_owned(), State::Sent)], ..Options::default() };
        assert_eq!(past(&lives, &given), record);
        let tried = ["id,email,state,attempts", "1,a@x.jp,done,1"];
        assert_eq!(past(&tried, &none), Some(("state".into(), Some("attempts".into()))));
        let named = Options { map: vec![("state".into(), "result".into())], ..Options::default() };
        // A record needs no addresses: what was sent is known by its key.
        assert_eq!(past(&["id,result", "1,done"], &named), Some(("result".into(), None)));
        assert!(map(&["id,email", "1,a@x.jp"], &given).is_err());
    }

    #[test]
    fn a_file_without_addresses_names_its_columns() {
        let err = map(&["id,name", "1,山田"], &Options::default()).unwrap_err();
        assert_eq!(
            err.to_string(),
            "f has no column with mail addresses; its columns are id, name"
        );
    }

    #[test]
    fn a_bare_list_of_keys_needs_no_heading() {
        let options = Options { wanted: Wanted::List, ..Options::default() };
        assert_eq!(map(&["1", "100234"], &options).unwrap().key.as_deref(), Some("1"));
    }

    #[test]
    fn a_heading_that_occurs_twice_gets_a_name_of_its_own() {
        let headings = ["a", "b", "a", "", "a"].map(str::to_owned).into();
        let (names, notes) = own_names(1, headings);
        assert_eq!(names, ["a", "b", "a (2)", "4", "a (3)"]);
        assert_eq!(notes.len(), 2);
        assert_eq!(notes[0].why.to_string(), "the column occurs twice; this one is called `a (2)`");
    }
}
