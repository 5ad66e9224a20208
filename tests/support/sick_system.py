"""The key-value server of examples/kv, with a second node that falls ill."""

from dataclasses import replace
from pathlib import Path

from kraftproof.cluster.plugin_file import loaded_from_file

KV = type(
    loaded_from_file("system", f"{Path(__file__).parents[2] / 'examples/kv/system.py'}:KV", ())
)

SICK = """
import os, pathlib, runpy, sys, threading, time

def panic():
    time.sleep(3)
    print("panic: the store is broken", flush=True)

def quit():
    time.sleep(3)
    print("no more", flush=True)
    os._exit(3)

def flood():
    print("the first line", flush=True)
    for _ in range(96):
        print(("retry " * 20 + "\\n") * 8192, end="", flush=True)
        time.sleep(0.03)
    print("the store is broken", flush=True)

def once():
    marker = pathlib.Path("started")
    if marker.exists():
        print("the store is there already", flush=True)
        os._exit(3)
    marker.touch()

illness = {"panic": panic, "quit": quit, "once": once, "flood": flood}[sys.argv.pop(1)]
illness() if illness is once else threading.Thread(target=illness, daemon=True).start()
runpy.run_path("server.py", run_name="__main__")
"""


class _Sick(KV):
    illness = ""

    def deployment(self, site):
        healthy = super().deployment(site)
        if site.node.node_id != 2:
            return healthy
        python, _, *words = healthy.command
        return replace(
            healthy,
            command=(python, "sick.py", self.illness, *words),
            files={**healthy.files, "sick.py": SICK},
        )


class Panics(_Sick):
    """Prints a panic after three seconds, and goes on."""

    name = "panics"
    illness = "panic"


class Quits(_Sick):
    """Ends after three seconds."""

    name = "quits"
    illness = "quit"


class StartsOnce(_Sick):
    """Ends at its second start."""

    name = "starts-once"
    illness = "once"


class Floods(_Sick):
    """Prints about 95 MB in a loop, and goes on."""

    name = "floods"
    illness = "flood"
    fatal_output = ("^the store is broken",)


class PanicsInVersion(Panics):
    """Panics in the version `ill`, not in the version `healthy`."""

    name = "panics-in-version"

    def refuse_version(self, options):
        assert options.system_version in {"ill", "healthy"}

    def deployment(self, site):
        is_ill = site.options.system_version == "ill"
        return super().deployment(site) if is_ill else KV.deployment(self, site)


LATE = """
import os, pathlib, runpy, sys, threading, time

def write():
    for _ in range(1000):
        time.sleep(0.1)
        try:
            pathlib.Path("data/file").write_bytes(b"x" * 4096)
        except OSError as error:
            print(f"INFO failed: {error}", flush=True)
            time.sleep(10)
            print(last_words.format(error=error), flush=True)
            os._exit(1)

last_words = sys.argv.pop(1)
threading.Thread(target=write, daemon=True).start()
runpy.run_path("server.py", run_name="__main__")
"""


class EndsLate(_Sick):
    """Ends ten seconds after the first failure of its disk, and says why."""

    name = "ends-late"
    last_words = "fatal: {error}\n  at the log\nINFO stopped"

    def deployment(self, site):
        healthy = KV.deployment(self, site)
        python, _, *words = healthy.command
        return replace(
            healthy,
            command=(python, "late.py", self.last_words, *words),
            files={**healthy.files, "late.py": LATE},
            data=("data",),
        )


class EndsOtherwise(EndsLate):
    """Ends ten seconds after the first failure of its disk, for another reason."""

    name = "ends-otherwise"
    last_words = "no more"
