//! One message for one person.

use super::{BuildError, Built, Dkim, Person, Sender, Stamp, Template};

impl Template {
    /// Builds the message of `person`.
    pub fn build(
        &self,
        _sender: &Sender,
        _person: &Person<'_>,
        _stamp: &Stamp,
        _dkim: Option<&Dkim>,
    ) -> Result<Built, BuildError> {
        todo!()
    }
}
