"""``gold.terms``: every term or epoch of a replica group and who led it."""

from schemas.common import (
    CLUSTER,
    END_EVENT_ID,
    PROTOCOL,
    REPLICA_GROUP,
    START_EVENT_ID,
    end_time,
    key,
    start_time,
)
from schemas.model import BIGINT, STRING, Column, Table

TABLE = Table(
    name="terms",
    layer="gold",
    comment="Who led each replica group, term by term.",
    partitioned_by=("cluster",),
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(name="term", type=BIGINT, comment="Term or master epoch.", nullable=False, key=True),
        Column(name="leader", type=STRING, comment="Who led; null: nobody won.", key=True),
        start_time("Earliest moment at which the leader was seen, or the first election of the term.", is_key=True),
        end_time("Latest moment of the term; null: it still lasts."),
        Column(name="cause", type=STRING, comment="Why an election began."),
        Column(name="certainty", type=STRING, comment="proven, definite or possible.", nullable=False),
        START_EVENT_ID,
        END_EVENT_ID,
    ),
)
