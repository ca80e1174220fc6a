//! What the compiler cannot hold: who may use whom, and how the code should read.

mod source;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use source::{File, files, rooms_used};

/// The arrows between the rooms: each may use what stands behind it.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("db", &["domain"]),
    ("ledger", &["db", "domain"]),
    ("transport", &["domain"]),
    ("compose", &["domain"]),
    ("intake", &["db", "domain"]),
    ("dispatch", &["compose", "domain", "ledger", "transport"]),
    ("report", &["domain", "ledger"]),
    ("ops", &["compose", "db", "dispatch", "domain", "intake", "ledger", "report", "transport"]),
    ("cli", &["console", "domain", "ops", "report"]),
    ("console", &["domain", "ops", "report"]),
    ("clock", &["domain"]),
    ("config", &["domain"]),
    ("shutdown", &[]),
];

/// Rooms that are passed in as values and may be used from anywhere but `domain`.
const LEAVES: &[&str] = &["clock", "config", "shutdown"];

/// The only rooms that may name these libraries.
const OWNERS: &[(&str, &str)] = &[
    ("sqlx", "db"),
    ("clap", "cli"),
    ("toml", "config"),
    ("ratatui", "console"),
    ("crossterm", "console"),
];

const LONGEST: usize = 450;

/// Fails with every finding at once.
fn none(findings: impl IntoIterator<Item = String>) {
    let findings: Vec<String> = findings.into_iter().collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// Returns every Rust file of the project, read once.
fn everything() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| ["src", "tests", "benches"].into_iter().flat_map(files).collect())
}

fn below(folder: &'static str) -> impl Iterator<Item = &'static File> {
    everything().iter().filter(move |file| file.path.starts_with(folder))
}

#[test]
fn arrows_between_rooms_point_down() {
    let mut findings = Vec::new();
    for file in below("src/").filter(|file| !file.is_test()) {
        let Some(room) = file.room() else { continue };
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
            findings.push(format!("{}: `{room}` is no room of the design", file.path));
            continue;
        };
        for (line, used) in rooms_used(file) {
            let leaf = room != "domain" && LEAVES.contains(&used.as_str());
            if used != room && !leaf && !allowed.contains(&used.as_str()) {
                findings.push(format!("{}:{line}: `{room}` may not use `{used}`", file.path));
            }
        }
    }
    none(findings);
}

#[test]
fn a_library_of_the_outer_world_has_one_owner() {
    let mut findings = Vec::new();
    for file in below("src/") {
        let room = file.room().unwrap_or_default();
        for (library, owner) in OWNERS {
            let named = format!("{library}::");
            let foreign = room != *owner && file.path != "src/cli.rs";
            for (line, text) in file.code_lines() {
                if foreign && source::names(text, &named) {
                    findings.push(format!("{}:{line}: only `{owner}` uses {library}", file.path));
                }
            }
        }
    }
    none(findings);
}

#[test]
fn domain_knows_no_clock_no_network_and_no_chance() {
    let mut findings = Vec::new();
    for file in below("src/domain") {
        for (line, text) in file.code_lines() {
            for name in
                ["tokio::", "std::net::TcpStream", "std::fs::", "Instant::now", "fastrand::"]
            {
                if source::names(text, name) {
                    findings.push(format!("{}:{line}: {name}", file.path));
                }
            }
        }
    }
    none(findings);
}

#[test]
fn imports_stand_in_order_and_without_globs() {
    none(everything().iter().flat_map(source::misplaced_imports));
}

#[test]
fn no_file_grew_into_a_hall() {
    none(everything().iter().filter(|file| file.text.lines().count() > LONGEST).map(|file| {
        format!("{}: {} lines, at most {LONGEST}", file.path, file.text.lines().count())
    }));
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = |file: &&File| {
        let first = file.text.lines().next().unwrap_or_default();
        let says = first.starts_with("//! ") && !first.contains("(door of the room)");
        // A module `tests` says it by its name.
        !says && !file.path.ends_with("/tests.rs")
    };
    none(everything().iter().filter(silent).map(|file| format!("{}: no //! line", file.path)));
}

#[test]
fn nothing_is_left_undone_or_silenced() {
    let mut findings = Vec::new();
    for file in everything() {
        // This file names what it looks for.
        if file.path.starts_with("tests/it/tidy") {
            continue;
        }
        for (line, text) in file.code_lines() {
            for word in ["todo!(", "unimplemented!(", "dbg!(", "#[allow(", "#![allow(", "#[ignore"]
            {
                if text.contains(word) {
                    findings.push(format!("{}:{line}: {word}", file.path));
                }
            }
        }
    }
    none(findings);
}

#[test]
fn tests_do_not_sleep() {
    let mut findings = Vec::new();
    for file in below("tests/") {
        for (line, text) in file.code_lines() {
            if text.contains("thread::sleep(") && !file.path.contains("tidy") {
                findings.push(format!("{}:{line}: wait for a condition instead", file.path));
            }
        }
    }
    none(findings);
}

#[test]
fn sql_names_its_columns_and_binds_its_times() {
    let mut findings = Vec::new();
    for file in below("src/") {
        for (line, literal) in file.literals() {
            if let Some(what) = source::wrong_sql(&literal) {
                findings.push(format!("{}:{line}: {what}", file.path));
            }
        }
    }
    none(findings);
}

#[test]
fn migrations_have_the_same_names_on_three_engines_and_no_code_of_their_own() {
    let mut names = Vec::new();
    let mut findings = Vec::new();
    for engine in ["sqlite", "postgres", "mariadb"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(engine);
        let mut own = BTreeSet::new();
        for entry in std::fs::read_dir(&folder).expect("a folder of migrations") {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a migration").to_lowercase();
            for word in ["create trigger", "create function", "create procedure", "now()"] {
                if text.contains(word) {
                    findings.push(format!("{}: {word}", path.display()));
                }
            }
            own.insert(path.file_name().expect("a name").to_owned());
        }
        names.push(own);
    }
    none(findings);
    assert_eq!(names[0], names[1]);
    assert_eq!(names[0], names[2]);
    assert!(!names[0].is_empty());
}

#[test]
fn no_test_file_was_forgotten() {
    let files: Vec<&File> = below("tests/it/").collect();
    let mut findings = Vec::new();
    for file in &files {
        let Some((parent, name)) = source::parent_of(&file.path) else { continue };
        let declared = files
            .iter()
            .find(|file| file.path == parent)
            .is_some_and(|parent| source::declares(parent, &name));
        if !declared {
            findings.push(format!("{}: no `mod {name};` in {parent}", file.path));
        }
    }
    none(findings);
}

#[test]
fn only_these_things_stand_at_the_top() {
    let allowed = [
        "Cargo.toml",
        "Cargo.lock",
        "src",
        "migrations",
        "assets",
        "tests",
        "benches",
        "README.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "build.rs",
        "target",
    ];
    let top = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the project");
    none(top.filter_map(|entry| {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let known = name.starts_with('.') || name.starts_with("ittsu-demo");
        (!known && !allowed.contains(&name.as_str())).then_some(name)
    }));
}
