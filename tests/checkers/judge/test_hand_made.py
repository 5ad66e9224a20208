"""Histories written by hand in Jepsen's EDN, with the verdicts that were derived by hand."""

import json

import pytest
import typer
from typer.testing import CliRunner

from kraftproof.commands.check import check

app = typer.Typer()
app.command()(check)

TYPES = {"i": ":invoke", "o": ":ok", "f": ":fail", "?": ":info"}


def edn(steps):
    """EDN of steps such as "0i write 1": process and type, function, value; parted by ` / `."""
    lines = []
    for step in steps.split(" / "):
        who, f, value = step.strip().split(" ", 2)
        lines.append(f"{{:process {who[:-1]}, :type {TYPES[who[-1]]}, :f :{f}, :value {value}}}")
    return "\n".join(lines)


def done(f, asked, answered, process=0):
    return f"{process}i {f} {asked} / {process}o {f} {answered}"


def write(value, process=0):
    return done("write", value, value, process)


def read(value, process=1):
    return done("read", "nil", value, process)


def cas(old, new, process=2):
    return done("cas", f"[{old} {new}]", f"[{old} {new}]", process)


def txn(actions, process=0):
    return done("txn", actions, actions, process)


LOST = "0i write 1 / 0? write :timeout"
FAILED = "0i write 1 / 0f write 1"
OPEN_CAS = "3i cas [1 2] / 3? cas :timeout"

VERDICTS = {
    "a write is read": ("valid", write(1), read(1)),
    "a write is not read": ("invalid", write(1), read("nil")),
    "the first value is nil": ("valid", read("nil"), write(1)),
    "a read of what nobody wrote": ("invalid", write(1), read(2)),
    "a read during a write": ("valid", "0i write 1", read("nil"), read(1), "0o write 1"),
    "two reads against a write": ("invalid", "0i write 1", read(1), read("nil"), "0o write 1"),
    "what failed was read": ("invalid", FAILED, read(1)),
    "what failed was not read": ("valid", FAILED, read("nil")),
    "what was lost is read later": ("valid", LOST, read("nil"), read("nil"), read(1), read(1)),
    "what was lost is read and unread": ("invalid", LOST, read(1), read("nil")),
    "what was lost is never seen": ("valid", LOST, write(2, 4), read(2)),
    "what was lost comes after a write": ("valid", LOST, write(2, 4), read(2), read(1)),
    "what was lost comes once": ("invalid", LOST, read(1), write(2, 4), read(2), read(1)),
    "cas to the same value": ("valid", write(1), cas(1, 1), read(1)),
    "cas from another value": ("invalid", write(1), cas(2, 2), read(1)),
    "cas from nil": ("valid", cas("nil", 3), read(3)),
    "cas that failed though it fits": ("valid", write(1), "2i cas [1 2] / 2f cas [1 2]", read(1)),
    "cas that failed and was read": ("invalid", write(1), "2i cas [1 2] / 2f cas [1 2]", read(2)),
    "cas that was lost and is read": ("valid", write(1), OPEN_CAS, read(1), read(2)),
    "cas that was lost happens once": (
        "invalid",
        *(write(1), OPEN_CAS, read(2), write(1), read(1), read(2)),
    ),
    "cas that was lost and never fits": ("invalid", write(5), OPEN_CAS, read(2)),
    "two cas from one value": ("invalid", write(1), cas(1, 2), cas(1, 3)),
    "two cas at once from one value": (
        "invalid",
        *(write(1), "2i cas [1 2] / 3i cas [1 3] / 2o cas [1 2] / 3o cas [1 3]"),
    ),
    "cas there and back": ("valid", write(1), cas(1, 2), cas(2, 1), read(1)),
    "1 is no text": ("invalid", write('"1"'), read(1)),
    "1 is no decimal": ("invalid", write("1.0"), read(1)),
    "1N is 1": ("valid", write("1N"), read(1)),
    "beyond 64 bits": ("invalid", write(2**64), read(2**64 + 1)),
    "true is not 1": ("invalid", write("true"), read(1)),
    "a set in another order": ("valid", write("#{1 2}"), read("#{2 1}")),
    "a map in another order": ("valid", write("{:a 1, :b 2}"), read("{:b 2 :a 1}")),
    "a map with a namespace": ("valid", write("#:n{:a 1}"), read("{:n/a 1}")),
    "a vector in another order": ("invalid", write("[1 2]"), read("[2 1]")),
    "a ratio": ("valid", write("2/4"), read("1/2")),
    "a tagged literal": ("valid", write('#inst "2024"'), read('#inst "2024"')),
    "what is discarded": ("valid", write("#_ #_ 8 9 1"), read("1 #_{:a 2}")),
    "an object": ("valid", write('#object[a.B 0x1f "b"]'), read('#object[a.B 0x1f "b"]')),
    "keys apart": (
        "valid",
        *(done("write", "[1 5]", "[1 5]"), done("read", "[1 nil]", "[1 5]")),
        done("read", "[2 nil]", "[2 nil]"),
    ),
    "keys mixed up": (
        "invalid",
        *(done("write", "[1 5]", "[1 5]"), done("read", "[2 nil]", "[2 5]")),
    ),
    "keys and a cas": (
        "valid",
        *(done("write", "[:x 5]", "[:x 5]"), done("cas", "[:x [5 6]]", "[:x [5 6]]")),
        done("read", "[:x nil]", "[:x 6]"),
    ),
    "a key and what is lost": (
        "valid",
        *("0i write [1 5] / 0? write [:timeout 9]", done("read", "[1 nil]", "[1 5]", 1)),
    ),
    "a set is read": ("valid", done("add", 1, 1), done("read", "nil", "#{1}")),
    "a set lacks an element": ("invalid", done("add", 1, 1), done("read", "nil", "#{}")),
    "a set of nil lacks an element": ("invalid", done("add", 1, 1), done("read", "nil", "nil")),
    "a set has an element twice": ("invalid", done("add", 1, 1), done("read", "nil", "[1 1]")),
    "a set has what was lost": ("valid", "0i add 1 / 0? add 1", done("read", "nil", "#{1}", 1)),
    "a set loses what was lost": (
        "invalid",
        *("0i add 1 / 0? add 1", done("read", "nil", "#{1}", 1), done("read", "nil", "#{}", 1)),
    ),
    "a list is read": ("valid", txn("[[:append :x 1]]"), txn("[[:r :x [1]]]")),
    "a list is read in part": ("invalid", txn("[[:append :x 1]]"), txn("[[:r :x nil]]")),
    "two lists apart": ("valid", txn("[[:append :x 1]]"), txn("[[:r :y nil]]")),
    "a list by a txn without its f": (
        "invalid",
        *(txn("[[:append 1 1] [:append 1 2]]"), txn("[[:r 1 [2 1]]]")),
    ),
    "registers in a txn": ("valid", txn("[[:w :x 1] [:w :y 2]]"), txn("[[:r :x 1] [:r :y 2]]")),
    "registers torn": ("invalid", txn("[[:w :x 1] [:w :y 2]]"), txn("[[:r :x 1] [:r :y nil]]")),
    "only the nemesis": ("unknown", ":nemesis? start nil", ":nemesis? stop nil"),
    "a queue": ("valid", done("enqueue", 1, 1), done("dequeue", "nil", 1)),
    "a queue out of order": (
        "invalid",
        *(done("enqueue", 1, 1), done("enqueue", 2, 2), done("dequeue", "nil", 2)),
    ),
    "a lock held twice": ("invalid", *(done("acquire", "nil", "nil", one) for one in (0, 1))),
    "a lock given back": (
        "valid",
        *(
            done(f, "nil", "nil", one)
            for f, one in (("acquire", 0), ("release", 0), ("acquire", 1))
        ),
    ),
}


