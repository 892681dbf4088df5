"""What the systems decide, one by one: the rows of their decision tables, and how a log shows that a row held or broke.

Each protocol has a literal table of its own. A scenario says in its opening paragraph which decisions it shows::

    Conforms: vote-accepted, vote-repeated
    Violates: quorum

A side that no log can show has its reason here instead.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """One row of a decision table: ``says`` in words, ``source`` in the system's code, ``rule`` that judges it.

    ``never_conforms`` and ``never_violates`` say why the logs cannot show that side.
    """

    key: str
    says: str
    source: str
    rule: str
    never_conforms: str | None = None
    never_violates: str | None = None
