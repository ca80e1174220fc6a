//! How long a group of writes waits for the connections that will come in a moment.
//!
//! Without a wait the connections fall into two halves that commit in turn, and a message waits for
//! two commits; a wait that is too long costs more than it gains. So it is at most half of the mean
//! commit time, only for connections that are out with a message, and not at all where handing one
//! over takes longer than a commit.

use std::time::Duration;

/// The running means that decide.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gathering {
    commit: Duration,
    out: Duration,
}

impl Gathering {
    /// Learns how long a commit took.
    pub(super) fn committed(&mut self, took: Duration) {
        self.commit = mean(self.commit, took);
    }

    /// Learns how long a connection was out, from the start that was written to its finish.
    pub(super) fn came_back(&mut self, was_out: Duration) {
        self.out = mean(self.out, was_out);
    }

    /// Returns how long the next group may wait for others.
    pub(super) fn patience(&self) -> Duration {
        // On average half of that time is over when the wait begins.
        if self.out > self.commit { Duration::ZERO } else { self.commit / 2 }
    }
}

/// Moves a running mean by an eighth of the difference; the first value is taken whole.
fn mean(so_far: Duration, new: Duration) -> Duration {
    if so_far.is_zero() { new } else { so_far / 8 * 7 + new / 8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn nothing_waits_before_anything_is_known() {
        assert_eq!(Gathering::default().patience(), Duration::ZERO);
    }

    #[test]
    fn a_group_waits_at_most_half_a_commit() {
        let mut gathering = Gathering::default();
        gathering.committed(ms(4));
        gathering.came_back(ms(1));
        assert_eq!(gathering.patience(), ms(2));
    }

    #[test]
    fn nobody_waits_for_a_server_slower_than_a_commit() {
        let mut gathering = Gathering::default();
        gathering.committed(ms(4));
        gathering.came_back(ms(5));
        assert_eq!(gathering.patience(), Duration::ZERO);
    }

    #[test]
    fn one_slow_commit_moves_the_mean_by_an_eighth() {
        let mut gathering = Gathering::default();
        gathering.committed(ms(8));
        gathering.committed(ms(80));
        assert_eq!(gathering.patience(), ms(17) / 2);
    }
}
