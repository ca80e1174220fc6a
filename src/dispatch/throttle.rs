//! How many connections a server really lets us open, learned from its "too many".

/// Lowered at once by a 421, raised one by one by messages that went through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Throttle {
    most: usize,
    limit: usize,
    accepted: usize,
}

/// Accepted messages in a row after which one more connection is tried.
const PATIENCE: usize = 200;

impl Throttle {
    pub(super) const fn new(most: usize) -> Self {
        Self { most, limit: most, accepted: 0 }
    }

    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    /// Learns that the server turned a connection away while `open` others were open.
    pub(super) fn too_many(&mut self, open: usize) {
        self.limit = self.limit.min(open.max(1));
        self.accepted = 0;
    }

    /// Learns that a message was accepted.
    pub(super) fn accepted(&mut self) {
        if self.limit < self.most {
            self.accepted += 1;
            if self.accepted >= PATIENCE {
                self.accepted = 0;
                self.limit += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_allows_two_is_left_with_two() {
        let mut throttle = Throttle::new(64);
        for _ in 0..62 {
            throttle.too_many(2);
        }
        assert_eq!(throttle.limit(), 2);
    }

    #[test]
    fn one_connection_is_always_tried() {
        let mut throttle = Throttle::new(8);
        throttle.too_many(0);
        assert_eq!(throttle.limit(), 1);
    }

    #[test]
    fn what_was_lowered_comes_back_slowly() {
        let mut throttle = Throttle::new(3);
        throttle.too_many(1);
        for _ in 0..PATIENCE {
            throttle.accepted();
        }
        assert_eq!(throttle.limit(), 2);
    }
}
