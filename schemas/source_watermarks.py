"""``gold.source_watermarks``: up to which line the logs of each source are replayed."""

from dataclasses import replace

from election_replay.schemas import fold_checkpoints
from election_replay.schemas.model import STRING, Column

TABLE = replace(
    fold_checkpoints.TABLE,
    name="source_watermarks",
    comment="The last line of each stream and the last sign of life of each source, as the last fold left them: by "
    "them the next night sees what is new. Each row is one of gold.fold_checkpoints too.",
    columns=(
        *fold_checkpoints.TABLE.columns,
        Column(
            name="facts_hash",
            type=STRING,
            comment="A hash of the rows of silver.facts that its source has. While it stays the same, the source "
            "changes no verdict but by where its logs end.",
            nullable=False,
        ),
    ),
)
