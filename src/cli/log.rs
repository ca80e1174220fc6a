//! The engine's own log, on standard error, for the one who watches.
//!
//! Sending never waits for whoever reads it: lines go through a queue of fixed size, and what does
//! not fit is counted instead.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::args::Global;

/// Lines that may wait.
const WAITING: usize = 1_000;

/// Begins to log; the log ends with what is returned.
pub(super) fn begin(global: &Global) -> Option<Log> {
    let (ours, others) = match (global.quiet, global.verbose) {
        (true, _) => (LevelFilter::ERROR, LevelFilter::OFF),
        (false, 0) => (LevelFilter::WARN, LevelFilter::OFF),
        (false, 1) => (LevelFilter::INFO, LevelFilter::WARN),
        (false, _) => (LevelFilter::DEBUG, LevelFilter::INFO),
    };
    let (queue, log) = open(io::stderr());
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_target(global.verbose > 1)
        .with_writer(queue)
        .with_filter(Targets::new().with_target("ittsu", ours).with_default(others));
    // A second one in the same process (a test) keeps the first.
    tracing_subscriber::registry().with(layer).try_init().is_ok().then_some(log)
}

fn open(out: impl Write + Send + 'static) -> (Queue, Log) {
    let (sender, receiver) = sync_channel(WAITING);
    let dropped = Arc::new(AtomicU64::new(0));
    let queue = Queue { sender, dropped: Arc::clone(&dropped) };
    let (end, ended) = sync_channel(1);
    let thread = std::thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || write_lines(&receiver, &ended, &dropped, out))
        .ok();
    (queue, Log { end, thread })
}

fn write_lines(
    lines: &Receiver<Vec<u8>>,
    ended: &Receiver<()>,
    dropped: &AtomicU64,
    mut out: impl Write,
) {
    loop {
        // Whoever should read may be gone; the engine goes on.
        match lines.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => drop(out.write_all(&line)),
            Err(RecvTimeoutError::Timeout) if ended.try_recv().is_ok() => return,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            drop(writeln!(out, "warning: lines of the log that nobody took: {lost}"));
        }
    }
}

/// The running log; when it is dropped, what still waits is written, if somebody reads it.
pub(super) struct Log {
    end: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Log {
    fn drop(&mut self) {
        _ = self.end.try_send(());
        let Some(thread) = self.thread.take() else { return };
        // Two seconds at most: a reader that stands still must not hold the end up.
        for _ in 0..100 {
            if thread.is_finished() {
                drop(thread.join());
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[derive(Clone)]
struct Queue {
    sender: SyncSender<Vec<u8>>,
    dropped: Arc<AtomicU64>,
}

/// One line on its way into the queue.
struct Line<'q> {
    text: Vec<u8>,
    queue: &'q Queue,
}

impl<'q> MakeWriter<'q> for Queue {
    type Writer = Line<'q>;

    fn make_writer(&'q self) -> Line<'q> {
        Line { text: Vec::new(), queue: self }
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let line = std::mem::take(&mut self.text);
        if !line.is_empty() && self.queue.sender.try_send(line).is_err() {
            self.queue.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::Sender;

    use super::*;

    /// Takes a line only when it is allowed to.
    struct Stubborn {
        gate: Receiver<()>,
        taken: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Stubborn {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            _ = self.gate.recv();
            self.taken.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stands_still_holds_nobody_up_and_hears_how_much_it_missed() {
        let (allow, gate): (Sender<()>, _) = std::sync::mpsc::channel();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let (queue, log) = open(Stubborn { gate, taken: Arc::clone(&taken) });
        for _ in 0..WAITING + 500 {
            queue.make_writer().write_all(b"line\n").unwrap();
        }
        drop(allow);
        drop(queue);
        drop(log);
        let said = String::from_utf8(taken.lock().unwrap().clone()).unwrap();
        let lost: usize = said
            .lines()
            .filter_map(|line| line.strip_prefix("warning: lines of the log that nobody took: "))
            .map(|lost| lost.parse::<usize>().unwrap())
            .sum();
        assert_eq!(said.lines().filter(|&line| line == "line").count() + lost, WAITING + 500);
        assert!(lost >= 499, "{lost}");
    }
}
