//! What becomes of a mail nobody can know about: the business decides, per cause.

use super::state::{Cause, words};

words! {
    /// What happens to a row whose outcome is unknown.
    Policy {
        /// Counts as sent: may lose one, never doubles.
        AssumeSent = "assume_sent",
        /// Goes out again: may double, never loses.
        Resend = "resend",
        /// Waits for a person.
        Hold = "hold",
    }
}

words! {
    /// The set within which a key gets one mail.
    OncePer {
        Batch = "batch",
        Kind = "kind",
    }
}

/// The policy of a kind for each cause, frozen in the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnUnknown {
    pub no_answer: Policy,
    pub crash: Policy,
    pub server_error: Policy,
}

impl OnUnknown {
    /// Reads a policy given as one word: it sets `no_answer` and `crash`, a server error is held.
    pub const fn one_word(policy: Policy) -> Self {
        Self { no_answer: policy, crash: policy, server_error: Policy::Hold }
    }

    /// Returns the policy for an unknown outcome of this cause.
    pub const fn of(self, cause: Cause) -> Policy {
        match cause {
            Cause::NoAnswer => self.no_answer,
            Cause::Crash => self.crash,
            Cause::ServerError => self.server_error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_sets_no_answer_and_crash_and_holds_a_server_error() {
        for &policy in Policy::ALL {
            let one = OnUnknown::one_word(policy);
            let said = [Cause::NoAnswer, Cause::Crash, Cause::ServerError].map(|c| one.of(c));
            assert_eq!(said, [policy, policy, Policy::Hold]);
        }
    }
}
