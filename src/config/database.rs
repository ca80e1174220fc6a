//! Addresses of databases: the ledger's and the sources'.

use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use super::Request;
use super::document::Node;
use super::reading::{Origin, Reading};
use super::secret::HIDDEN;
use super::section::Section;
use super::setting::{Setting, text};

/// Where a database is; a password in it is never printed.
#[derive(Clone)]
pub struct DatabaseUrl(SecretString);

impl DatabaseUrl {
    /// Reads `sqlite:FILE`, `postgres://…` or `mysql://…`; a relative file is relative to `folder`.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let expected = "expected sqlite:FILE, postgres://USER@HOST/NAME or mysql://USER@HOST/NAME";
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(format!("{expected}, got `{}`", hide_password(text)));
        };
        match scheme {
            "sqlite" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() || path.contains('?') || path == ":memory:" {
                    return Err("expected sqlite:FILE, with a file that lasts".to_owned());
                }
                Ok(Self::of(format!("sqlite:{}", folder.join(path).display())))
            }
            "postgres" | "postgresql" | "mysql" | "mariadb" => {
                let authority = rest.strip_prefix("//").filter(|rest| !rest.is_empty());
                if authority.is_none() {
                    return Err(expected.to_owned());
                }
                Ok(Self::of(text.to_owned()))
            }
            _ => Err(format!("{expected}, got `{}`", hide_password(text))),
        }
    }

    fn of(url: String) -> Self {
        Self(SecretString::from(url))
    }

    /// Returns the whole address, for the one who connects.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the file of an SQLite database.
    pub fn file(&self) -> Option<PathBuf> {
        self.expose().strip_prefix("sqlite:").map(PathBuf::from)
    }

    /// Reports whether a password stands in the address.
    pub fn holds_password(&self) -> bool {
        hide_password(self.expose()) != self.expose()
    }
}

/// Replaces the password of a URL by `***`, also where its text is not a proper URL.
pub fn hide_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            // A password may hold `/` or `@`: everything from the first `:` to the last `@`.
            let (before, query) = rest.split_once('?').map_or((rest, None), |(b, q)| (b, Some(q)));
            let shown = match before.rsplit_once('@') {
                Some((login, place)) => match login.split_once(':') {
                    Some((user, _)) => format!("{user}:{HIDDEN}@{place}"),
                    None => before.to_owned(),
                },
                None => before.to_owned(),
            };
            match query {
                Some(query) => format!("{scheme}://{shown}?{}", hide_parameters(query)),
                None => format!("{scheme}://{shown}"),
            }
        }
        None => url.to_owned(),
    }
}

fn hide_parameters(query: &str) -> String {
    let hide = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if name.to_lowercase().contains("pass") => format!("{name}={HIDDEN}"),
        // A `@` means that the `?` belongs to a password.
        _ if parameter.contains('@') => HIDDEN.to_owned(),
        _ => parameter.to_owned(),
    };
    query.split('&').map(hide).collect::<Vec<_>>().join("&")
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hide_password(self.expose()))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

impl Setting for DatabaseUrl {
    fn read(node: &Node, folder: &Path) -> Result<Self, String> {
        Self::parse(text(node, "an address such as \"sqlite:ittsu.db\"")?, folder)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Reads where the ledger is: a flag, a variable, the file, or `ittsu.db` beside the file.
pub(super) fn ledger(
    request: &Request,
    root: &mut Section<'_>,
    reading: &mut Reading<'_>,
) -> Option<DatabaseUrl> {
    let Some(flag) = &request.ledger else {
        let default =
            DatabaseUrl::of(format!("sqlite:{}", reading.folder.join("ittsu.db").display()));
        return Some(root.take_or(reading, "ledger", default).value);
    };
    let origin = Origin::Flag("--ledger");
    // What is typed is relative to where it is typed.
    match DatabaseUrl::parse(flag, &request.here) {
        Ok(url) => {
            if url.holds_password() {
                let what = "everybody on this machine can see a password in an argument; \
                            use ITTSU_LEDGER or the configuration file";
                reading.warn(&origin, what);
            }
            root.overrule(reading, "ledger", "--ledger", &url.to_string());
            Some(url)
        }
        Err(why) => {
            reading.problem(&origin, why);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_hidden_however_it_is_written() {
        for (url, shown) in [
            ("postgres://u:p@h/db", "postgres://u:***@h/db"),
            ("mysql://u:p/w@x@h:3306/db?a=b", "mysql://u:***@h:3306/db?a=b"),
            ("postgres://h/db?user=u&password=p", "postgres://h/db?user=u&password=***"),
            ("mysql://u:p?w@h/db", "mysql://u:p?***"),
            ("postgres://u@h/db", "postgres://u@h/db"),
        ] {
            assert_eq!(hide_password(url), shown);
        }
        let url = DatabaseUrl::parse("postgres://u:canary@h/db", Path::new("/")).unwrap();
        assert!(url.holds_password());
        assert!(!format!("{url} {url:?}").contains("canary"));
    }

    #[test]
    fn a_relative_ledger_is_relative_to_the_folder() {
        for text in ["sqlite:x.db", "sqlite://x.db"] {
            let url = DatabaseUrl::parse(text, Path::new("/etc/ittsu")).unwrap();
            assert_eq!(url.expose(), "sqlite:/etc/ittsu/x.db");
        }
        let url = DatabaseUrl::parse("sqlite:/var/x.db", Path::new("/etc")).unwrap();
        assert_eq!(url.file(), Some(PathBuf::from("/var/x.db")));
    }

    #[test]
    fn what_is_no_database_is_refused() {
        for text in ["ittsu.db", "sqlite:", "sqlite::memory:", "redis://x", "postgres:x"] {
            assert!(DatabaseUrl::parse(text, Path::new("/")).is_err(), "{text}");
        }
    }
}
