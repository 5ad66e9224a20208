//! porcupine-rs on our histories: reads one or more files of JSON lines, then checks them all each
//! time that a line arrives on its input. One JSON object on its output for each: {"ready": true},
//! then {"seconds": ..., "invalid": how many are}. Only the check is timed, not the reading.

mod models;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::time::Instant;

use models::{Append, Counter, List, Queue, Recorded, Register, Set};
use porcupine_rs::{Model, Operation, check_operations};
use serde::Deserialize;
use serde_json::value::RawValue;

/// An indeterminate operation may take effect at any time after its invocation.
const NEVER: i64 = 1 << 62;

#[derive(Deserialize)]
struct Event<'a> {
    index: i64,
    process: i64,
    #[serde(rename = "type")]
    kind: &'a str,
    f: &'a str,
    #[serde(borrow)]
    key: Option<&'a RawValue>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
}

struct Invoked {
    index: i64,
    f: String,
    key: String,
    value: String,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() < 3 {
        fail("usage: peer MODEL FILE...");
    }
    let paths = &arguments[2..];
    match arguments[1].as_str() {
        "cas-register" => serve::<Register>(paths),
        "kv-append" => serve::<Append>(paths),
        "counter" => serve::<Counter>(paths),
        "queue" => serve::<Queue>(paths),
        "set" => serve::<Set>(paths),
        "list-append" => serve::<List>(paths),
        other => fail(&format!("no such model: {other}")),
    }
}

fn serve<M: Recorded>(paths: &[String]) {
    let histories: Vec<Vec<Operation<M>>> = paths.iter().map(|path| read::<M>(path)).collect();
    println!("{{\"ready\": true}}");
    for _ in stdin().lines() {
        let started = Instant::now();
        let invalid = histories.iter().filter(|history| !check_operations(history)).count();
        let seconds = started.elapsed().as_secs_f64();
        println!("{{\"seconds\": {seconds:.9}, \"invalid\": {invalid}}}");
    }
}

fn read<M: Recorded>(path: &str) -> Vec<Operation<M>> {
    let file = File::open(path).unwrap_or_else(|error| fail(&format!("{path}: {error}")));
    let mut open: HashMap<i64, Invoked> = HashMap::new();
    let mut history = Vec::new();
    for line in BufReader::with_capacity(1 << 20, file).lines() {
        let line = line.unwrap_or_else(|error| fail(&format!("{path}: {error}")));
        let event: Event =
            serde_json::from_str(&line).unwrap_or_else(|error| fail(&format!("{path}: {error}")));
        let value = event.value.map_or("null", RawValue::get).to_string();
        if event.kind == "invoke" {
            let key = event.key.map_or("null", RawValue::get).to_string();
            let (index, f) = (event.index, event.f.to_string());
            open.insert(event.process, Invoked { index, f, key, value });
        } else if let Some(invoked) = open.remove(&event.process) {
            match event.kind {
                "ok" => history.extend(operation::<M>(invoked, Some((event.index, value)))),
                "info" => history.extend(operation::<M>(invoked, None)),
                _ => (),
            }
        }
    }
    history.extend(open.into_values().filter_map(|invoked| operation::<M>(invoked, None)));
    history
}

fn operation<M: Recorded>(
    invoked: Invoked,
    completed: Option<(i64, String)>,
) -> Option<Operation<M>> {
    let answer = completed.as_ref().map(|(_, value)| value.as_str());
    let op = M::recorded(&invoked.key, &invoked.f, &invoked.value, answer)?;
    Some(Operation {
        client_id: None,
        call_time: invoked.index,
        return_time: completed.as_ref().map_or(NEVER, |(index, _)| *index),
        op,
        metadata: None,
    })
}

/// Parts a history by key.
pub fn by_key<M: Model>(history: &[Operation<M>], key: fn(&M::Op) -> &str) -> Vec<Vec<Operation<M>>> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut parts: Vec<Vec<Operation<M>>> = Vec::new();
    for operation in history {
        let place = *places.entry(key(&operation.op)).or_insert(parts.len());
        if place == parts.len() {
            parts.push(Vec::new());
        }
        parts[place].push(operation.clone());
    }
    parts
}

pub fn fail(problem: &str) -> ! {
    eprintln!("{problem}");
    std::process::exit(3);
}
