"""The explanation of a generated history that is invalid; nothing of it may be lacking."""

from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.explanation import SubHistory
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import SequentialModel, models
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Verdict


def whole_proof(options: GenerateOptions) -> SubHistory:
    """Returns the sub-history that proves it; the linearization is there, and it is verified."""
    model, columns = models()[options.model], columns_of(generated_table(options))
    assert isinstance(model, SequentialModel)
    (judged,) = judge_columns(model, columns, CheckOptions())
    assert judged.verdict is Verdict.INVALID
    first_illegal = judged.findings[0].operation_index
    assert first_illegal is not None
    found = explain(model, judged.key, columns.operations(0), first_illegal)
    assert found.linearization is not None
    assert len(found.linearization) >= found.linearizable
    assert found.sub_history is not None
    assert found.sub_history.is_verified
    assert found.sub_history.is_minimal
    return found.sub_history
