//! Numbers that name a thing in the ledger, one type per thing.

use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// Names one notice, or one day of order mail.
    BatchId;
    /// Names one person's row within a scope; it is also the row's number in `delivery`.
    RecipientId;
    /// Names one engine process; new at each start.
    WorkerId;
    /// Names the set within which a key gets one mail.
    ScopeId;
    /// Names one entry of the journal.
    JournalId;
}

/// The number of one try to hand a row over.
///
/// It only rises, also over generations, and is never used again; 0 means "never tried".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempt(pub i64);

impl Attempt {
    /// Returns the number of the try that follows this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Counts the copies that a person deliberately ordered: 1, and +1 for each further copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub i64);

impl Generation {
    /// The generation of every row that nobody asked to send again as another copy.
    pub const FIRST: Self = Self(1);
}
