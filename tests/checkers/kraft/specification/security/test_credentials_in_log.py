"""A credential in a committed log, whose request nobody can guess."""

from tests.checkers.kraft.specification.test_conforming_log import MADE, moved, reasons


def test_the_password_of_a_credential_is_not_in_the_log():
    keys = dict.fromkeys(("salt", "storedKey", "serverKey"), "s" * 22)
    credential = ("USER_SCRAM_CREDENTIAL_RECORD", {"name": "u", "mechanism": 1, **keys})
    credential[1]["iterations"] = 4096
    removal = ("REMOVE_USER_SCRAM_CREDENTIAL_RECORD", {"name": "u", "mechanism": 1})
    assert reasons(MADE, [credential], [removal], [credential]) == []
    (reason,) = reasons(MADE, [credential, moved(0, [1])])
    assert "without a" in reason
