//! A foreign database that people are read from; nothing is ever written to it.
//!
//! Every column arrives as text or null, whatever its type there: the statement travels in the
//! engine's simple protocol, whose answers are text. Values of `:name` become literals, because a
//! bound text could not be compared with a number on PostgreSQL.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use sqlx::{AssertSqlSafe, Column as _};

use super::tx::Inner;
use super::{DbError, Dialect, Location, Open, Tx, connect};
use crate::db::bulk::Cell;

/// One row of a foreign query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// The columns' names, the same for every row of a query.
    pub columns: std::sync::Arc<[String]>,
    pub values: Vec<Option<String>>,
}

/// A connection to a foreign database, in a read-only transaction.
#[derive(Debug)]
pub struct Source {
    tx: Tx,
}

impl Source {
    /// Connects and begins the read-only transaction.
    pub async fn open(location: &Location) -> Result<Self, DbError> {
        if let Some(file) = location.file()
            && !file.exists()
        {
            return Err(DbError::Missing(location.to_string()));
        }
        let mut tx = connect::own(location, Open::ReadOnly).await?;
        tx.packet(tx.dialect().begin_source().to_owned()).await?;
        Ok(Self { tx })
    }

    /// Runs one select and returns its rows one after the other.
    ///
    /// Each `:name` outside quotes and comments takes its value from `parameters`.
    pub fn query<'s>(
        &'s mut self,
        sql: &str,
        parameters: &[(String, String)],
    ) -> Result<BoxStream<'s, Result<SourceRow, DbError>>, DbError> {
        let text = fill(self.tx.dialect(), sql, parameters);
        Ok(self.run(text.map_err(|why| DbError::Query { why })?))
    }

    /// Runs one select about a list of ids: `:ids` in it becomes all of them, with commas between.
    pub fn look_up<'s>(
        &'s mut self,
        sql: &str,
        ids: &Ids,
    ) -> Result<BoxStream<'s, Result<SourceRow, DbError>>, DbError> {
        let dialect = self.tx.dialect();
        let mut is_used = false;
        let text = replace(sql, |name, out| {
            if name != "ids" {
                return Err(format!("`:{name}` has no value; a lookup knows only :ids"));
            }
            is_used = true;
            ids.write(dialect, out);
            Ok(())
        });
        let text = text.and_then(|text| {
            if is_used { Ok(text) } else { Err("the lookup has no `:ids`".to_owned()) }
        });
        Ok(self.run(text.map_err(|why| DbError::Query { why })?))
    }

    fn run(&mut self, text: String) -> BoxStream<'_, Result<SourceRow, DbError>> {
        let dialect = self.tx.dialect();
        let sql = sqlx::raw_sql(AssertSqlSafe(text));
        match &mut self.tx.0 {
            Inner::Sqlite(conn) => rows(dialect, sql.fetch(&mut **conn)),
            Inner::Postgres(conn) => rows(dialect, sql.fetch(&mut **conn)),
            Inner::MariaDb(conn) => rows(dialect, sql.fetch(&mut **conn)),
        }
    }
}

/// Ids that a lookup asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ids {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Ids {
    fn write(&self, dialect: Dialect, out: &mut String) {
        match self {
            Self::Integers(ids) => list(out, ids, |out, &id| dialect.literal(out, Cell::Int(id))),
            Self::Texts(ids) => list(out, ids, |out, id| dialect.literal(out, Cell::Text(id))),
        }
    }
}

fn list<T>(out: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(out, item);
    }
}

fn rows<'s, R>(
    dialect: Dialect,
    found: BoxStream<'s, sqlx::Result<R>>,
) -> BoxStream<'s, Result<SourceRow, DbError>>
where
    R: sqlx::Row + 's,
    usize: sqlx::ColumnIndex<R>,
    for<'r> String: sqlx::Decode<'r, R::Database>,
{
    let mut names: Option<std::sync::Arc<[String]>> = None;
    found
        .map(move |row| {
            let row = row.map_err(|err| DbError::of(dialect, err))?;
            let columns = std::sync::Arc::clone(names.get_or_insert_with(|| {
                row.columns().iter().map(|column| column.name().to_owned()).collect()
            }));
            let values = (0..row.len())
                .map(|index| {
                    row.try_get_unchecked::<Option<String>, _>(index)
                        .map_err(|source| DbError::Column { index, wanted: "text", source })
                })
                .collect::<Result<_, _>>()?;
            Ok(SourceRow { columns, values })
        })
        .boxed()
}

