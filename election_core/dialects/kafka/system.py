"""Kafka as one row."""

from election_replay.election_core.dialects.kafka.dialect import KAFKA, TABLE
from election_replay.election_core.dialects.system import Spoken, System

SYSTEM = System(
    title="Kafka",
    dialect=KAFKA,
    table=TABLE,
    streams=("server.log", "state-change.log", "log-cleaner.log", "kafkaServer.out", "kafka*.log*", "kafka*.out"),
    shared_streams=("controller.log",),
    stream="server.log",
    protocols=(Spoken("kraft", clock="epoch"), Spoken("partition", clock="epoch", many_groups=True)),
    releases=((3, 3), (4, 3)),
    member="node id",
    process="kafka",
    roles_stand_in="server.log, controller.log and state-change.log of each node, at level INFO, from before the trouble: "
    "controllers tell who leads the metadata quorum, brokers who leads a partition",
    places=("kafka", "kraft-combined-logs"),
)
"""One process writes all files of a node, be it controller, broker or both."""
