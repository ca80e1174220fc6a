//! The harness itself: what a test may rely on.

use sqlx::{Connection, MySqlConnection, PgConnection};

use crate::support::engines::{Engine, Place, on_every_engine};

on_every_engine! { a_test_has_a_database_and_a_folder_of_its_own, a_dropped_place_leaves_nothing }

async fn a_test_has_a_database_and_a_folder_of_its_own(place: Place) {
    let other = Place::on(place.engine).await;
    assert_ne!(place.url, other.url);
    assert!(place.path("x").parent().is_some_and(std::path::Path::is_dir));
    assert_ne!(place.path("x"), other.path("x"));
    assert!(reaches(&place).await && reaches(&other).await);
}

async fn a_dropped_place_leaves_nothing(place: Place) {
    let gone = Place::on(place.engine).await;
    let (url, folder) = (gone.url.clone(), gone.path(""));
    // A transaction that is still open must not keep the database.
    let held = match place.engine {
        Engine::MariaDb => {
            let mut held = MySqlConnection::connect(&url).await.unwrap();
            sqlx::raw_sql("create table t (a bigint); begin; insert into t values (1)")
                .execute(&mut held)
                .await
                .unwrap();
            Some(held)
        }
        Engine::Sqlite | Engine::Postgres => None,
    };
    drop(gone);
    drop(held);
    assert!(!folder.exists());
    match place.engine {
        Engine::Sqlite => {}
        Engine::Postgres => assert!(PgConnection::connect(&url).await.is_err()),
        Engine::MariaDb => assert!(MySqlConnection::connect(&url).await.is_err()),
    }
}

async fn reaches(place: &Place) -> bool {
    match place.engine {
        Engine::Sqlite => true,
        Engine::Postgres => PgConnection::connect(&place.url).await.is_ok(),
        Engine::MariaDb => MySqlConnection::connect(&place.url).await.is_ok(),
    }
}
