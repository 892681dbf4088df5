"""What an ensemble of ZooKeeper lost, where an epoch brought no entry."""

import re
from pathlib import Path

from election_replay.election_core.model.rows import Finding
from tests.election_core import story

STORY = Path(__file__).parents[2] / "scenarios" / "zab" / "committed_entries_lost.txt"
SYNCED = (
    "02:10:00,710 [myid:3] - INFO  [LearnerHandler-/10.0.0.7:40430:LearnerHandler@1] - Synchronizing with Learner "
    "sid: 1 maxCommittedLog=0x100000020 minCommittedLog=0x100000001 lastProcessedZxid={last} peerLastZxid=0x100000020"
)


def _losses(last: str) -> list[str]:
    """What is lost where server 3, which leads epoch 2, prints its last zxid, and nobody had more than the others."""
    text = re.sub(r"(?m)^.*(TRUNC|Truncating).*\n", "", STORY.read_text().replace("0x100000025", "0x100000020"))
    text = re.sub(r"(?m)^(.*last processed zxid: 0x200000000)$", rf"\1\n{SYNCED.format(last=last)}", text)
    rows = story.judge(story.facts_of(story.parse(text)))
    return [row.summary for row in rows if isinstance(row, Finding) and row.rule == "COMMITTED_ENTRY_LOST"]


def test_the_first_zxid_of_an_epoch_is_no_entry() -> None:
    """A leader that took nothing has the zxid of its epoch, which no later leader needs to have."""
    assert _losses("0x200000000") == []


def test_an_entry_of_an_epoch_is_lost() -> None:
    """An entry that the same leader took is missing in the log of the next one."""
    assert len(_losses("0x200000003")) == 1
