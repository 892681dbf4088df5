"""``side/reviews``: marks that people set on findings. Replays neither write nor read it."""

from election_replay.schemas.common import CLUSTER, REPLICA_GROUP
from election_replay.schemas.model import STRING, TIMESTAMP, Column, Table

STATES = ("seen", "false_alarm", "ticket", "open")
"""The marks of a finding; ``open`` withdraws the last one."""

TABLE = Table(
    name="reviews",
    layer="side",
    comment="One row for each time that somebody marked a finding; the latest one holds.",
    columns=(
        Column(name="finding_id", type=STRING, comment="The finding.", nullable=False, key=True),
        CLUSTER,
        REPLICA_GROUP,
        Column(name="rule", type=STRING, comment="Its rule.", nullable=False),
        Column(
            name="reviewed_at",
            type=TIMESTAMP,
            comment="When it was marked.",
            nullable=False,
            key=True,
            unit="UTC",
        ),
        Column(
            name="state",
            type=STRING,
            comment="seen, false_alarm, ticket (it is worked on there), or open (the mark is taken back).",
            nullable=False,
            one_of=STATES,
        ),
        Column(name="ticket", type=STRING, comment="Name or address of the ticket."),
        Column(name="note", type=STRING, comment="What else there is to say."),
        Column(name="reviewer", type=STRING, comment="Who says so.", nullable=False),
    ),
)
