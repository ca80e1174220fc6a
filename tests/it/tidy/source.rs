//! Rust source as text: just enough of it to ask questions.

use std::path::Path;

/// One file of the project.
#[derive(Clone)]
pub(super) struct File {
    /// From the top of the project, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    /// The same text with comments and the insides of literals blanked.
    code: String,
    literals: Vec<(usize, String)>,
}

/// Returns every Rust file under a folder.
pub(super) fn files(folder: &str) -> Vec<File> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut folders = vec![top.join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                let (code, literals) = split(&text);
                let path = path.strip_prefix(top).expect("below the top").to_string_lossy();
                files.push(File { path: path.replace('\\', "/"), text, code, literals });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

impl File {
    /// Returns the room a file of `src` belongs to; none for `lib.rs` and `main.rs`.
    pub(super) fn room(&self) -> Option<&str> {
        let rest = self.path.strip_prefix("src/")?;
        let first = rest.split('/').next()?;
        match first.strip_suffix(".rs").unwrap_or(first) {
            "lib" | "main" => None,
            room => Some(room),
        }
    }

    /// Reports whether the file holds nothing but tests.
    pub(super) fn is_test(&self) -> bool {
        ["tests/it/", "/tests/"].iter().any(|part| self.path.contains(part))
            || self.path.ends_with("/tests.rs")
    }

    /// Returns the lines of code, without comments and without what stands in literals.
    pub(super) fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.code.lines())
    }

    /// Returns every text literal with its line.
    pub(super) fn literals(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        self.literals.iter().cloned()
    }
}

/// Blanks comments and literals, and returns the literals apart.
fn split(text: &str) -> (String, Vec<(usize, String)>) {
    let chars: Vec<char> = text.chars().collect();
    let (mut code, mut literals, mut at, mut line) = (String::new(), Vec::new(), 0, 1);
    while at < chars.len() {
        let end = if starts(&chars, at, "//") {
            find(&chars, at, "\n")
        } else if starts(&chars, at, "/*") {
            find(&chars, at + 2, "*/") + 2
        } else if let Some((open, close)) = raw_string(&chars, at) {
            let end = find(&chars, open, &close);
            literals.push((line, chars[open..end].iter().collect()));
            end + close.chars().count()
        } else if chars[at] == '"' {
            let end = closing_quote(&chars, at + 1);
            literals.push((line, chars[at + 1..end].iter().collect()));
            end + 1
        } else if let Some(end) = char_literal(&chars, at) {
            end
        } else {
            code.push(chars[at]);
            line += usize::from(chars[at] == '\n');
            at += 1;
            continue;
        };
        for &c in &chars[at..end.min(chars.len())] {
            code.push(if c == '\n' { c } else { ' ' });
            line += usize::from(c == '\n');
        }
        at = end;
    }
    (code, literals)
}

fn starts(chars: &[char], at: usize, word: &str) -> bool {
    word.chars().enumerate().all(|(n, c)| chars.get(at + n) == Some(&c))
}

fn find(chars: &[char], from: usize, word: &str) -> usize {
    (from..chars.len()).find(|&at| starts(chars, at, word)).unwrap_or(chars.len())
}

fn closing_quote(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at
}

/// Returns where the inside of `r#"…"#` begins, and what ends it.
fn raw_string(chars: &[char], at: usize) -> Option<(usize, String)> {
    let before = at.checked_sub(1).map(|before| chars[before]);
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if chars[at] != 'r' || (in_word && before != Some('b')) {
        return None;
    }
    let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
    let quote = at + 1 + hashes;
    (chars.get(quote) == Some(&'"')).then(|| (quote + 1, format!("\"{}", "#".repeat(hashes))))
}

/// Returns the end of a char literal; a lifetime is none.
fn char_literal(chars: &[char], at: usize) -> Option<usize> {
    if chars[at] != '\'' {
        return None;
    }
    if chars.get(at + 1) == Some(&'\\') {
        return Some(find(chars, at + 3, "'") + 1);
    }
    (chars.get(at + 2) == Some(&'\'')).then_some(at + 3)
}

/// Reports whether code names `path`, as a whole word.
pub(super) fn names(code: &str, path: &str) -> bool {
    code.match_indices(path).any(|(at, _)| {
        let before = code.get(..at).and_then(|code| code.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    })
}

/// Returns the rooms that a file uses, by `crate::ROOM`, with the line.
pub(super) fn rooms_used(file: &File) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    for (line, text) in file.code_lines() {
        for rest in text.split("crate::").skip(1) {
            let names: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => list.trim_end_matches(['}', ';']).split(',').map(str::trim).collect(),
                None => vec![rest],
            };
            for name in names {
                let room: String =
                    name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                // What a room's macro is called by does not name another room.
                let is_macro = name.strip_prefix(&room).is_some_and(|rest| rest.starts_with('!'));
                if !room.is_empty() && !is_macro {
                    used.push((line, room));
                }
            }
        }
    }
    used
}

