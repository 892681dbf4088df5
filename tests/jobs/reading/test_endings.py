"""Deaths of several members at one moment are one entry of the story."""

from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from tests.jobs.tables import blank, publish, put, role, term


def story_of(folder: Path, capsys: pytest.CaptureFixture[str], *deaths: tuple[str, float, float, float]) -> str:
    """Return the incident of members, each with the time of its last sign, its uncertainty in ms, and its restart."""
    tables = blank(folder)
    put(tables, "terms", term(1, "n1", 0, 40))
    for node, last_sign, uncertainty, back in deaths:
        put(
            tables,
            "role_intervals",
            role(node, "follower", 0, last_sign, term=1, end_cause="died") | {"end_uncertainty_ms": uncertainty},
            role(node, "down", last_sign, back, start_cause="died", end_cause="start"),
            role(node, "follower", back, None, start_cause="start"),
        )
    publish(tables)
    assert main(["incident", "--warehouse", str(folder), "--cluster", "c1", "--group", "g1"]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_deaths_that_may_be_of_one_moment_are_one_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deaths = ("n1", 30, 12_000, 42), ("n2", 28, 15_000, 43), ("n3", 29, 61_000, 90)
    text = story_of(tmp_path / "w", capsys, *deaths)
    assert (
        "n2, n3 and n1 die, perhaps all at once: their last signs are of 12:00:28 to 12:00:30, and by 12:00:42 the "
        "first of them was known to be gone. Restarts: n1 at 12:00:42, n2 at 12:00:43 and n3 at 12:01:30." in text
    )
    assert "dies between" not in text


def test_deaths_one_after_the_other_are_entries_of_their_members(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deaths = ("n1", 10, 5_000, 15), ("n2", 20, 5_000, 25), ("n3", 22, 8_000, 30)
    text = story_of(tmp_path / "w", capsys, *deaths)
    assert "at once" not in text
    assert "n1 dies between 12:00:10 and 12:00:15; it starts again at 12:00:15." in text
    assert "n3 dies between 12:00:22 and 12:00:30; it starts again at 12:00:30." in text


def test_a_removed_member_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = blank(tmp_path)
    put(tables, "terms", term(1, "n1", 0, None))
    put(
        tables,
        "role_intervals",
        role("n1", "leader", 0, None, term=1),
        role("n2", "follower", 0, 20, term=1, end_cause="removed"),
        role("n2", "down", 20, None, start_cause="removed"),
        role("n3", "follower", 0, 30, term=1, end_cause="stopped"),
        role("n3", "down", 30, None, start_cause="stopped"),
    )
    publish(tables)
    assert main(["incident", "--warehouse", str(tmp_path), "--cluster", "c1", "--group", "g1"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "n2 is removed. 12:00:30 n3 is stopped; no line says that it starts again." in text
    assert "n1 leads, n3 is down, n2 is removed." in text