def complaints(errors):
    """Return the lines on standard error but for the progress of a first compilation."""
    return [line for line in errors.splitlines() if "compiling the engine" not in line]


@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict_is_the_one_that_was_derived(tmp_path, name):
    wanted, *steps = VERDICTS[name]
    path = tmp_path / "h.edn"
    path.write_text(edn(" / ".join(steps)))
    result = CliRunner().invoke(app, [str(path), "--engine", "inline", "--json"])
    assert (complaints(result.stderr), json.loads(result.stdout)["verdict"]) == ([], wanted)
    assert result.exit_code == {"valid": 0, "invalid": 1, "unknown": 2}[wanted]


@pytest.mark.parametrize("name", ["h.edn", "h.txt", "history"])
@pytest.mark.parametrize("spelling", ["[", "(", "tagged", "CRLF", "BOM", "commented"])
def test_the_verdict_is_that_of_every_spelling(tmp_path, name, spelling):
    text = edn(" / ".join([write(1), ":nemesis? start nil", read(2)]))
    spelled = {
        "[": f"[{text}]",
        "(": f"({text})",
        "tagged": text.replace("{:", "#jepsen.history.Op{:"),
        "CRLF": text.replace("\n", "\r\n"),
        "BOM": "\ufeff" + text,
        "commented": "; a history\n" + text.replace("\n", " ; an event\n#_{:a [1]}\n"),
    }
    path = tmp_path / name
    path.write_bytes(spelled[spelling].encode())
    result = CliRunner().invoke(app, [str(path), "--engine", "inline", "--json"])
    assert (complaints(result.stderr), json.loads(result.stdout)["verdict"]) == ([], "invalid")


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        (done("read", "nil", 5, '"p1"'), ":1: field process: Expected `int`, got `str`"),
        (done("read", "nil", 5, ":a"), ":1: field process: Expected `int`, got `str`"),
        (done("read", "[1 nil]", "[2 5]"), ":2: field key: 2 completes what was invoked under 1"),
        (
            done("read", "[1 nil]", "5"),
            ": the operations read alone tell no model: give --model (cas-register, counter)",
        ),
        (
            done("write", "[1 5]", "[1 5]") + " / 1i read nil / 2i read [1 nil]",
            ":3: field value: Expected [key value], got null:"
            " give --unkeyed if values name no keys",
        ),
        (
            done("write", "[1 5]", "[1 5]") + " / " + done("write", '["1" 5]', '["1" 5]'),
            ':4: field key: 1 and "1" are both keys here, and can\'t be told apart',
        ),
    ],
)
def test_what_would_be_misread_is_refused(tmp_path, steps, wanted):
    path = tmp_path / "h.edn"
    path.write_text(edn(steps))
    result = CliRunner().invoke(app, [str(path), "--engine", "inline", "--json"])
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == f"kraftproof check: {path}{wanted}\n"
