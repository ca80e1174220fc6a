//! The people of the demo: invented members in three languages.
//!
//! Every address lies under `.example`, which RFC 2606 reserves: none of them can exist. The
//! local part tells the built-in mail server how to treat the person.

use std::fmt::Write as _;

use crate::domain::state::words;

words! {
    /// How the built-in mail server treats a person.
    Fate {
        /// Takes the mail.
        Taken = "",
        /// Says at once that there is no such mailbox.
        Gone = "gone",
        /// Says "not now" at the first try.
        Later = "greylist",
        /// Takes the mail and hangs up before it says so.
        Silent = "silent",
        /// Reads the mail and hangs up without having taken it.
        Dropped = "dropped",
        /// Takes the mail and answers only after a while.
        Slow = "slow",
    }
}

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub number: u32,
    pub name: String,
    pub address: String,
}

/// A language of the demo, with the names and words its list is made of.
#[derive(Clone, Copy, Debug)]
pub struct Folk {
    pub family: &'static [(&'static str, &'static str)],
    pub given: &'static [(&'static str, &'static str)],
    pub domains: &'static [&'static str],
    /// Column heads: number, name, address.
    pub heads: [&'static str; 3],
    pub first_number: u32,
    /// What stands between family name and given name, and which comes first.
    pub order: Order,
}

/// The order of names.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    FamilyBlankGiven,
    FamilyGiven,
    GivenBlankFamily,
}

pub const JAPANESE: Folk = Folk {
    family: &[
        ("佐藤", "sato"),
        ("鈴木", "suzuki"),
        ("髙橋", "takahashi"),
        ("田中", "tanaka"),
        ("伊藤", "ito"),
        ("渡辺", "watanabe"),
        ("山﨑", "yamazaki"),
        ("中村", "nakamura"),
        ("小林", "kobayashi"),
        ("加藤", "kato"),
    ],
    given: &[
        ("花子", "hanako"),
        ("太郎", "taro"),
        ("さくら", "sakura"),
        ("健一", "kenichi"),
        ("美咲", "misaki"),
        ("翔太", "shota"),
        ("陽子", "yoko"),
        ("大輔", "daisuke"),
        ("結衣", "yui"),
        ("誠", "makoto"),
    ],
    domains: &["mail.example", "keitai.example", "kaisha.example"],
    heads: ["会員番号", "氏名", "メールアドレス"],
    first_number: 100_001,
    order: Order::FamilyBlankGiven,
};

pub const KOREAN: Folk = Folk {
    family: &[
        ("김", "kim"),
        ("이", "lee"),
        ("박", "park"),
        ("최", "choi"),
        ("정", "jung"),
        ("강", "kang"),
        ("조", "cho"),
        ("윤", "yoon"),
        ("장", "jang"),
        ("임", "lim"),
    ],
    given: &[
        ("서연", "seoyeon"),
        ("도현", "dohyun"),
        ("수민", "sumin"),
        ("지우", "jiwoo"),
        ("민준", "minjun"),
        ("하은", "haeun"),
        ("예준", "yejun"),
        ("지호", "jiho"),
        ("유진", "yujin"),
        ("현우", "hyunwoo"),
    ],
    domains: &["pyeonji.example", "hoesa.example", "mail.example"],
    heads: ["회원번호", "이름", "이메일"],
    first_number: 700_001,
    order: Order::FamilyGiven,
};

pub const ENGLISH: Folk = Folk {
    family: &[
        ("Reed", "reed"),
        ("Lopez", "lopez"),
        ("Walker", "walker"),
        ("Nguyen", "nguyen"),
        ("O'Brien", "obrien"),
        ("Fischer", "fischer"),
        ("Okafor", "okafor"),
        ("Hill", "hill"),
        ("Novak", "novak"),
        ("Shah", "shah"),
    ],
    given: &[
        ("Tom", "tom"),
        ("Maria", "maria"),
        ("Ann", "ann"),
        ("David", "david"),
        ("Grace", "grace"),
        ("Lena", "lena"),
        ("Samuel", "samuel"),
        ("Ruth", "ruth"),
        ("Peter", "peter"),
        ("Ines", "ines"),
    ],
    domains: &["post.example", "letters.example", "mail.example"],
    heads: ["member_no", "name", "email"],
    first_number: 1,
    order: Order::GivenBlankFamily,
};

impl Folk {
    /// Invents `many` people; `chance` decides names, `fate` what the server does to whom.
    pub fn invent(
        &self,
        many: u32,
        chance: &mut fastrand::Rng,
        fate: impl Fn(u32) -> Fate,
    ) -> Vec<Person> {
        (0..many).map(|place| self.person(place, chance, fate(place))).collect()
    }

    fn person(&self, place: u32, chance: &mut fastrand::Rng, fate: Fate) -> Person {
        let (family, family_ascii) = self.family[chance.usize(..self.family.len())];
        let (given, given_ascii) = self.given[chance.usize(..self.given.len())];
        let domain = self.domains[chance.usize(..self.domains.len())];
        let number = self.first_number + place;
        let name = match self.order {
            Order::FamilyBlankGiven => format!("{family} {given}"),
            Order::FamilyGiven => format!("{family}{given}"),
            Order::GivenBlankFamily => format!("{given} {family}"),
        };
        let mark = match fate {
            Fate::Taken => String::new(),
            other => format!("{other}."),
        };
        let address = format!("{mark}{given_ascii}.{family_ascii}.{number}@{domain}");
        Person { number, name, address }
    }

    /// Writes a list as a member system would export it.
    pub fn csv(&self, people: &[Person]) -> String {
        let mut text = format!("{}\r\n", self.heads.join(","));
        for Person { number, name, address } in people {
            // Writing to a string cannot fail.
            let _ = write!(text, "{number},{name},{address}\r\n");
        }
        text
    }
}

/// Returns the fate that an address carries.
pub fn fate_of(address: &str) -> Fate {
    let first = address.split('.').next().unwrap_or_default();
    Fate::from_word(first).unwrap_or(Fate::Taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_invents_the_same_people() {
        let invent =
            |seed| JAPANESE.invent(50, &mut fastrand::Rng::with_seed(seed), |_| Fate::Taken);
        assert_eq!(invent(7), invent(7));
        assert_ne!(invent(7), invent(8));
    }

    #[test]
    fn an_address_carries_its_fate_and_lies_under_example() {
        for folk in [JAPANESE, KOREAN, ENGLISH] {
            for &fate in Fate::ALL {
                let people = folk.invent(20, &mut fastrand::Rng::with_seed(1), |_| fate);
                assert!(people.iter().all(|person| fate_of(&person.address) == fate));
                assert!(people.iter().all(|person| person.address.ends_with(".example")));
            }
        }
    }
}
