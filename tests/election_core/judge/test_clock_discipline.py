"""Times of two sources are compared through ``Clocks`` alone: a test on the syntax tree.

A time of one thing (``.at``, ``.by``, ``.since``, ``.until`` and their ``_by``) that is compared with, or subtracted
from, a time of another thing stands in a function that is listed here with its reason, or in a file that is still to be
mended.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

CORE = Path(__file__).parents[3] / "election_core"
TIMES = {"at", "by", "since", "since_by", "until", "until_by"}
OF_ONE_LOG = ("log.py", "checks.py", "clock.py", "clock_segments.py")
"""Folds see one node's log, and the clocks themselves compare what they know of."""

ONE_CLOCK = {
    "judge/group.py": {"_tenures": "the beginning and the end of one role"},
    "judge/overlap.py": {"_asleep": "the two ends of one hole"},
    "judge/silent_logs.py": {"_within": "spans of one log"},
    "judge/storm.py": {
        "storm": "elections on one clock, adjusted where an offset is proven",
        "_storm_of": "elections on one clock",
    },
    "protocols/dledger/causality.py": {"_at_once": "a raise and an election of one source, which it asks for"},
    "protocols/dledger/losses.py": {
        "_leader_of": "the roles of a member and a cut of its own log",
        "_led_after": "tenures and a start of one source",
    },
    "judge/term_rows.py": {"_cause": "the campaigns and the tenure of one node; which tenure was first of all"},
    "protocols/highest_id/rules.py": {
        "_in_order": "widened by the bounds of both clocks: what messages prove of them needs the order first",
        "_leaders_of": "widened by the bounds of both clocks",
        "_surely_at_once": "moments on the clock of one leader",
    },
}
"""Functions that compare times of one clock, and why that is so."""

STILL_RAW = (
    "judge/leaderless.py",
    "judge/quorum_contact.py",
    "protocols/acting_master/",
    "protocols/broker_identity/",
    "protocols/controller/",
    "protocols/metadata/",
    "protocols/order_lock/",
    "protocols/zab/rules.py",
)
"""Where raw times of two sources are still compared; nothing is added here."""


def raw_comparisons(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Functions, with a line each, in which times of two things are compared or subtracted."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            sides: list[ast.expr] = []
            if isinstance(node, ast.Compare) and any(
                isinstance(op, ast.Lt | ast.Gt | ast.LtE | ast.GtE) for op in node.ops
            ):
                sides = [node.left, *node.comparators]
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                sides = [node.left, node.right]
            told = [owners for side in sides if (owners := set(_owners(side)))]
            if len(told) > 1 and len(set().union(*told)) > 1:
                yield function.name, node.lineno


def _owners(side: ast.expr) -> Iterator[str]:
    """Whose times an expression reads."""
    for node in ast.walk(side):
        if isinstance(node, ast.Attribute) and node.attr in TIMES:
            yield ast.unparse(node.value)


def test_times_of_two_sources_are_compared_through_the_clocks() -> None:
    found = []
    for room in ("judge", "protocols"):
        for path in sorted((CORE / room).rglob("*.py")):
            name = path.relative_to(CORE).as_posix()
            if path.name in OF_ONE_LOG or name.startswith(STILL_RAW):
                continue
            raw = raw_comparisons(ast.parse(path.read_text()))
            found += [f"{name}:{line} {function}" for function, line in raw if function not in ONE_CLOCK.get(name, {})]
    assert found == []


def test_every_exception_is_one() -> None:
    for name, functions in ONE_CLOCK.items():
        raw = {function for function, _ in raw_comparisons(ast.parse((CORE / name).read_text()))}
        assert functions.keys() <= raw, name


def test_a_raw_comparison_is_found() -> None:
    source = """
def other_thing(a, b):
    return a.at < b.by

def same_thing(a):
    return a.at < a.by

def difference(a, b):
    return a.since - b.since
"""
    assert [function for function, _ in raw_comparisons(ast.parse(source))] == ["other_thing", "difference"]
