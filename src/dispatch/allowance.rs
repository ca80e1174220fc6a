//! How many mails may start before the ledger has to be asked again.

use std::time::Duration;

use crate::domain::rate::Rate;
use crate::domain::time::Timestamp;

/// The local rest of a lot of tokens; lots are taken out of the ledger, where all workers share.
#[derive(Clone, Debug, Default)]
pub(super) enum Allowance {
    /// No rate: as fast as it goes.
    #[default]
    Free,
    Lot {
        rate: Rate,
        left: i64,
        /// What is left is forgotten then: a rest of an hour ago must not make a burst.
        stale_at: Timestamp,
        /// The ledger has none before this time.
        not_before: Option<Timestamp>,
    },
}

impl Allowance {
    /// Begins with nothing in hand, or keeps the lot if the rate is the same.
    pub(super) fn set_rate(&mut self, new: Option<Rate>) {
        match (&*self, new) {
            (Self::Lot { rate, .. }, Some(new)) if *rate == new => {}
            (_, None) => *self = Self::Free,
            (_, Some(rate)) => {
                let stale_at = Timestamp(0);
                *self = Self::Lot { rate, left: 0, stale_at, not_before: None };
            }
        }
    }

    /// Reports whether one more mail may start.
    pub(super) fn allows(&self, now: Timestamp) -> bool {
        match self {
            Self::Free => true,
            Self::Lot { left, stale_at, .. } => *left > 0 && now < *stale_at,
        }
    }

    /// Returns how many more may start, for deciding how many connections are of use.
    pub(super) fn most(&self, now: Timestamp) -> usize {
        match self {
            Self::Free => usize::MAX,
            Self::Lot { left, .. } if self.allows(now) => usize::try_from(*left).unwrap_or(0),
            Self::Lot { .. } => 0,
        }
    }

    pub(super) fn spend(&mut self) {
        if let Self::Lot { left, .. } = self {
            *left -= 1;
        }
    }

    /// Takes back a token that was not used.
    pub(super) fn unspend(&mut self) {
        if let Self::Lot { left, .. } = self {
            *left += 1;
        }
    }

    /// Returns the rate if a new lot has to be asked for now.
    pub(super) fn wants(&self, now: Timestamp) -> Option<Rate> {
        match self {
            Self::Lot { rate, not_before, .. }
                if !self.allows(now) && not_before.is_none_or(|at| at <= now) =>
            {
                Some(*rate)
            }
            _ => None,
        }
    }

    /// Returns until when nothing may start, if the ledger said so.
    pub(super) fn waits_until(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Lot { not_before, .. } if !self.allows(now) => not_before.filter(|&at| at > now),
            _ => None,
        }
    }

    /// Pours a lot in.
    pub(super) fn pour(&mut self, tokens: i64, now: Timestamp) {
        if let Self::Lot { rate, left, stale_at, not_before } = self {
            *left = tokens;
            *stale_at = now + (rate.gap() * 2).max(Duration::from_secs(2));
            *not_before = None;
        }
    }

    pub(super) fn wait(&mut self, until: Timestamp) {
        if let Self::Lot { not_before, .. } = self {
            *not_before = Some(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::rate::Per;

    const fn s(n: i64) -> Timestamp {
        Timestamp(n * 1_000_000)
    }

    fn lot(count: i64, per: Per) -> Allowance {
        let mut allowance = Allowance::default();
        allowance.set_rate(Some(Rate { count, per }));
        allowance
    }

    #[test]
    fn no_rate_allows_everything() {
        assert!(Allowance::default().allows(s(0)));
        assert_eq!(Allowance::default().wants(s(0)), None);
    }

    #[test]
    fn a_spent_lot_asks_for_another() {
        let mut allowance = lot(20, Per::Second);
        assert!(allowance.wants(s(1)).is_some() && !allowance.allows(s(1)));
        allowance.pour(1, s(1));
        assert!(allowance.wants(s(1)).is_none() && allowance.allows(s(1)));
        allowance.spend();
        assert!(!allowance.allows(s(1)));
        allowance.unspend();
        assert!(allowance.allows(s(1)));
    }

    #[test]
    fn a_rest_of_long_ago_makes_no_burst() {
        let mut allowance = lot(20, Per::Second);
        allowance.pour(20, s(1));
        assert_eq!(allowance.most(s(2)), 20);
        assert_eq!(allowance.most(s(10)), 0);
    }

    #[test]
    fn nobody_asks_again_before_the_ledger_has_some() {
        let mut allowance = lot(6, Per::Minute);
        allowance.wait(s(10));
        assert_eq!(allowance.wants(s(9)), None);
        assert_eq!(allowance.waits_until(s(9)), Some(s(10)));
        assert!(allowance.wants(s(10)).is_some());
    }

    #[test]
    fn another_rate_begins_anew() {
        let mut allowance = lot(6, Per::Minute);
        allowance.wait(s(10));
        allowance.set_rate(Some(Rate { count: 60, per: Per::Minute }));
        assert!(allowance.wants(s(0)).is_some());
        allowance.set_rate(None);
        assert!(allowance.allows(s(0)));
    }
}
