"""``gold.open_facts``: facts that the next line of a log may change; see ``election_core.model.facts``."""

from dataclasses import replace

from election_replay.schemas import facts
from election_replay.schemas.proofs import in_order, proofs_exist

_OF_OPEN = frozenset(
    {
        *("cluster", "replica_group", "protocol", "kind", "node", "source_node", "since", "since_by", "since_event"),
        *("until", "until_by", "until_event", "bound_ms", "ordinal", "speaker", "evidence", "stopped", "sure_until"),
        *("goes_on", "member_of", "address", "process", "by_address", "term", "from_index", "to_index", "stream"),
    }
)

TABLE = replace(
    facts.TABLE,
    name="open_facts",
    layer="gold",
    comment="The facts that the next line of a log moves, in the columns of silver.facts, which does not hold them: "
    "where a life ends that goes on, and what was committed last. All facts are those of both tables.",
    columns=tuple(column for column in facts.TABLE.columns if column.name in _OF_OPEN),
    expectations=(
        in_order("open_facts", ("since", "since_by"), ("until", "until_by")),
        proofs_exist("open_facts", "since_event", "until_event"),
    ),
)
