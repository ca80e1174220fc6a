//! The demo's tour: one short hint at a time, each until it is followed.

use super::message::Deed;
use super::screen::Name;
use super::words::Sentence;

/// How far a first-time user has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tour {
    /// The batches go out; the worker still lives.
    #[default]
    Watching,
    /// Rows are in doubt.
    InDoubt,
    /// The desk is open.
    AtTheDesk,
    /// One row was settled.
    Settled,
    Done,
}

impl Tour {
    pub(super) const fn hint(self) -> Sentence {
        match self {
            Self::Watching => Sentence::HintWait,
            Self::InDoubt => Sentence::HintUnknown,
            Self::AtTheDesk => Sentence::HintSettle,
            Self::Settled => Sentence::HintReport,
            Self::Done => Sentence::HintEnd,
        }
    }

    /// Goes on when rows are in doubt, and when their desk is opened.
    #[must_use]
    pub(super) const fn saw(self, unknown: i64, screen: Name) -> Self {
        match (self, screen) {
            (Self::Watching | Self::InDoubt, Name::Unknown) if unknown > 0 => Self::AtTheDesk,
            (Self::Watching, _) if unknown > 0 => Self::InDoubt,
            (other, _) => other,
        }
    }

    /// Goes on when something was done.
    #[must_use]
    pub(super) const fn did(self, deed: &Deed) -> Self {
        match (self, deed) {
            (Self::Watching | Self::InDoubt | Self::AtTheDesk, Deed::Settle { .. }) => {
                Self::Settled
            }
            (Self::Settled, Deed::Save { .. }) => Self::Done,
            (other, _) => other,
        }
    }
}
