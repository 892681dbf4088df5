"""``gold.source_ends``: where the logs of each source ended; see ``election_core.replay.rest``."""

from dataclasses import replace

from election_replay.schemas import replay_states
from election_replay.schemas.model import BIGINT, BOOLEAN, Column

TABLE = replace(
    replay_states.TABLE,
    name="source_ends",
    comment="The last lines and the last sign of life of each source: by them the next night sees what is new. A night "
    "in which a source that may rest says nothing new moves them on, and leaves its facts and its rows of "
    "gold.replay_states as they are.",
    columns=(
        *replay_states.TABLE.columns,
        Column(
            name="may_rest",
            type=BOOLEAN,
            comment="Whether lines that only repeat what the source has said need not be folded.",
            nullable=False,
        ),
        Column(
            name="nights",
            type=BIGINT,
            comment="How many replays had found the source idle when the row was written. With 0 it is one of "
            "gold.replay_states too.",
            nullable=False,
            at_least=0,
        ),
        Column(
            name="folded",
            type=BIGINT,
            comment="The batch of the rows of gold.replay_states that it goes on from. If they are of another one, a "
            "replay was killed before it wrote this table, and the row is worth nothing.",
            nullable=False,
        ),
    ),
)
