//! Keys against the pure console: nothing happens to a row without a question.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ittsu::console::keys::{GLOBAL, MOVES, layer};
use ittsu::console::message::{Deed, Effect, Msg};

use super::screens::{NAMES, app, at};
use super::seat::text;

fn press(code: KeyCode, modifiers: KeyModifiers) -> Msg {
    Msg::Key(KeyEvent::new(code, modifiers))
}

#[test]
fn no_key_of_any_screen_changes_anything_without_a_question_but_pausing() {
    for name in NAMES {
        for binding in layer(name).iter().chain(MOVES).chain(GLOBAL) {
            let mut app = at(name, 80, 24);
            let now = app.now;
            let effects = app.update(now, press(binding.code, binding.modifiers));
            for effect in effects {
                if let Effect::Do(deed) = effect {
                    let paused = matches!(*deed, Deed::Pause { .. });
                    assert!(paused, "{name:?} {}: {deed:?}", binding.spelled());
                }
            }
        }
    }
}

#[test]
fn every_letter_there_is_on_every_screen_does_no_harm_and_esc_and_enter_end_well() {
    for name in NAMES {
        let mut app = at(name, 80, 24);
        let now = app.now;
        let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain("ㅓか冬!?*/.,".chars());
        for letter in letters {
            for code in [KeyCode::Char(letter), KeyCode::Enter, KeyCode::Esc] {
                for effect in app.update(now, press(code, KeyModifiers::NONE)) {
                    if let Effect::Do(deed) = effect {
                        let asked = matches!(*deed, Deed::Pause { .. } | Deed::Save { .. });
                        assert!(asked, "{name:?} {letter}: {deed:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn pasting_a_whole_session_of_keys_runs_nothing() {
    for name in NAMES {
        let mut app = at(name, 80, 24);
        let now = app.now;
        let effects = app.update(now, Msg::Paste("p\u{1b}[18~1\r2\r\ny\r".to_owned()));
        assert!(effects.iter().all(|effect| !matches!(effect, Effect::Do(_))), "{effects:?}");
    }
}

#[test]
fn leaving_takes_two_presses_and_says_what_goes_on() {
    let mut app = app(80, 24);
    let now = app.now;
    let ctrl_c = || press(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(app.update(now, ctrl_c()), []);
    let mut buf = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 80, 24));
    ittsu::console::frame(&app, &mut buf);
    assert!(text(&buf).contains("Sending goes on without the console."));
    assert_eq!(app.update(now, ctrl_c()), [Effect::Quit]);
}
