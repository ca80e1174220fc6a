//! Who this process is, and whether another one still exists.
//!
//! Promise: a process is called gone only when the same boot and pid namespace prove it
//! (`protocol.md` 6). Anything that cannot be looked up proves nothing.

use rustix::process::{Pid, getpid, test_kill_process};

use crate::domain::watch::{Found, Process, is_process_gone};

/// This process as it registers with the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Myself {
    pub host: String,
    pub process: Process,
}

impl Myself {
    /// Reads who this process is from the system.
    ///
    /// Where there is no `/proc` the boot stays empty, and an empty boot proves nothing.
    pub fn look() -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let pid_ns = std::fs::read_link("/proc/self/ns/pid")
            .map(|link| link.to_string_lossy().into_owned())
            .unwrap_or_default();
        let pid = i64::from(getpid().as_raw_nonzero().get());
        let pid_start = match find(pid) {
            Found::Process { start, .. } => start,
            Found::Nothing | Found::CannotTell => 0,
        };
        let boot = boot.trim().to_owned();
        Self { host, process: Process { boot, pid_ns, pid, pid_start } }
    }

    /// Reports whether `other` is proved to be gone, seen from this process.
    pub fn proves_gone(&self, other: &Process) -> bool {
        is_process_gone(other, &self.process.boot, &self.process.pid_ns, find(other.pid))
    }
}

/// Looks a process up by its number.
fn find(pid: i64) -> Found {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Found::CannotTell;
    };
    match std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())) {
        Ok(stat) => parse_stat(&stat).unwrap_or(Found::CannotTell),
        // `/proc` may hide the processes of others (hidepid), so absence is asked of the kernel.
        Err(_) => match test_kill_process(pid) {
            Err(error) if error == rustix::io::Errno::SRCH => Found::Nothing,
            Ok(()) | Err(_) => Found::CannotTell,
        },
    }
}

/// Reads state and start time; the name in parentheses may hold anything, also parentheses.
fn parse_stat(line: &str) -> Option<Found> {
    let (_, after_name) = line.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    let letter = fields.next()?;
    // Field 22 of the line (`proc(5)`), the state being field 3.
    let start = fields.nth(18)?.parse().ok()?;
    Some(Found::Process { start, defunct: matches!(letter, "Z" | "X") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_and_not_gone() {
        let me = Myself::look();
        assert!(!me.process.boot.is_empty());
        assert!(me.process.pid_ns.starts_with("pid:["));
        assert!(me.process.pid_start > 0);
        assert!(!me.proves_gone(&me.process));
    }

    #[test]
    fn a_reused_pid_is_another_process() {
        let me = Myself::look();
        let earlier = Process { pid_start: me.process.pid_start - 1, ..me.process.clone() };
        assert!(me.proves_gone(&earlier));
        let elsewhere = Process { boot: "another boot".to_owned(), ..earlier };
        assert!(!me.proves_gone(&elsewhere));
    }

    #[test]
    fn a_child_that_ended_is_gone_even_before_it_is_collected() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let me = Myself::look();
        let pid = i64::from(child.id());
        let start = loop {
            match find(pid) {
                Found::Process { start, defunct: true } => break start,
                _ => std::thread::yield_now(),
            }
        };
        let worker = Process { pid, pid_start: start, ..me.process.clone() };
        assert!(me.proves_gone(&worker));
        child.wait().unwrap();
        assert!(me.proves_gone(&worker));
    }

    #[test]
    fn a_name_with_parentheses_does_not_confuse_the_start_time() {
        let mut fields = vec!["0"; 18];
        fields.push("4711");
        let stat = format!("12 (a) b (c) S {} 9", fields.join(" "));
        assert_eq!(parse_stat(&stat), Some(Found::Process { start: 4711, defunct: false }));
    }
}
