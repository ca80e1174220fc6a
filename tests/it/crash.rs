//! Workers killed again and again, at named places and at random moments, until all is sent.
//!
//! The real binary, four workers with 16 connections each, three policies; the judge is the mail
//! server's own synced journal. `ITTSU_CRASHES` sets how many workers are killed per engine (210),
//! `ITTSU_CRASH_SEED` repeats a run; the seed is printed.

mod driver;
mod judge;

use crate::support::engines::{Engine, Place, run};
use driver::Driver;

#[test]
fn no_crash_loses_or_doubles_a_mail_on_sqlite() {
    run(Engine::Sqlite, storm);
}

#[test]
fn no_crash_loses_or_doubles_a_mail_on_postgres() {
    run(Engine::Postgres, storm);
}

#[test]
fn no_crash_loses_or_doubles_a_mail_on_mariadb() {
    run(Engine::MariaDb, storm);
}

async fn storm(place: Place) {
    let mut driver = Driver::on(place).await;
    println!("ITTSU_CRASH_SEED={} ITTSU_CRASHES={}", driver.seed, driver.crashes_wanted);
    while !driver.is_satisfied() {
        let batches = driver.make_batches().await;
        driver.storm(&batches).await;
        driver.finish(&batches).await;
        for &(batch, policy) in &batches {
            judge::judge(&driver, batch, policy).await;
        }
    }
    driver.print();
}
