//! A music player on a terminal: a program in Rust that calls the service by D-Bus, without a library of defaultsd.
//!
//!     cargo build
//!     target/debug/player            # prints "shuffle 50%" now and after each change
//!     target/debug/player toggle     # turns shuffle on or off
//!
//! On Debian this needs libdbus-1-dev and pkg-config. The manual page org.defaultsd.Defaults1(5) describes every call.
//! The bus starts the service at the first one.

use dbus::arg::{Arg, Get, Variant};
use dbus::blocking::{LocalConnection, Proxy};
use dbus::message::MatchRule;
use dbus::Error;
use std::{cell::Cell, collections::HashMap, env, process::ExitCode, rc::Rc, time::Duration};

const SERVICE: &str = "org.defaultsd.Defaults1";
const OBJECT: &str = "/org/defaultsd/Defaults1";
const PLAYER: &str = "org.example.Player";

type Service<'a> = Proxy<'a, &'a LocalConnection>;

/// A missing value is an error of the service, and none of this program.
fn or_fallback<T>(result: Result<T, Error>, fallback: T) -> Result<T, Error> {
    match result {
        Err(error) if error.name() == Some("org.defaultsd.Defaults1.Error.NotFound") => {
            Ok(fallback)
        }
        result => result,
    }
}

/// The value that applies. It comes from the first layer that has the key: the administrator's, the user's own, the
/// vendor's.
fn value<T: Arg + for<'a> Get<'a>>(service: &Service, key: &str, fallback: T) -> Result<T, Error> {
    let result = service.method_call(SERVICE, "LookupValue", (PLAYER, key));
    or_fallback(
        result.map(|(value, _layer): (Variant<T>, String)| value.0),
        fallback,
    )
}

fn toggle(service: &Service) -> Result<(), Error> {
    loop {
        let stored = service.method_call(SERVICE, "GetValue", (PLAYER, "Shuffle"));
        let stored = stored.map(|(_value, generation): (Variant<bool>, u64)| generation);
        let generation = or_fallback(stored, 0)?;
        let set = HashMap::from([("Shuffle", Variant(!value(service, "Shuffle", false)?))]);
        // If another program has changed the key since, its generation is not the same any more.
        let expected = HashMap::from([("Shuffle", generation)]);
        let (remove, options) = (Vec::<&str>::new(), HashMap::<&str, Variant<bool>>::new());
        let change = (PLAYER, set, remove, expected, options);
        match service.method_call(SERVICE, "ApplyValues", change) {
            Err(error) if error.name() == Some("org.defaultsd.Defaults1.Error.Conflict") => {
                continue
            }
            result => return result.map(|(_generation,): (u64,)| ()),
        }
    }
}

fn line(service: &Service) -> Result<String, Error> {
    let mode = if value(service, "Shuffle", false)? {
        "shuffle"
    } else {
        "in order"
    };
    Ok(format!(
        "{mode} {:.0}%",
        value(service, "Volume", 0.5)? * 100.0
    ))
}

fn follow(connection: &LocalConnection, service: &Service) -> Result<(), Error> {
    let rules = [
        MatchRule::new_signal(SERVICE, "Changed").with_sender(SERVICE),
        // A service that was started again may have changes whose signals were lost with the old one.
        MatchRule::new_signal("org.freedesktop.DBus", "NameOwnerChanged"),
    ];
    // The rules come before the first read, so no change between both is missed.
    let is_changed = Rc::new(Cell::new(true));
    for rule in rules {
        let is_changed = is_changed.clone();
        connection.add_match(rule, move |(subject,): (String,), _, _| {
            is_changed.set(is_changed.get() || subject == PLAYER || subject == SERVICE);
            true
        })?;
    }
    let mut printed = String::new();
    loop {
        if is_changed.take() {
            let line = line(service)?;
            if line != printed {
                println!("{line}");
                printed = line;
            }
        }
        connection.process(Duration::from_secs(3600))?;
    }
}

fn run() -> Result<(), Error> {
    let connection = LocalConnection::new_session()?;
    let service = connection.with_proxy(SERVICE, OBJECT, Duration::from_secs(25));
    match env::args().nth(1).as_deref() {
        Some("toggle") => toggle(&service),
        _ => follow(&connection, &service),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The service says in a sentence what is wrong, for example that the key is locked.
            eprintln!("player: {}", error.message().unwrap_or("unknown error"));
            ExitCode::FAILURE
        }
    }
}
