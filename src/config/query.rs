//! `[queries.NAME]`: people from a database.

use std::collections::BTreeMap;

use super::database::DatabaseUrl;
use super::reading::Reading;
use super::section::Section;

/// One SQL question that gives people.
#[derive(Clone, Debug)]
pub struct Query {
    pub database: DatabaseUrl,
    /// With named parameters: `grade >= :grade`.
    pub sql: String,
}

pub(super) fn read_all(
    root: &mut Section<'_>,
    reading: &mut Reading<'_>,
) -> BTreeMap<String, Query> {
    let mut queries = BTreeMap::new();
    for (name, mut section) in root.sections(reading, "queries") {
        let database =
            section.need::<DatabaseUrl>(reading, "database", "\"mysql://USER@HOST/NAME\"");
        let sql = section.need::<String>(
            reading,
            "sql",
            "\"select member_no as key, email as address, name from member\"",
        );
        section.finish(reading);
        if let (Some(database), Some(sql)) = (database, sql) {
            queries.insert(name, Query { database: database.value, sql: sql.value });
        }
    }
    queries
}
