"""``gold.open_lives``: the facts that the next line of a log changes; see ``election_core.model.facts``."""

from dataclasses import replace

from election_replay.schemas import facts
from election_replay.schemas.proofs import in_order, proofs_exist

_OF_LIVES = frozenset(
    {
        *("cluster", "replica_group", "protocol", "kind", "node", "source_node", "since", "since_by", "since_event"),
        *("until", "until_by", "until_event", "bound_ms", "ordinal", "speaker", "evidence", "stopped", "sure_until"),
        *("goes_on", "member_of", "address", "process", "by_address", "term", "from_index", "to_index", "stream"),
    }
)

TABLE = replace(
    facts.TABLE,
    name="open_lives",
    layer="gold",
    comment="The facts that the next line of a log moves, in the columns of silver.facts, which does not hold them: "
    "where a life ends that goes on, and what was committed last. All facts are those of both tables.",
    columns=tuple(column for column in facts.TABLE.columns if column.name in _OF_LIVES),
    expectations=(
        in_order("open_lives", ("since", "since_by"), ("until", "until_by")),
        proofs_exist("open_lives", "since_event", "until_event"),
    ),
)
