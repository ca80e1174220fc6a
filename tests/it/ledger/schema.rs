//! The three schemas agree, and a ledger opens only where it can be understood.

use ittsu::db::Open;
use ittsu::ledger::{Ledger, LedgerError};

use crate::support::engines::{Place, on_every_engine};
use crate::support::ledgers::location;

on_every_engine! { a_ledger_is_made_once_and_opens_again, only_a_creating_command_makes_a_ledger }

async fn a_ledger_is_made_once_and_opens_again(place: Place) {
    let first = Ledger::open(&location(&place), Open::Create).await.unwrap();
    let again = Ledger::open(&location(&place), Open::Create).await.unwrap();
    let existing = Ledger::open(&location(&place), Open::Existing).await.unwrap();
    let reading = Ledger::open(&location(&place), Open::ReadOnly).await.unwrap();
    for other in [&again, &existing, &reading] {
        assert_eq!((first.id(), first.mac_key()), (other.id(), other.mac_key()));
    }
}

async fn only_a_creating_command_makes_a_ledger(place: Place) {
    for open in [Open::Existing, Open::ReadOnly] {
        let err = Ledger::open(&location(&place), open).await.unwrap_err();
        assert!(matches!(err, LedgerError::Missing(_) | LedgerError::Db(_)), "{err:?}");
        assert!(err.to_string().contains("there is no ledger at"), "{err}");
    }
}
