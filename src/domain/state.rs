//! What a row is, why it is so, and the one function that moves it.

use super::outcome::Outcome;

/// Declares an enum whose variants are stored and printed as one lower-case word each.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Every variant, in the order of the declaration.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the word that is stored and printed.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Returns the variant that `word` stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Where a row stands.
    State {
        Ready = "ready",
        Sending = "sending",
        Sent = "sent",
        Failed = "failed",
    }
}

words! {
    /// Why a final state holds.
    How {
        /// The server's own complete answer said yes.
        Accepted = "accepted",
        /// Nobody knows; the kind's policy counts it as sent.
        Assumed = "assumed",
        /// A person decided.
        Operator = "operator",
        /// Learned later, from an answer that came late or from elsewhere.
        Evidence = "evidence",
        /// Taken over from an older system.
        Imported = "imported",
        /// The server's own complete answer said no, for good.
        Refused = "refused",
        /// No message could be built for this person.
        Unbuildable = "unbuildable",
        /// The address is on the do-not-send list.
        Suppressed = "suppressed",
        /// Tries or time were used up; the last reply stays.
        Expired = "expired",
        /// The batch was cancelled before it went out.
        Cancelled = "cancelled",
    }
}

words! {
    /// What makes a row worth finding; an ordinary mail never carries one.
    Flag {
        Unknown = "unknown",
        Failed = "failed",
        Assumed = "assumed",
    }
}

words! {
    /// Why nobody knows what became of an attempt.
    Cause {
        /// Timeout, cut or nonsense after the hand-over.
        NoAnswer = "no_answer",
        /// The worker is gone.
        Crash = "crash",
        /// A complete HTTP 5xx that proves nothing.
        ServerError = "server_error",
    }
}

impl State {
    /// Returns the state that follows when an attempt of this row ends, or `None` if none can.
    pub const fn after(self, outcome: Outcome) -> Option<Self> {
        match (self, outcome) {
            (Self::Sending, Outcome::Accepted) => Some(Self::Sent),
            (Self::Sending, Outcome::Refused) => Some(Self::Failed),
            (Self::Sending, Outcome::Deferred | Outcome::NotSent) => Some(Self::Ready),
            // The server may already hold the message: only policy or a person moves this row.
            (Self::Sending, Outcome::Unknown(_)) => Some(Self::Sending),
            (Self::Ready | Self::Sent | Self::Failed, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sending_row_moves_by_an_outcome() {
        for outcome in [
            Outcome::Accepted,
            Outcome::Refused,
            Outcome::Deferred,
            Outcome::NotSent,
            Outcome::Unknown(Cause::Crash),
        ] {
            assert!(State::Sending.after(outcome).is_some());
            for state in [State::Ready, State::Sent, State::Failed] {
                assert_eq!(state.after(outcome), None);
            }
        }
    }

    #[test]
    fn an_unknown_outcome_never_makes_a_row_ready_by_itself() {
        for &cause in Cause::ALL {
            assert_eq!(State::Sending.after(Outcome::Unknown(cause)), Some(State::Sending));
        }
    }

    #[test]
    fn every_word_reads_back() {
        assert!(State::ALL.iter().all(|&s| State::from_word(s.as_str()) == Some(s)));
        assert!(How::ALL.iter().all(|&h| How::from_word(h.as_str()) == Some(h)));
        assert_eq!(State::from_word("Ready"), None);
    }
}
