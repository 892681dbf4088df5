"""The changes that tests ought to notice: what is changed, what is left alone, and the list of those without effect."""

import ast
import gc
import inspect
from types import CodeType

from election_replay.election_core.model.quorum import is_majority
from proof.mutations.__main__ import ROOT, codes, equivalents, key, put_in, rooms
from proof.mutations.changes import changes

CODE = '''
"""A module is not changed."""
LIMIT = 3


def bounded(values: "list[int] | None", most: int = 7) -> int:
    """Nor is this."""
    if values is None or not values:
        return 0
    found = max(values) + 1
    return found if found <= most else most
'''


def test_each_kind_of_piece_is_changed_once_and_names_and_texts_never() -> None:
    assert {(change.before, change.after) for change in changes("m.py", CODE)} == {
        ("is", "is not"),
        ("values is None or not values", "not (values is None or not values)"),
        ("or", "and"),
        ("not values", "values"),
        ("0", "1"),
        ("max", "min"),
        ("+", "-"),
        ("1", "2"),
        ("<=", "<"),
        ("found <= most", "not (found <= most)"),
    }


def test_a_change_stands_where_it_says() -> None:
    for change in changes("m.py", CODE):
        assert CODE[change.begin : change.end] == change.before
        assert CODE.splitlines()[change.line - 1].count(change.before.splitlines()[0])
        ast.parse(change.applied(CODE))


def test_a_function_gets_the_code_of_its_changed_form() -> None:
    space: dict[str, object] = {}
    whole = compile(CODE, "m.py", "exec")
    exec(whole, space)  # noqa: S102 - the code above
    bounded = space["bounded"]
    assert inspect.isfunction(bounded)
    assert bounded([8]) == 7
    assert bounded([3]) == 4
    change = next(change for change in changes("m.py", CODE) if change.before == "+")
    pairs = dict(codes(whole, compile(change.applied(CODE), "m.py", "exec")))
    assert [code.co_name for code in pairs] == ["bounded"]
    assert isinstance(pairs[bounded.__code__], CodeType)
    bounded.__code__ = pairs[bounded.__code__]
    assert bounded([3]) == 2


def test_a_change_reaches_functions_that_tests_have_imported_and_frozen() -> None:
    file, code = "election_core/model/quorum.py", is_majority.__code__
    change = next(change for change in changes(file, (ROOT / file).read_text()) if change.before == ">=")
    gc.freeze()
    try:
        put_in(change)
        assert not is_majority(2, 3)
    finally:
        is_majority.__code__ = code
        gc.freeze()
    assert is_majority(2, 3)


def test_what_is_listed_without_effect_is_a_change_that_can_be_made() -> None:
    listed = equivalents()
    files = {file for file, *_ in listed}
    known = {key(change) for file in files for change in changes(file, (ROOT / file).read_text())}
    assert not listed.keys() - known


def test_each_room_has_code_to_change_and_tests() -> None:
    for room in rooms():
        assert room.sampled(), room.name
        assert all((ROOT / test).exists() for test in (*room.collected(), *room.last)), room.name
