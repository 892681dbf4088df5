"""Lines of HashiCorp's Raft library become the events that they are: of Consul, Nomad and Vault, of old and new ones."""

from election_replay.election_core.dialects import Record
from election_replay.election_core.dialects.hashicorp.system import SYSTEM

HASHICORP = SYSTEM.dialect


def test_a_line_of_another_part_of_the_program_is_none() -> None:
    for logger in ("agent.server", "agent.server.serf.lan", "core"):
        text = f"2026-11-26T18:08:41.160Z [INFO]  {logger}: election won: term=5 tally=2"
        assert HASHICORP.parse(Record(text, (), "consul.log", 0)) is None
