"""Random CreateAcls and DeleteAcls, each judged by the specification, which is written apart."""

from collections import Counter
from random import Random

import pytest

from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.specification import Specification
from kraftproof.cluster.systems.reference.requests import acls
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.core.base.config import AuthorizerPolicy
from kraftproof.node.wire.records.metadata import NoOpRecord
from tests.node.core.controller.desk import CLUSTER, Desk

POLICY = AuthorizerPolicy(super_users=("User:alice",))


@pytest.mark.requirement("631-23")
@pytest.mark.parametrize("has_authorizer", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_specification_agrees_with_each_change(seed: int, has_authorizer) -> None:
    random = Random(seed)
    desk = Desk.active(brokers=1, authorizer=POLICY if has_authorizer else None)
    specification = Specification(Facts(cluster_id=CLUSTER, has_authorizer=has_authorizer))
    vocabulary = Vocabulary(cluster_id=CLUSTER, brokers=(1,))
    image, seen = specification.empty, Counter[str]()
    for _ in range(200):
        request = random.choice((acls.create, acls.create, acls.delete))(random, vocabulary)
        end = desk.raft.log.end_offset
        answer = desk.ask(request)
        records = [
            record
            for batch in desk.raft.log.read(end, 1 << 40)
            for record in batch.records
            if not isinstance(record, NoOpRecord)
        ]
        asked, answered = specification.rows((request, answer))
        written = specification.rows(records)
        assert specification.wrong_records(image, end, asked, written) is None, request
        assert specification.wrong_answer(image, asked, written, answered) is None, request
        if records:
            kept = specification.wrong_records(image, end, asked, written[1:])
            assert kept is not None, "a lost record is found"
        image = specification.after(image, written)
        seen[type(request).__name__] += bool(written)
    assert {one.id for one in desk.image.acls.all_entries()} == set(image.acls)
    assert (min(seen.values()) > 10) is has_authorizer, seen
