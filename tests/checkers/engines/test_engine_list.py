"""`kraftproof list engines`: our engines and installed ones, with the models that each accepts."""

import json

import pytest

from kraftproof.checkers.engines.own import OWN
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import ColumnarModel, model_named
from kraftproof.cli import run
from tests.checkers.engines.test_engine_plugins import TICKETS

GROWING = {"add": 1.0, "read": 1.0}


@pytest.mark.parametrize(("model", "mix"), [*((name, None) for name in SUBJECTS), ("set", GROWING)])
def test_an_engine_names_the_models_whose_calls_it_accepts(model, mix):
    made = generated_table(GenerateOptions(model=model, operations=20, values=None, mix=mix))
    columnar = model_named(model)
    assert isinstance(columnar, ColumnarModel)
    (engine,) = (one for one in OWN if one.accepts(columnar.calls_of(columns_of(made))))
    assert model in engine.models
    assert engine.name == "growing-set" or mix is None


def test_the_list_has_our_engines_and_installed_ones_with_their_models(install, capsys):
    install("ticketing", TICKETS, "ticket", "TicketEngine")
    assert run(["list", "engines", "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)["engines"]}
    assert listed["ticket"] == {
        "name": "ticket",
        "summary": "Dispensers of numbers: the numbers give the order.",
        "source": "ticketing 1.0",
        "models": ["tickets"],
    }
    assert listed["register"]["models"] == ["cas-register", "map"]
    named = {model for engine in OWN for model in engine.models}
    assert named == set(SUBJECTS)
