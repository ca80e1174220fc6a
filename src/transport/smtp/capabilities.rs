//! What a server said it can do in its answer to EHLO, for one connection only.

use super::reply::Reply;

/// What a server said it can do.
#[expect(clippy::struct_excessive_bools, reason = "each is one word of the answer to EHLO")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    pub pipelining: bool,
    pub eight_bit_mime: bool,
    pub smtp_utf8: bool,
    pub dsn: bool,
    pub start_tls: bool,
    /// Whether `SIZE=` may be said at MAIL; the limit itself is `None` when there is none.
    pub size: Option<Option<usize>>,
    pub plain: bool,
    pub login: bool,
}

impl Capabilities {
    /// Reads the answer to EHLO; words are compared without case (RFC 5321 section 2.4).
    pub fn read(reply: &Reply) -> Self {
        let mut found = Self::default();
        for line in reply.lines().skip(1) {
            let line = String::from_utf8_lossy(line).to_ascii_uppercase();
            // `AUTH=PLAIN LOGIN` is how servers older than RFC 2554 say it.
            let mut words = line.split([' ', '=']).filter(|word| !word.is_empty());
            match words.next() {
                Some("PIPELINING") => found.pipelining = true,
                Some("8BITMIME") => found.eight_bit_mime = true,
                Some("SMTPUTF8") => found.smtp_utf8 = true,
                Some("DSN") => found.dsn = true,
                Some("STARTTLS") => found.start_tls = true,
                Some("SIZE") => {
                    let limit = words.next().and_then(|word| word.parse().ok());
                    found.size = Some(limit.filter(|&limit| limit > 0));
                }
                Some("AUTH") => {
                    for mechanism in words {
                        found.plain |= mechanism == "PLAIN";
                        found.login |= mechanism == "LOGIN";
                    }
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Capabilities {
        Capabilities::read(&Reply { code: 250, bytes: bytes.to_vec() })
    }

    #[test]
    fn every_word_is_read_without_case() {
        let all = read(
            b"250-mx.example.test\r\n250-pipelining\r\n250-SIZE 1000\r\n250-8BITMIME\r\n\
              250-SMTPUTF8\r\n250-DSN\r\n250-STARTTLS\r\n250 AUTH plain LOGIN XOAUTH2",
        );
        assert_eq!(
            all,
            Capabilities {
                pipelining: true,
                eight_bit_mime: true,
                smtp_utf8: true,
                dsn: true,
                start_tls: true,
                size: Some(Some(1000)),
                plain: true,
                login: true,
            }
        );
    }

    #[test]
    fn the_name_in_the_first_line_is_no_word() {
        assert!(!read(b"250-PIPELINING\r\n250 8BITMIME").pipelining);
    }

    #[test]
    fn a_size_of_zero_or_none_is_no_limit() {
        assert_eq!(read(b"250-a\r\n250 SIZE 0").size, Some(None));
        assert_eq!(read(b"250-a\r\n250 SIZE").size, Some(None));
        assert_eq!(read(b"250 a").size, None);
    }

    #[test]
    fn the_old_spelling_of_auth_is_understood() {
        let old = read(b"250-a\r\n250-AUTH=LOGIN\r\n250 \xbc\xf6");
        assert!(old.login && !old.plain);
    }
}
