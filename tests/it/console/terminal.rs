//! The real binary on a real terminal: how it comes, how it goes, and what it leaves behind.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use crate::cli::desk::Desk;

const PATIENCE: Duration = Duration::from_secs(30);

/// A terminal with `ittsu` in it.
struct Tty {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    seen: Arc<(Mutex<Vec<u8>>, Condvar)>,
    size: (u16, u16),
}

impl Tty {
    fn open(desk: &Desk, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ittsu"));
        command.args(words);
        command.cwd(desk.shell.path("."));
        command.env_clear();
        let usual = [
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
            ("ITTSU_OPERATOR", "hanako"),
            ("ITTSU_ASCII", "1"),
        ];
        for (name, value) in usual.iter().chain(variables) {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("ittsu runs");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("its screen");
        let keys = pair.master.take_writer().expect("its keyboard");
        let seen = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let theirs = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut some = [0_u8; 4096];
            while let Ok(n @ 1..) = reader.read(&mut some) {
                theirs.0.lock().expect("bytes").extend_from_slice(&some[..n]);
                theirs.1.notify_all();
            }
            theirs.1.notify_all();
        });
        Self { child, master: pair.master, keys, seen, size: (24, 80) }
    }

    /// Returns the screen as a person sees it.
    fn screen(&self) -> vt100::Parser {
        let size = |n: u16| NonZeroU16::new(n).expect("a size");
        let mut parser = vt100::Parser::new(size(self.size.0), size(self.size.1), 0);
        parser.process(&self.seen.0.lock().expect("bytes"));
        parser
    }

    fn wait(&self, what: &str, done: impl Fn(&vt100::Screen) -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if done(screen.screen()) {
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what} never came:\n{}", screen.screen().contents());
            let bytes = self.seen.0.lock().expect("bytes");
            drop(self.seen.1.wait_timeout(bytes, left.min(Duration::from_millis(200))));
        }
    }

    fn sees(&self, wanted: &str) {
        self.wait(wanted, |screen| screen.contents().contains(wanted));
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("a keyboard");
        self.keys.flush().expect("a keyboard");
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.process_id().expect("a process")).expect("a pid");
        let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
        rustix::process::kill_process(pid, signal).expect("a signal");
    }

    /// Waits for its end, which must come.
    fn ends(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(ended) = self.child.try_wait().expect("its end") {
                return ended;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "it never ended:\n{}", self.screen().screen().contents());
            let bytes = self.seen.0.lock().expect("bytes");
            drop(self.seen.1.wait_timeout(bytes, left.min(Duration::from_millis(100))));
        }
    }

    /// Asserts that nothing of the console is left on the terminal.
    fn assert_given_back(&self) {
        self.wait("the old screen", |screen| !screen.alternate_screen());
        let parser = self.screen();
        let screen = parser.screen();
        assert!(!screen.hide_cursor() && !screen.bracketed_paste());
        let bytes = String::from_utf8_lossy(&self.seen.0.lock().expect("bytes")).into_owned();
        let count = |what: &str| bytes.matches(what).count();
        assert_eq!(count("\u{1b}[?2026h"), count("\u{1b}[?2026l") - 1, "frames are whole");
    }
}

#[test]
fn it_comes_it_shows_and_quitting_gives_the_terminal_back() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    let mut tty = Tty::open(&desk, &[], &[]);
    tty.sees("notice-1");
    tty.wait("another screen", vt100::Screen::alternate_screen);
    tty.types("q");
    tty.sees("Leave the console?");
    tty.types("\t\r");
    assert_eq!(tty.ends().exit_code(), 0);
    tty.assert_given_back();
}

#[test]
fn signals_end_it_with_their_codes_and_give_the_terminal_back() {
    use rustix::process::Signal;
    let desk = Desk::new("").started(&["ann"]);
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 143), (Signal::INT, 130)] {
        let mut tty = Tty::open(&desk, &["notice-1"], &[]);
        tty.sees("Overview");
        tty.signal(signal);
        assert_eq!(tty.ends().exit_code(), code, "{signal:?}");
        tty.assert_given_back();
    }
}

#[test]
fn without_colour_the_chosen_row_is_reversed_and_no_colour_is_written() {
    let desk = Desk::new("").started(&["ann"]);
    let mut tty = Tty::open(&desk, &[], &[("NO_COLOR", "1")]);
    tty.wait("a reversed row", |screen| {
        (0..24).any(|row| screen.cell(row, 3).is_some_and(vt100::Cell::inverse))
    });
    let parser = tty.screen();
    for row in 0..24 {
        for column in 0..80 {
            let Some(cell) = parser.screen().cell(row, column) else { continue };
            let plain = vt100::Color::Default;
            assert_eq!((cell.fgcolor(), cell.bgcolor()), (plain, plain), "{row} {column}");
        }
    }
    tty.types("\u{3}\u{3}");
    assert_eq!(tty.ends().exit_code(), 0);
}

#[test]
fn a_storm_of_sizes_ends_in_a_whole_screen() {
    let desk = Desk::new("").started(&["ann"]);
    let mut tty = Tty::open(&desk, &[], &[]);
    tty.sees("notice-1");
    let sizes = (1..60).map(|n| (n % 7 * 6 + 1, n % 11 * 13 + 1)).chain([(5, 20), (30, 100)]);
    for (rows, cols) in sizes {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        tty.master.resize(size).expect("another size");
    }
    tty.size = (30, 100);
    tty.seen.0.lock().expect("bytes").clear();
    tty.types("\u{c}");
    tty.sees("1 Batches");
    tty.types("\u{3}\u{3}");
    assert_eq!(tty.ends().exit_code(), 0);
}

#[test]
fn pasted_text_runs_no_command() {
    let desk = Desk::new("").started(&["ann"]);
    let mut tty = Tty::open(&desk, &[], &[]);
    tty.sees("notice-1");
    tty.types("\u{1b}[200~p\u{1b}[201~");
    tty.sees("Pasted text never runs commands");
    assert_eq!(desk.batch("notice-1")["state"], "running");
    tty.types("\u{3}\u{3}");
    assert_eq!(tty.ends().exit_code(), 0);
}

#[test]
fn without_a_terminal_the_status_is_printed() {
    let desk = Desk::new("").started(&["ann"]);
    let output = desk.shell.run(&[]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("notice-1"), "{output}");
}
