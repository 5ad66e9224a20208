//! Models of ours in porcupine-rs's terms. A call without an answer is legal in every state: one
//! that never took effect stands at the end, where nothing can tell.

use std::sync::Arc;

use porcupine_rs::{Model, Operation};

use crate::{by_key, fail};

/// A model whose operations can be read from a history.
pub trait Recorded: Model {
    /// Makes an operation of raw JSON values; None for one that constrains nothing.
    fn recorded(key: &str, f: &str, input: &str, output: Option<&str>) -> Option<Self::Op>;
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    Read,
    Write,
    Cas,
    Add,
    AddAndGet,
    Put,
    Append,
    Enqueue,
    Dequeue,
}

fn function(f: &str) -> Function {
    match f {
        "read" | "get" => Function::Read,
        "write" => Function::Write,
        "cas" => Function::Cas,
        "add" => Function::Add,
        "add-and-get" => Function::AddAndGet,
        "put" => Function::Put,
        "append" => Function::Append,
        "enqueue" => Function::Enqueue,
        "dequeue" => Function::Dequeue,
        other => fail(&format!("no such operation: {other}")),
    }
}

/// A call on one key: A is what it is asked, B what it answers.
#[derive(Clone, Debug)]
pub struct Call<A, B> {
    key: Arc<str>,
    f: Function,
    asked: A,
    answer: Option<B>,
}

fn parsed<T: for<'a> serde::Deserialize<'a>>(json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|error| fail(&format!("{json}: {error}")))
}

/// Implements a model over `Call`s, parted by key.
macro_rules! keyed_model {
    ($name:ident, $state:ty, $initial:expr, $asked:ty, $answer:ty, $step:ident) => {
        #[derive(Clone)]
        pub struct $name;

        impl Model for $name {
            type State = $state;
            type Op = Call<$asked, $answer>;
            type Metadata = ();

            fn partition_operations(history: &[Operation<Self>]) -> Vec<Vec<Operation<Self>>> {
                by_key(history, |call| &call.key)
            }

            fn init() -> Self::State {
                $initial
            }

            fn step(state: &Self::State, call: &Self::Op) -> (bool, Self::State) {
                $step(state, call)
            }
        }
    };
}

type Number = Option<i64>;

keyed_model!(Register, Number, None, (Number, Number), Number, register);
keyed_model!(Counter, i64, 0, Number, Number, counter);
keyed_model!(Queue, Arc<[i64]>, Arc::from([]), Number, Number, queue);
keyed_model!(Append, Arc<str>, Arc::from(""), String, String, append);
keyed_model!(Set, Arc<[bool]>, Arc::from([]), Number, Vec<i64>, set);
keyed_model!(List, Arc<[i64]>, Arc::from([]), Number, Vec<i64>, list);

fn register(state: &Number, call: &Call<(Number, Number), Number>) -> (bool, Number) {
    match call.f {
        Function::Read => (call.answer == Some(*state), *state),
        Function::Write => (true, call.asked.1),
        _ if call.asked.0 == *state => (true, call.asked.1),
        _ => (call.answer.is_none(), *state),
    }
}

impl Recorded for Register {
    fn recorded(key: &str, f: &str, input: &str, output: Option<&str>) -> Option<Self::Op> {
        let f = function(f);
        if f == Function::Read && output.is_none() {
            return None;
        }
        let asked = match f {
            Function::Cas => parsed::<(Number, Number)>(input),
            Function::Write => (None, parsed(input)),
            _ => (None, None),
        };
        let answer = output.map(|text| if f == Function::Read { parsed(text) } else { None });
        Some(Call { key: key.into(), f, asked, answer })
    }
}

fn numbered(key: &str, f: &str, input: &str, output: Option<&str>) -> Option<Call<Number, Number>> {
    let f = function(f);
    if f == Function::Read && output.is_none() {
        return None;
    }
    let is_asked = !matches!(f, Function::Read | Function::Dequeue);
    let is_told = matches!(f, Function::Read | Function::Dequeue | Function::AddAndGet);
    Some(Call {
        key: key.into(),
        f,
        asked: if is_asked { parsed(input) } else { None },
        answer: output.map(|text| if is_told { parsed(text) } else { None }),
    })
}

