//! Which character set a text is in, by its marks, its validity and its plausibility.

/// The character set a source was read in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charset {
    /// As people know it: `Shift_JIS (CP932)`.
    pub label: String,
    /// As JSON names it: `Shift_JIS`.
    pub name: String,
    pub found: Found,
}

/// How the character set was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    Given,
    Mark,
    Valid,
    Detected,
}

/// A character set the source may be in, with its first rows read that way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub label: String,
    /// What `--encoding` takes.
    pub name: String,
    pub samples: Vec<String>,
}
