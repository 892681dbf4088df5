"""The list of guarantees stays in step with the code: what it runs and changes is there."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from proof.guarantees import __main__ as proof
from proof.guarantees.checkout import ROOT
from proof.guarantees.promised import Guarantee, Mutation, guarantees, sessions

ALL = guarantees()
MUTATIONS = [mutation for guarantee in ALL for mutation in guarantee.mutations]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.breaks)
def test_a_change_can_be_made_and_leaves_code(mutation: Mutation, tmp_path: Path) -> None:
    file = tmp_path / mutation.file
    file.parent.mkdir(parents=True)
    file.write_text((ROOT / mutation.file).read_text())
    mutation.apply(tmp_path)
    if file.suffix == ".py":
        compile(file.read_text(), mutation.file, "exec")


@pytest.mark.parametrize("guarantee", ALL, ids=lambda guarantee: guarantee.name)
def test_tests_are_there_and_each_guarantee_is_broken_by_something(guarantee: Guarantee) -> None:
    assert guarantee.mutations
    for test in [*guarantee.tests, *(mutation.caught_by for mutation in guarantee.mutations)]:
        path, _, name = test.partition("::")
        assert (ROOT / path).exists(), test
        assert f"def {name}(" in (ROOT / path).read_text() if name else True, test


def test_a_change_of_what_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("a = 1\na = 1\n")
    for before in ("a = 1", "a = 2"):
        with pytest.raises(ValueError, match="times, not once"):
            Mutation("nothing", "code.py", before, "b", "none").apply(tmp_path)


def test_a_section_replaces_its_former_one_and_keeps_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "PAGE", tmp_path / "guarantees.md")
    last, first = ALL[-1], ALL[0]
    for guarantee, text in ((last, "old"), (first, "new"), (last, "new")):
        proof.write(guarantee, f"## {guarantee.name}\n\n{text}\n")
    text = proof.PAGE.read_text()
    assert text.startswith(proof.INTRODUCTION)
    assert text.index(f"## {first.name}\n\nnew") < text.index(f"## {last.name}\n\nnew")
    assert "old" not in text


def test_every_test_runs_once() -> None:
    run = [test for tests in sessions(ALL).values() for test in tests]
    assert len(run) == len({*run})
    for wanted in (test for guarantee in ALL for test in guarantee.tests):
        assert sum(wanted == test or wanted.startswith(f"{test}::") for test in run) == 1, wanted


REPORT = """<testsuites><testsuite>
<testcase classname="tests.jobs.test_kills" name="test_nights_with_kills" time="2.5"><properties>
<property name="kills" value="30"/><property name="seed" value="a text"/></properties></testcase>
<testcase classname="tests.shapes.test_matrix" name="test_a[1]" time="1"><failure/></testcase>
<testcase classname="tests.shapes.test_matrix" name="test_a[2]" time="1"><skipped/></testcase>
</testsuite></testsuites>"""


def test_what_tests_came_to_is_read_and_belongs_to_its_guarantees() -> None:
    cases = tuple(proof.cases_of(ElementTree.ElementTree(ElementTree.fromstring(REPORT))))
    assert [case.outcome for case in cases] == ["passed", "failed", "skipped"]
    shapes = Guarantee("a", "", ("tests/shapes",), ())
    kills = Guarantee("b", "", ("tests/jobs/test_kills.py::test_nights_with_kills",), ())
    results = {"room": proof.Piece(False, "", cases)}
    assert [case.seconds for case in proof.cases_for(shapes, results)] == [1, 1]
    assert proof.counted(proof.cases_for(kills, results)) == {"kills": 30}
