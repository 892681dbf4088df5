"""No shape of a file is misunderstood in silence."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shapes.matrix import BEGIN, END, PAGE, READ, SHAPES, SYSTEMS, Shape, outcome

CELLS = [(shape, system) for shape in SHAPES for system in SYSTEMS if shape.make(system) is not None]


def told_on_the_page() -> dict[tuple[str, str], list[str]]:
    """The rows of the table in the documentation."""
    table = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    rows = [line.replace("\\|", "\0").strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    kept = [[cell.replace("\0", "\\|").strip() for cell in row] for row in rows if len(row) > 2]
    return {(row[0], row[1]): (row[2:] + [""] * len(SYSTEMS))[: len(SYSTEMS)] for row in kept}


PAGE_ROWS = told_on_the_page()


def test_the_matrix_is_large() -> None:
    assert len(CELLS) >= 150


def test_the_page_has_every_shape() -> None:
    assert {(shape.group, shape.name) for shape in SHAPES} <= PAGE_ROWS.keys()


@pytest.mark.parametrize(
    ("shape", "system"), CELLS, ids=[f"{system}-{shape.group}-{shape.name[:40]}" for shape, system in CELLS]
)
def test_a_shape_gives_the_events_of_the_plain_file_or_its_problem(
    shape: Shape, system: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("shapes of logs", 1)
    found = outcome(shape, system, tmp_path)
    assert found is not None
    assert found == READ or found.startswith("told: "), found
    assert PAGE_ROWS[shape.group, shape.name][list(SYSTEMS).index(system)] == found
