//! What all connections of a server share: its behaviour, its memory, its numbers.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;

use super::Seen;
use super::behaviour::{Addresses, At, Behaviour, Deed, When};
use super::journal::Journal;
use super::trick::{Trick, ordered_by};
use crate::clock::Clock;

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    behaviour: RwLock<Arc<Behaviour>>,
    memory: Mutex<Memory>,
    pub(super) journal: Journal,
    pub(super) numbers: Numbers,
    pub(super) clock: Clock,
    lines: Mutex<Vec<String>>,
}

#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) connections: AtomicU64,
    pub(super) open: AtomicU64,
    pub(super) most_open: AtomicU64,
    pub(super) accepted: AtomicU64,
    pub(super) errors: AtomicU64,
}

#[derive(Debug, Default)]
struct Memory {
    /// How often a rule with a limit was used.
    used: HashMap<usize, u32>,
    /// Whom a rule that hits once has hit.
    hit: HashSet<(usize, String)>,
    /// Sender and recipient, and when they were first seen together.
    greylist: HashMap<(String, String), Instant>,
}

/// Where a connection stands when a rule is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Situation<'a> {
    pub(super) connection: u64,
    /// The messages taken on this connection, and the present one.
    pub(super) message: u32,
    pub(super) from: &'a str,
    /// The last recipient; empty before RCPT.
    pub(super) to: &'a str,
}

impl Shared {
    pub(super) fn new(behaviour: Behaviour, journal: Journal) -> Self {
        Self {
            behaviour: RwLock::new(Arc::new(behaviour)),
            memory: Mutex::default(),
            journal,
            numbers: Numbers::default(),
            clock: Clock::System,
            lines: Mutex::default(),
        }
    }

    pub(super) fn behaviour(&self) -> Arc<Behaviour> {
        Arc::clone(&self.behaviour.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        let mut behaviour = self.behaviour.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut behaviour));
    }

    /// Returns what is to be done at this step instead of the ordinary.
    pub(super) fn deed(&self, behaviour: &Behaviour, at: At, here: Situation<'_>) -> Option<Deed> {
        if behaviour.addresses == Addresses::Obeyed {
            let address = if at == At::Mail { here.from } else { here.to };
            if let Some(Trick::Do(ordered_at, deed)) = ordered_by(address)
                && ordered_at == at
            {
                return Some(deed);
            }
        }
        let mut rules = behaviour.rules.iter().enumerate();
        rules
            .find(|(number, rule)| {
                rule.at == at && self.fits(*number, &rule.when, here, behaviour.seed)
            })
            .map(|(_, rule)| rule.deed.clone())
    }

    fn fits(&self, number: usize, when: &When, here: Situation<'_>, seed: u64) -> bool {
        match when {
            When::Always => true,
            When::Connection(connection) => here.connection == *connection,
            When::Message(message) => here.message == *message,
            When::From(beginning) => here.from.starts_with(beginning.as_str()),
            When::To(beginning) => here.to.starts_with(beginning.as_str()),
            When::Times(limit) => {
                let mut memory = self.memory();
                let used = memory.used.entry(number).or_default();
                *used = used.saturating_add(1);
                *used <= *limit
            }
            When::Share(share) => is_in_share(*share, seed, number, here.to),
            When::ShareOnce(share) => {
                is_in_share(*share, seed, number, here.to)
                    && self.memory().hit.insert((number, here.to.to_owned()))
            }
        }
    }

    /// Reports whether this sender and recipient have to come again later.
    pub(super) fn puts_off(&self, behaviour: &Behaviour, from: &str, to: &str) -> bool {
        let ordered =
            behaviour.addresses == Addresses::Obeyed && ordered_by(to) == Some(Trick::Greylist);
        let wait = match behaviour.greylist {
            Some(wait) => wait,
            None if ordered => Duration::ZERO,
            None => return false,
        };
        let now = Instant::now();
        let mut memory = self.memory();
        match memory.greylist.entry((from.to_owned(), to.to_owned())) {
            std::collections::hash_map::Entry::Vacant(first) => {
                first.insert(now);
                true
            }
            std::collections::hash_map::Entry::Occupied(first) => {
                now.duration_since(*first.get()) < wait
            }
        }
    }

    pub(super) fn remember_line(&self, connection: u64, line: &[u8]) {
        let line = format!("{connection} {}", String::from_utf8_lossy(line));
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn seen(&self) -> Seen {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Seen {
            connections: get(&self.numbers.connections),
            open: get(&self.numbers.open),
            most_open: get(&self.numbers.most_open),
            accepted: get(&self.numbers.accepted),
            errors: get(&self.numbers.errors),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Decides by seed, rule and recipient alone, so that a run can be repeated.
fn is_in_share(share: f64, seed: u64, rule: usize, to: &str) -> bool {
    if to.is_empty() {
        return false;
    }
    // FNV-1a, then the finish of splitmix64: neighbouring addresses must not fall alike.
    let start = 0xcbf2_9ce4_8422_2325 ^ seed ^ (rule as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut hash = to
        .bytes()
        .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    // 32 bits are exact as a float.
    f64::from(u32::try_from(hash >> 32).unwrap_or(u32::MAX)) < share * f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_hits_about_so_many_and_always_the_same() {
        let hit = |seed| {
            (0..10_000).filter(|n| is_in_share(0.05, seed, 0, &format!("m{n}@a.test"))).count()
        };
        assert!((400..600).contains(&hit(1)), "{}", hit(1));
        assert_eq!(hit(1), hit(1));
        assert!(!is_in_share(0.0, 1, 0, "a@a.test") && is_in_share(1.0, 1, 0, "a@a.test"));
    }
}
