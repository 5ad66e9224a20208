"""Answers about a state of one writer, by versions: order, newest, latest, and lost results."""

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.administration.acls import Acls
from kraftproof.checkers.models.administration.credentials import Credentials
from kraftproof.checkers.options import CheckOptions

KEY = "k-"


def operation(index, f, begin, end, asked=None, told=None, *, status="ok", node=1):
    return Operation(
        index=index,
        process=index,
        f=f,
        key=KEY,
        input=asked,
        output=told,
        status=status,
        invoke_time=begin,
        complete_time=end,
        node=node,
        invoke_index=2 * index,
    )


def entry(permission="allow", operation_="describe", pattern="literal", topic="k-a", user="ann"):
    return {
        "user": user,
        "operation": operation_,
        "permission": permission,
        "pattern": pattern,
        "topic": topic,
    }


def question(kind="describe", topic="k-a", user="ann"):
    return {"user": user, "operation": kind, "topic": topic}


def grant(index, begin, end, one, **more):
    return operation(index, "grant", begin, end, one, {"outcome": "granted"}, **more)


def revoke(index, begin, end, one, **more):
    return operation(index, "revoke", begin, end, one, {"outcome": "revoked"}, **more)


def ask(index, begin, end, allowed, one=None, f="ask", **more):
    return operation(index, f, begin, end, one or question(), {"allowed": allowed}, **more)


def checks(*operations):
    model = Acls()
    for one in operations:
        model.validate(one)
    return [finding.check for finding in model.check(KEY, operations, CheckOptions())]


GRANTED = grant(0, 10, 20, entry())


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (ask(1, 0, 5, False), []),
        (ask(1, 0, 5, True), ["acls/known"]),
        (ask(1, 12, 15, True), []),
        (ask(1, 30, 40, False), []),
        (ask(1, 30, 40, True), []),
        (ask(1, 30, 40, False, f="final"), ["acls/latest"]),
        (ask(1, 30, 40, True, f="final"), []),
    ],
)
def test_a_broker_may_be_late_but_not_at_the_end(answer, found):
    assert checks(GRANTED, answer) == found


def test_a_broker_never_goes_back():
    later = ask(2, 50, 60, False)
    assert checks(GRANTED, ask(1, 30, 40, True), later) == ["acls/order"]
    assert checks(GRANTED, ask(1, 30, 40, True), ask(2, 35, 60, False)) == []
    assert checks(GRANTED, ask(1, 30, 40, True), ask(2, 50, 60, False, node=2)) == []


def test_the_order_holds_over_all_users_of_a_broker():
    other = grant(1, 21, 25, entry(user="bob"))
    early = ask(3, 50, 60, False)
    seen = ask(2, 30, 40, True, question(user="bob"))
    assert checks(GRANTED, other, seen, early) == ["acls/order"]


def test_the_controller_answers_from_the_newest_entries():
    altered = grant(0, 10, 20, entry(operation_="alter"))
    late = ask(1, 30, 40, False, question("alter"))
    assert checks(altered, late) == ["acls/newest"]
    assert checks(altered, ask(1, 15, 40, False, question("alter"))) == []
    assert checks(altered, ask(1, 30, 40, True, question("alter"))) == []


def test_a_change_without_a_result_may_take_effect_or_not():
    lost = grant(0, 10, None, entry(), status="info")
    assert checks(lost, ask(1, 30, 40, True), ask(2, 50, 60, True)) == []
    assert checks(lost, ask(1, 30, 40, False, f="final")) == []
    assert checks(lost, ask(1, 30, 40, True), ask(2, 50, 60, False)) == ["acls/order"]


def test_a_failed_change_has_no_effect():
    failed = grant(0, 10, 20, entry(), status="fail")
    assert checks(failed, ask(1, 30, 40, True)) == ["acls/known"]


def test_changes_of_a_key_may_not_overlap():
    with pytest.raises(ValueError, match="overlap"):
        checks(GRANTED, grant(1, 15, 30, entry(user="bob")))


@pytest.mark.parametrize(
    ("entries", "asked", "allowed"),
    [
        ([entry()], question(), True),
        ([entry()], question(topic="k-ab"), False),
        ([entry(pattern="prefixed")], question(topic="k-ab"), True),
        ([entry(pattern="prefixed", topic="k-ab")], question(), False),
        ([entry(user="*")], question(user="bob"), True),
        ([entry(operation_="alter")], question("describe"), True),
        ([entry(operation_="alter")], question("describe-configs"), False),
        ([entry(operation_="all")], question("describe-configs"), True),
        ([entry("deny", "alter"), entry()], question("describe"), True),
        ([entry("deny", user="*"), entry()], question(), False),
        ([entry("deny", "all", "prefixed", "k-"), entry()], question(), False),
        ([entry("deny", "describe"), entry(operation_="alter")], question(), False),
    ],
)
def test_entries_decide_as_kafkas_do(entries, asked, allowed):
    """The final answer must be the right one, and only the right one."""
    changes = [grant(place, 10 * place, 10 * place + 5, one) for place, one in enumerate(entries)]
    for told in (True, False):
        final = ask(9, 100, 110, told, asked, f="final")
        assert bool(checks(*changes, final)) == (told != allowed)


def login(index, begin, end, password, accepted, iterations=4096, f="login"):
    told = {"accepted": accepted, "iterations": iterations}
    return operation(index, f, begin, end, {"password": password}, told)


def credential(index, begin, end, password, iterations=4096):
    asked = {"password": password, "iterations": iterations}
    return operation(index, "set", begin, end, asked, {"outcome": "altered"})


def login_checks(*operations):
    model = Credentials()
    for one in operations:
        model.validate(one)
    return [finding.check for finding in model.check(KEY, operations, CheckOptions())]


def test_a_login_needs_the_password_of_a_known_credential():
    changes = (credential(0, 10, 20, "one"), credential(1, 30, 40, "two", 5000))
    assert login_checks(*changes, login(2, 50, 60, "one", True)) == []
    assert login_checks(*changes, login(2, 50, 60, "two", True, 5000)) == []
    assert login_checks(*changes, login(2, 50, 60, "two", True, 4096)) == ["credentials/known"]
    assert login_checks(*changes, login(2, 50, 60, "three", True)) == ["credentials/known"]
    assert login_checks(*changes, login(2, 50, 60, "one", True, f="final")) == [
        "credentials/latest"
    ]
    assert login_checks(*changes, login(2, 50, 60, "two", False, 5000, f="final")) == [
        "credentials/latest"
    ]


def test_a_removed_credential_ends_logins():
    changes = (
        credential(0, 10, 20, "one"),
        operation(1, "remove", 30, 40, None, {"outcome": "altered"}),
    )
    refused = login(2, 50, 60, "one", False, None)
    assert login_checks(*changes, refused) == []
    seen, again = login(4, 22, 25, "one", True), login(3, 70, 80, "one", True)
    assert login_checks(*changes, seen, refused) == []
    assert login_checks(*changes, seen, refused, again) == ["credentials/order"]
    shown = operation(4, "describe", 90, 95, None, {"iterations": 4097})
    assert login_checks(*changes, shown) == ["credentials/known"]
