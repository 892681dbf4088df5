"""``gold.judged``: the pointer to the newest verdicts, before the gates; see :mod:`schemas.published`."""

from dataclasses import replace

from election_replay.schemas import published

TABLE = replace(
    published.TABLE,
    name="judged",
    comment="Of each group the run whose rows would be published if no gate held them back: what the last replay came "
    "to. It becomes gold.published.",
)
