//! Where a database is, read from a URL.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use super::{DbError, Dialect};

/// The place of a database; prints without its password.
#[derive(Clone)]
pub struct Location {
    /// How long a vanished client may hold its locks: the time after which a worker counts as lost.
    pub lost_after: Duration,
    shown: String,
    pub(super) place: Place,
}

#[derive(Clone)]
pub(super) enum Place {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
    MariaDb(Box<MySqlConnectOptions>),
}

impl Location {
    /// Reads `sqlite:PATH`, `postgres://…` or `mysql://…`; a relative path is relative to `base`.
    ///
    /// A server that is not on this machine must show a certificate for its name, unless the URL
    /// itself says otherwise (`sslmode=` or `ssl-mode=`).
    pub fn parse(url: &str, base: &Path) -> Result<Self, DbError> {
        let bad = |why: String| DbError::Location { url: hide_password(url), why };
        let (scheme, rest) = url
            .split_once(':')
            .ok_or_else(|| bad("it begins with sqlite:, postgres:// or mysql://".to_owned()))?;
        let place = match scheme {
            "sqlite" => Place::Sqlite(sqlite_path(rest, base).map_err(|why| bad(why.to_owned()))?),
            "postgres" | "postgresql" => {
                let options =
                    PgConnectOptions::from_str(url).map_err(|err| bad(err.to_string()))?;
                let local = options.get_socket().is_some() || is_local(options.get_host());
                Place::Postgres(Box::new(if local || rest.contains("sslmode=") {
                    options
                } else {
                    options.ssl_mode(PgSslMode::VerifyFull)
                }))
            }
            "mysql" | "mariadb" => {
                let options = MySqlConnectOptions::from_str(&format!("mysql:{rest}"))
                    .map_err(|err| bad(err.to_string()))?;
                let local = options.get_socket().is_some() || is_local(options.get_host());
                let told = rest.contains("ssl-mode=") || rest.contains("sslmode=");
                Place::MariaDb(Box::new(if local || told {
                    options
                } else {
                    options.ssl_mode(MySqlSslMode::VerifyIdentity)
                }))
            }
            other => return Err(bad(format!("`{other}` is no engine known here"))),
        };
        let shown = match &place {
            Place::Sqlite(path) => format!("sqlite:{}", path.display()),
            Place::Postgres(_) | Place::MariaDb(_) => hide_password(url),
        };
        Ok(Self { lost_after: Duration::from_mins(1), shown, place })
    }

    pub const fn dialect(&self) -> Dialect {
        match self.place {
            Place::Sqlite(_) => Dialect::Sqlite,
            Place::Postgres(_) => Dialect::Postgres,
            Place::MariaDb(_) => Dialect::MariaDb,
        }
    }

    /// Returns the file, if the engine keeps one.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::Sqlite(path) => Some(path),
            Place::Postgres(_) | Place::MariaDb(_) => None,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({})", self.shown)
    }
}

fn sqlite_path(rest: &str, base: &Path) -> Result<PathBuf, &'static str> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() || path == ":memory:" {
        return Err("it names no file");
    }
    if path.contains('?') {
        return Err("parameters are not taken here");
    }
    Ok(base.join(path))
}

fn is_local(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.starts_with('/')
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Replaces what stands between `user:` and `@`.
fn hide_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let Some((user, host)) = authority.rsplit_once('@') else { return url.to_owned() };
    let name = user.split_once(':').map_or(user, |(name, _)| name);
    let mask = if user.contains(':') { ":***" } else { "" };
    format!("{scheme}://{name}{mask}@{host}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_file_lies_beside_the_configuration() {
        let base = Path::new("/etc/ittsu");
        for (url, file) in [
            ("sqlite:a.db", "/etc/ittsu/a.db"),
            ("sqlite://b/a.db", "/etc/ittsu/b/a.db"),
            ("sqlite:///var/a.db", "/var/a.db"),
            ("sqlite:/var/a.db", "/var/a.db"),
        ] {
            assert_eq!(Location::parse(url, base).unwrap().file(), Some(Path::new(file)));
        }
        assert!(Location::parse("sqlite::memory:", base).is_err());
        assert!(Location::parse("sqlite:a.db?mode=ro", base).is_err());
        assert!(Location::parse("oracle://x", base).is_err());
    }

    #[test]
    fn a_password_is_never_shown() {
        let place =
            Location::parse("postgres://bulk:secret@db.example/x?sslmode=require", Path::new("/"));
        assert_eq!(place.unwrap().to_string(), "postgres://bulk:***@db.example/x?sslmode=require");
        let bad = Location::parse("mysql://bulk:se:cr@et@db.example:port/x", Path::new("/"));
        assert!(!bad.unwrap_err().to_string().contains("cr@et"));
    }

    #[test]
    fn a_server_elsewhere_must_prove_its_name() {
        let Place::Postgres(far) =
            Location::parse("postgres://db.example/x", Path::new("/")).unwrap().place
        else {
            panic!("another engine")
        };
        assert!(matches!(far.get_ssl_mode(), PgSslMode::VerifyFull));
        let Place::MariaDb(far) =
            Location::parse("mysql://db.example/x", Path::new("/")).unwrap().place
        else {
            panic!("another engine")
        };
        assert!(matches!(far.get_ssl_mode(), MySqlSslMode::VerifyIdentity));
        let Place::Postgres(near) =
            Location::parse("postgres://127.0.0.1/x", Path::new("/")).unwrap().place
        else {
            panic!("another engine")
        };
        assert!(!matches!(near.get_ssl_mode(), PgSslMode::VerifyFull));
    }
}
