"""The list of guarantees stays in step with the code: what it runs and changes is there."""

from pathlib import Path

import pytest

from proof.guarantees import __main__ as proof
from proof.guarantees.__main__ import ROOT, Guarantee, Mutation, guarantees

ALL = guarantees()
MUTATIONS = [mutation for guarantee in ALL for mutation in guarantee.mutations]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.breaks)
def test_a_change_can_be_made_and_leaves_python(mutation: Mutation, tmp_path: Path) -> None:
    file = tmp_path / mutation.file
    file.parent.mkdir(parents=True)
    file.write_text((ROOT / mutation.file).read_text())
    mutation.apply(tmp_path)
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
