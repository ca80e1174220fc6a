//! Reads a template from its file, with the HTML part that lies beside it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::error::OpsError;

/// A template as it stands in its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFile {
    pub text: String,
    /// `notice.html` beside `notice.txt`.
    pub html: Option<String>,
}

/// Reads a template; the HTML part is optional.
pub fn read(path: &Path) -> Result<TemplateFile, OpsError> {
    let html_path = path.with_extension("html");
    if html_path == path {
        return Err(OpsError::usage(format!("{} is the HTML part of a template", path.display()))
            .hint("name the text file beside it: the subject stands there"));
    }
    let text = utf8(path, fs::read(path).map_err(|err| unreadable(path, err))?)?;
    let html = match fs::read(&html_path) {
        Ok(bytes) => Some(utf8(&html_path, bytes)?),
        Err(err) if err.kind() == ErrorKind::NotFound => None,
        Err(err) => return Err(unreadable(&html_path, err)),
    };
    Ok(TemplateFile { text, html })
}

fn unreadable(path: &Path, err: std::io::Error) -> OpsError {
    let message = format!("the template {} cannot be read", path.display());
    match err.kind() {
        ErrorKind::NotFound => OpsError::missing(message).because(err),
        _ => OpsError::failed(message).because(err),
    }
}

/// Takes a byte order mark away; anything but UTF-8 is refused with its line.
fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, OpsError> {
    let text = String::from_utf8(bytes).map_err(|err| {
        let before = err.as_bytes().iter().take(err.utf8_error().valid_up_to());
        let line = before.filter(|&&byte| byte == b'\n').count() + 1;
        OpsError::usage(format!("{} line {line}: it is not UTF-8", path.display()))
            .hint("save the template as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::*;
    use crate::ops::error::Trouble;

    #[test]
    fn the_html_part_is_the_file_beside_the_text() {
        let dir = tempdir().unwrap();
        let text = dir.path().join("notice.txt");
        fs::write(&text, "\u{feff}Subject: a\n\nb\n").unwrap();
        assert_eq!(read(&text).unwrap().html, None);
        assert_eq!(read(&text).unwrap().text, "Subject: a\n\nb\n");
        fs::write(dir.path().join("notice.html"), "<p>b").unwrap();
        assert_eq!(read(&text).unwrap().html.as_deref(), Some("<p>b"));
        assert_eq!(read(&dir.path().join("notice.html")).unwrap_err().trouble, Trouble::Usage);
    }

    #[test]
    fn a_template_in_another_character_set_is_refused_with_its_line() {
        let dir = tempdir().unwrap();
        let text = dir.path().join("notice.txt");
        fs::write(&text, b"Subject: a\n\n\x93\xfa\x96{\n").unwrap();
        let err = read(&text).unwrap_err();
        assert!(err.message.ends_with("notice.txt line 3: it is not UTF-8"), "{err}");
        assert_eq!(read(&dir.path().join("none.txt")).unwrap_err().trouble, Trouble::Missing);
    }
}
