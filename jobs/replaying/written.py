"""Which rows of the judged tables a replay writes: the gates look at these, and at no others of its clusters."""

from collections.abc import Mapping

from election_replay.jobs.replaying.judging import FACTS, spoken_of
from election_replay.jobs.replaying.work import Work
from election_replay.jobs.warehouse.replacing import Gone
from election_replay.jobs.warehouse.table_sets import VERDICTS


def written_by(work: Work) -> Mapping[str, Gone]:
    """Of each judged table the clusters, sources and groups whose rows the work has told anew, once it is done.

    The others keep rows that have passed their gates. A group that is judged and not named here would be published
    unchecked: `tests/jobs/replaying/test_written.py` compares the rows before and after.
    """
    whole, partly = frozenset(work.extent.whole), work.extent.partly
    groups = spoken_of(work.newest(FACTS.name, partly), work).keys if partly else ()
    judged = Gone(whole, frozenset((cluster, group) for cluster, group in groups))
    return {FACTS.name: work.folded} | dict.fromkeys(VERDICTS, judged)
