//! What can be bound: numbers, text and bytes, each also as null.

use crate::domain::id::{Attempt, BatchId, Generation, JournalId, RecipientId, ScopeId, WorkerId};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::state::{Cause, Flag, How, State};
use crate::domain::time::Timestamp;

/// A value on its way to a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(value.to_owned()))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(Some(value))
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(Some(value.clone()))
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(Some(value))
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(Some(value.to_vec()))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Self {
        Self::Text(value)
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(str::to_owned))
    }
}

impl From<Option<Vec<u8>>> for Value {
    fn from(value: Option<Vec<u8>>) -> Self {
        Self::Bytes(value)
    }
}

macro_rules! numbers {
    ($($name:ty),*) => {$(
        impl From<$name> for Value {
            fn from(value: $name) -> Self {
                Self::Int(Some(value.0))
            }
        }

        impl From<Option<$name>> for Value {
            fn from(value: Option<$name>) -> Self {
                Self::Int(value.map(|value| value.0))
            }
        }
    )*};
}

numbers!(Attempt, BatchId, Generation, JournalId, RecipientId, ScopeId, WorkerId, Timestamp);

macro_rules! words {
    ($($name:ty),*) => {$(
        impl From<$name> for Value {
            fn from(value: $name) -> Self {
                Self::Text(Some(value.as_str().to_owned()))
            }
        }

        impl From<Option<$name>> for Value {
            fn from(value: Option<$name>) -> Self {
                Self::Text(value.map(|value| value.as_str().to_owned()))
            }
        }
    )*};
}

words!(State, How, Flag, Cause, Phase, Blame, Outcome);
