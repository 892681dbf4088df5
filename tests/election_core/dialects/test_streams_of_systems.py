"""Files whose names tell no system count under that of their own, so that each of them has a life of its own."""

import pytest

from election_replay.election_core.dialects import stream_in_system
from election_replay.election_core.fold.identity import BROKER, process_of


@pytest.mark.parametrize("dialect", ["redis", "hashicorp", 'described {"name":"x"}'])
def test_two_files_of_unknown_names_in_one_folder_are_two_processes(dialect: str) -> None:
    streams = [stream_in_system(name, dialect) for name in ("one.log", "two.txt", "3")]
    processes = {process_of(stream) for stream in streams}
    assert len(processes) == len(streams)
    assert BROKER not in processes


def test_a_name_that_a_system_gives_stays_as_it_is() -> None:
    assert stream_in_system("redis-sentinel.log", "redis") == "redis-sentinel.log"
    assert stream_in_system("nomad.log", "hashicorp") == "nomad.log"
    assert stream_in_system("state-change.log", "kafka") == "state-change.log"
    assert stream_in_system("app.log", "rocketmq") == "app.log"
    assert stream_in_system("app.log", None) == "app.log"


def test_files_of_unknown_names_of_one_process_share_its_life() -> None:
    """Kafka's process writes all its files, whatever they are called."""
    assert {process_of(stream_in_system(name, "kafka")) for name in ("a.log", "b.log", "server.log")} == {"kafka"}
