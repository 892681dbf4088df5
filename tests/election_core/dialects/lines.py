"""Tables of log lines such as ``zookeeper_lines.txt``, lines gone wrong, and records of the real logs.

A table is plain text as ``rocketmq_lines.txt`` is: ``# stream``, a record, its undated lines behind ``| ``, and behind
``=>`` its kind and the columns it fills.
"""

import random
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from election_replay.election_core.dialects import Dialect, Record

LETTERS = "0129 -_,.:;'\"[]{}()<>=/#@\\\t\0é中\ud800nulltrue"


def entries(table: str) -> Iterator[tuple[Record, str]]:
    """Each record of a table in this folder with what is expected of it."""
    stream, text, continuation = "", "", []
    for line in (Path(__file__).parent / table).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            stream = line[2:]
        elif line.startswith("=> "):
            yield Record(text, tuple(continuation), stream, 0), line[3:]
        elif line.startswith("| "):
            continuation.append(line[2:])
        elif line:
            text, continuation = line, []


def mutated(record: Record, chance: random.Random) -> Record:
    """The record with up to six characters or stretches changed, repeated, cut or joined."""
    text = list(record.text)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(text)) if text else 0
        match chance.randrange(4):
            case 0:
                text[place : place + 1] = [chance.choice(LETTERS)]
            case 1:
                text[place:place] = chance.choice(LETTERS) * chance.randint(1, 40)
            case 2:
                del text[place : place + chance.randint(1, 30)]
            case _:
                text[place:place] = text[: chance.randint(0, len(text))]
    more = record.continuation or tuple(chance.choices(LETTERS, k=3))
    return Record("".join(text), more, record.stream, 0)


def records(path: Path, dialect: Dialect, stream: str) -> Iterator[tuple[int, Record]]:
    """The records of a file with their line numbers."""
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [at for at, line in enumerate(lines) if re.match(dialect.record_start, line)]
    for start, end in pairwise([*starts, len(lines)]):
        yield start + 1, Record(lines[start], tuple(lines[start + 1 : end][:20]), stream, 0)