fn counter(state: &i64, call: &Call<Number, Number>) -> (bool, i64) {
    if call.f == Function::Read {
        return (call.answer == Some(Some(*state)), *state);
    }
    let sum = state + call.asked.unwrap_or(0);
    let is_legal = call.f == Function::Add || call.answer.is_none_or(|told| told == Some(sum));
    (is_legal, sum)
}

impl Recorded for Counter {
    fn recorded(key: &str, f: &str, input: &str, output: Option<&str>) -> Option<Self::Op> {
        numbered(key, f, input, output)
    }
}

fn queue(state: &Arc<[i64]>, call: &Call<Number, Number>) -> (bool, Arc<[i64]>) {
    if call.f == Function::Enqueue {
        return (true, state.iter().copied().chain(call.asked).collect());
    }
    match (state.first(), call.answer) {
        (None, told) => (told.is_none_or(|found| found.is_none()), state.clone()),
        (Some(_), None) => (true, state[1..].into()),
        (Some(first), Some(told)) if told == Some(*first) => (true, state[1..].into()),
        _ => (false, state.clone()),
    }
}

impl Recorded for Queue {
    fn recorded(key: &str, f: &str, input: &str, output: Option<&str>) -> Option<Self::Op> {
        numbered(key, f, input, output)
    }
}

fn append(state: &Arc<str>, call: &Call<String, String>) -> (bool, Arc<str>) {
    match call.f {
        Function::Read => (call.answer.as_deref() == Some(&**state), state.clone()),
        Function::Put => (true, call.asked.as_str().into()),
        _ => (true, format!("{state}{}", call.asked).into()),
    }
}

impl Recorded for Append {
    fn recorded(key: &str, f: &str, input: &str, output: Option<&str>) -> Option<Self::Op> {
        let f = function(f);
        if f == Function::Read && output.is_none() {
            return None;
        }
        let text = |json: &str| parsed::<Option<String>>(json).unwrap_or_default();
        let asked = if f == Function::Read { String::new() } else { text(input) };
        Some(Call { key: key.into(), f, asked, answer: output.map(text) })
    }
}

fn with_element(members: &[bool], element: usize) -> Arc<[bool]> {
    let mut found = members.to_vec();
    found.resize(found.len().max(element + 1), false);
    found[element] = true;
    found.into()
}

fn set(state: &Arc<[bool]>, call: &Call<Number, Vec<i64>>) -> (bool, Arc<[bool]>) {
    if call.f == Function::Add {
        return (true, with_element(state, call.asked.unwrap_or(0) as usize));
    }
    let told = call.answer.as_deref().unwrap_or_default();
    let has_all = told.iter().all(|one| state.get(*one as usize) == Some(&true));
    (has_all && told.len() == state.iter().filter(|is_in| **is_in).count(), state.clone())
}

/// A call that adds a number, or reads all that there are.
fn collected(
    key: &str,
    f: &str,
    input: &str,
    output: Option<&str>,
) -> Option<Call<Number, Vec<i64>>> {
    let f = function(f);
    if f == Function::Read && output.is_none() {
        return None;
    }
    let asked = if f == Function::Read { None } else { parsed(input) };
    let answer = output.map(|text| if f == Function::Read { parsed(text) } else { vec![] });
    Some(Call { key: key.into(), f, asked, answer })
}

impl Recorded for Set {
    fn recorded(key: &str, f: &str, input: &str, output: Option<&str>) -> Option<Self::Op> {
        collected(key, f, input, output)
    }
}

fn list(state: &Arc<[i64]>, call: &Call<Number, Vec<i64>>) -> (bool, Arc<[i64]>) {
    if call.f == Function::Append {
        return (true, state.iter().copied().chain(call.asked).collect());
    }
    (call.answer.as_deref() == Some(state), state.clone())
}

impl Recorded for List {
    fn recorded(key: &str, f: &str, input: &str, output: Option<&str>) -> Option<Self::Op> {
        collected(key, f, input, output)
    }
}
