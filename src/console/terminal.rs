//! The only code that takes the terminal over and gives it back.
//!
//! Promise: whatever the way out is (the end, an error, a panic, a signal, a suspend), the terminal
//! is as it was: no raw mode, no other screen, no bracketed paste, and the cursor is there.

use std::io::{self, Stdout, Write, stdout};
use std::process::Stdio;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{self, Hide, MoveToColumn, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::{Print, force_color_output};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use data_encoding::BASE64;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::process::{Signal, getpid, kill_process};

use super::app::App;
use super::canvas::glyphs::Ambiguous;
use super::draw;
use super::run::Window;

/// Whether the terminal is taken over at the moment.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while the console has it.
#[derive(Debug)]
pub(super) struct Taken {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Taken {
    /// Takes the terminal over; dropping gives it back.
    pub(super) fn over() -> io::Result<Self> {
        give_back_on_panic();
        take()?;
        // From here on a `?` gives it back as well.
        match crossterm::terminal::size().and_then(blank) {
            Ok(terminal) => Ok(Self { terminal }),
            Err(err) => {
                give_back();
                Err(err)
            }
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

impl Window for Taken {
    fn size(&self) -> io::Result<(u16, u16)> {
        crossterm::terminal::size()
    }

    fn draw(&mut self, app: &App) -> io::Result<()> {
        // crossterm writes attributes as colours where NO_COLOR is set, unless it is told not to;
        // the theme without colours writes none.
        force_color_output(true);
        queue!(stdout(), BeginSynchronizedUpdate)?;
        let area = self.terminal.get_frame().area();
        if (area.width, area.height) != app.size {
            self.terminal = blank(app.size)?;
        }
        self.terminal.draw(|frame| draw::draw(app, frame.buffer_mut()))?;
        execute!(stdout(), EndSynchronizedUpdate)
    }

    fn redraw(&mut self) -> io::Result<()> {
        self.terminal = blank(self.size()?)?;
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        give_back();
        // Everything stops here, and goes on here after `fg`.
        kill_process(getpid(), Signal::TSTP)?;
        take()?;
        self.redraw()
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        if std::env::var_os("TMUX").is_some() && through_tmux(text).is_ok() {
            return Ok(());
        }
        // OSC 52: the terminal puts it on the clipboard, also over ssh.
        let text = BASE64.encode(text.as_bytes());
        execute!(stdout(), Print(format!("\u{1b}]52;c;{text}\u{7}")))
    }
}

fn through_tmux(text: &str) -> io::Result<()> {
    let mut child = std::process::Command::new("tmux")
        .args(["load-buffer", "-w", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes())?;
    }
    let ended = child.wait()?;
    if ended.success() { Ok(()) } else { Err(io::Error::other("tmux refused")) }
}

/// Empties the screen, and begins with one of which nothing is known.
///
/// The size is ours to follow: left to itself, ratatui asks the terminal where its cursor is
/// whenever it clears, and waits for the answer.
fn blank((width, height): (u16, u16)) -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    queue!(stdout(), Clear(ClearType::All))?;
    let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
    Terminal::with_options(CrosstermBackend::new(stdout()), TerminalOptions { viewport })
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)
        .inspect_err(|_| give_back())
}

/// Gives the terminal back, once, whoever asks first.
pub(super) fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // Where the terminal itself is gone, nothing can be given back.
    drop(execute!(
        stdout(),
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        Show,
        LeaveAlternateScreen
    ));
    drop(disable_raw_mode());
}

fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
    });
}

/// Asks the terminal how wide it draws a sign of which Unicode leaves it open.
pub(super) fn measure() -> Ambiguous {
    let measured = || -> io::Result<u16> {
        enable_raw_mode()?;
        let asked = || -> io::Result<u16> {
            execute!(stdout(), MoveToColumn(0), Print("\u{203b}"))?;
            let (column, _) = cursor::position()?;
            execute!(stdout(), MoveToColumn(0), Clear(ClearType::CurrentLine))?;
            Ok(column)
        };
        let column = asked();
        disable_raw_mode()?;
        column
    };
    match measured() {
        Ok(2) => Ambiguous::Wide,
        _ => Ambiguous::Narrow,
    }
}