/// Puts the values of `:name` into a statement, as literals.
fn fill(dialect: Dialect, sql: &str, parameters: &[(String, String)]) -> Result<String, String> {
    let mut used = vec![false; parameters.len()];
    let text = replace(sql, |name, out| {
        let at = parameters
            .iter()
            .position(|(known, _)| known == name)
            .ok_or_else(|| format!("`:{name}` has no value; give --param {name}=…"))?;
        used[at] = true;
        parameter(dialect, out, &parameters[at].1);
        Ok(())
    })?;
    match used.iter().position(|&used| !used) {
        Some(at) => Err(format!("the query has no `:{}`", parameters[at].0)),
        None => Ok(text),
    }
}

/// Copies a statement and hands each `:name` outside quotes and comments to `write`.
fn replace(
    sql: &str,
    mut write: impl FnMut(&str, &mut String) -> Result<(), String>,
) -> Result<String, String> {
    let mut out = String::with_capacity(sql.len() + 64);
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let skip = match first {
            '\'' | '"' | '`' => quoted(rest, first),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            ':' if rest.starts_with("::") => 2,
            ':' => {
                let name = name_of(rest.split_at(1).1);
                if !name.is_empty() {
                    write(name, &mut out)?;
                    rest = rest.split_at(1 + name.len()).1;
                    continue;
                }
                1
            }
            other => other.len_utf8(),
        };
        let (copied, after) = rest.split_at(skip);
        out.push_str(copied);
        rest = after;
    }
    Ok(out)
}

/// Returns the length of the quoted text that `rest` begins with; a doubled quote stays inside.
fn quoted(rest: &str, quote: char) -> usize {
    let mut end = quote.len_utf8();
    loop {
        match rest.split_at(end).1.find(quote) {
            None => return rest.len(),
            Some(at) => end += at + quote.len_utf8(),
        }
        if !rest.split_at(end).1.starts_with(quote) {
            return end;
        }
        end += quote.len_utf8();
    }
}

fn name_of(text: &str) -> &str {
    let end = text
        .char_indices()
        .find(|&(i, c)| !(c == '_' || c.is_alphabetic() || (i > 0 && c.is_alphanumeric())))
        .map_or(text.len(), |(i, _)| i);
    text.split_at(end).0
}

/// Writes one value: on SQLite a plain whole number stays a number, since `2 >= '2'` is false there.
fn parameter(dialect: Dialect, out: &mut String, value: &str) {
    let number = value.parse::<i64>().ok().filter(|n| n.to_string() == value);
    match number {
        Some(n) if dialect == Dialect::Sqlite => dialect.literal(out, Cell::Int(n)),
        _ => dialect.literal(out, Cell::Text(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(sql: &str) -> Result<String, String> {
        fill(Dialect::Sqlite, sql, &[("grade".to_owned(), "2".to_owned())])
    }

    #[test]
    fn only_a_name_outside_quotes_and_comments_is_a_parameter() {
        assert_eq!(
            filled("select a::text, ':grade', \"x:grade\" from m -- :grade\n where g >= :grade"),
            Ok("select a::text, ':grade', \"x:grade\" from m -- :grade\n where g >= 2".to_owned())
        );
        assert_eq!(
            filled("select 'it''s :grade', :grade"),
            Ok("select 'it''s :grade', 2".to_owned())
        );
    }

    #[test]
    fn a_parameter_without_a_value_or_without_a_place_is_named() {
        assert!(filled("select :grade, :other").unwrap_err().contains(":other"));
        assert!(filled("select 1").unwrap_err().contains(":grade"));
    }

    #[test]
    fn ids_stand_in_a_list_and_cannot_leave_their_quotes() {
        let written = |ids: Ids| {
            let mut out = String::new();
            ids.write(Dialect::Postgres, &mut out);
            out
        };
        assert_eq!(written(Ids::Integers(vec![1, 22])), "1, 22");
        let evil = vec!["a".to_owned(), "') or ('".to_owned()];
        assert_eq!(written(Ids::Texts(evil)), "'a', ''') or ('''");
    }

    #[test]
    fn a_value_cannot_leave_its_quotes() {
        let evil = [("v".to_owned(), "\\' or ''='".to_owned())];
        for (dialect, text) in [
            (Dialect::Sqlite, "'\\'' or ''''='''"),
            (Dialect::Postgres, "'\\'' or ''''='''"),
            (Dialect::MariaDb, "'\\\\'' or ''''='''"),
        ] {
            assert_eq!(fill(dialect, ":v", &evil), Ok(text.to_owned()));
        }
    }
}