/// Names imports at the top of a file that stand in the wrong order, and globs outside of tests.
pub(super) fn misplaced_imports(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    for (line, text) in file.code_lines() {
        let in_tests = text.starts_with(' ') || file.is_test();
        let path = text.trim();
        let usual = in_tests && ["use super::*;", "use proptest::prelude::*;"].contains(&path);
        if path.starts_with("use ") && path.ends_with("::*;") && !usual {
            findings.push(format!("{}:{line}: a glob", file.path));
        }
    }
    let mut highest = 0;
    for (line, text) in file.code_lines().take_while(|(_, text)| is_above_the_items(text)) {
        let Some(path) = text.strip_prefix("use ") else { continue };
        let first: String = path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let group = match first.as_str() {
            "std" | "core" | "alloc" => 0,
            "crate" | "super" | "self" => 2,
            own if declares(file, own) => 2,
            _ => 1,
        };
        if group < highest {
            let order = "std, then outside crates, then our own";
            findings.push(format!("{}:{line}: `{first}` is out of order: {order}", file.path));
        }
        highest = highest.max(group);
    }
    findings
}

/// Reports whether a line can stand among imports: they end where the first item begins.
fn is_above_the_items(line: &str) -> bool {
    let words = ["use ", "mod ", "pub use ", "pub mod ", "pub(", "#", " ", "}", "macro_rules!"];
    line.is_empty() || words.iter().any(|word| line.starts_with(word))
}

/// Reports whether a file declares the module `name`.
pub(super) fn declares(file: &File, name: &str) -> bool {
    file.code_lines().any(|(_, text)| {
        let text = text.trim_start();
        let text = text.strip_prefix("pub").map_or(text, |rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
            None => rest,
        });
        let own = text.trim_start().strip_prefix("mod ");
        own.is_some_and(|rest| rest.trim_end_matches(['{', ';', ' ']) == name)
    })
}

/// Returns the file that must declare a test file, and the module's name.
pub(super) fn parent_of(path: &str) -> Option<(String, String)> {
    let inner = path.strip_prefix("tests/it/")?.strip_suffix(".rs")?;
    match inner.rsplit_once('/') {
        Some((folder, name)) => Some((format!("tests/it/{folder}.rs"), name.to_owned())),
        None if inner == "main" => None,
        None => Some(("tests/it/main.rs".to_owned(), inner.to_owned())),
    }
}

/// Says what is wrong with a literal, if it is SQL.
pub(super) fn wrong_sql(literal: &str) -> Option<&'static str> {
    let begins = ["select ", "insert ", "update ", "delete ", "with ", "create ", "alter "];
    let text = literal.trim_start();
    let lower = text.to_lowercase();
    if !begins.iter().any(|word| lower.starts_with(word)) || !lower.contains(' ') {
        return None;
    }
    let is_sql = [" from ", " into ", " set ", " table ", " index ", "\n"];
    if !is_sql.iter().any(|word| lower.contains(word)) {
        return None;
    }
    if begins.iter().any(|word| text.starts_with(&word.to_uppercase())) {
        return Some("SQL is written in lower case");
    }
    let squeezed = lower.split_whitespace().collect::<Vec<_>>().join(" ");
    if squeezed.contains("select *") || squeezed.contains(".* from") {
        return Some("name the columns instead of *");
    }
    if ["now()", "current_timestamp", "sysdate", "unixepoch("].iter().any(|w| lower.contains(w)) {
        return Some("bind the time instead of asking the database");
    }
    let quoted = literal.split('\'').skip(1).step_by(2);
    if quoted.clone().any(|text| text.contains('?')) {
        return Some("a question mark in a text would be taken for a value");
    }
    None
}

#[test]
fn literals_and_comments_are_told_from_code() {
    let text =
        "let a = \"x // y\"; // select * \nlet b = r#\"in \"it\"\"#; let c = '\"'; f::<'a>();";
    let (code, literals) = split(text);
    let literals: Vec<_> =
        literals.into_iter().map(|(line, text)| format!("{line}:{text}")).collect();
    assert_eq!(literals, ["1:x // y", "2:in \"it\""]);
    assert!(!code.contains("select") && code.contains("f::<'a>()"), "{code}");
}

#[test]
fn wrong_sql_is_recognised() {
    assert!(wrong_sql("select * from delivery").is_some());
    assert!(wrong_sql("SELECT id FROM delivery").is_some());
    assert!(wrong_sql("update worker set at = now() where id = ?").is_some());
    assert!(wrong_sql("select id from delivery where key = 'a?b'").is_some());
    assert!(wrong_sql("select id from delivery where key = ?").is_none());
    assert!(wrong_sql("update the table in words").is_none());
}
