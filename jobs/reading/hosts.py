"""Names members by their hosts, for texts beside which the ids of the members stand."""

import re
from collections import Counter
from collections.abc import Collection

from election_replay.jobs.reading.words import Row

LOSES = r"(?=(?:, [\w.-]+)*(?: and [\w.-]+)? (?:had )?(?:lost contact|ended|been down)\b)"
"""The words that follow ids of members, but no other number, in a sentence of a finding."""

OPAQUE = re.compile(r"[0-9a-f-]{12,}")
"""An id that is no number or word: it may be replaced wherever it stands, also where it is cut to :data:`SHORT`."""
SHORT = 8
"""The first characters of a long id by which people know it."""


def by_host(sentence: str, members: Collection[Row], *, finding: bool = False) -> str:
    """Return the sentence with each member named by its host alone; ``members`` have ``node`` and ``source_node``.

    ``3 (broker-3, epoch 2)`` becomes ``broker-3 (epoch 2)``. A host with several members keeps their ids. In the
    sentence of a ``finding`` a bare id is replaced too; elsewhere, where lines are quoted, only an opaque one is.
    """
    hosts, nodes = (Counter(member[column] for member in members) for column in ("source_node", "node"))
    for member in members:
        node, host = member["node"], member["source_node"]
        opaque = OPAQUE.fullmatch(node)
        if host and hosts[host] == 1 and node != host and (node[:SHORT] if opaque else node) in sentence:
            alone = host.replace("\\", r"\\")  # a folder may be named a\g<, which re.sub would take for a group
            known = rf"(?<![\w.:-]){f'{node[:SHORT]}(?:{node[SHORT:]})?' if opaque else re.escape(node)}"
            sentence = re.sub(rf"{known} \({re.escape(host)}, ", f"{alone} (", sentence)
            sentence = re.sub(rf"{known} \({re.escape(host)}\)", alone, sentence)
            if nodes[node] == 1 and (finding or opaque):
                sentence = re.sub(rf"{known}(?![\w.:-]\w){LOSES if node.isdigit() else ''}", alone, sentence)
    return sentence
