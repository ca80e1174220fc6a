//! Which column is the address, the key and the name.

/// The columns that a row is made from, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// `None` only in a list of keys.
    pub address: Option<String>,
    /// `None`: the address in compare form is the key, which is said aloud.
    pub key: Option<String>,
    pub name: Option<String>,
    /// Further names given by `--map`: placeholder and column.
    pub others: Vec<(String, String)>,
}
