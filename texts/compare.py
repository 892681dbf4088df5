"""Facts held against the dialects' tables: recognised, of no interest on purpose, or unknown.

A statement is recognised when a text of its dialect has its words, and a line made of the statement's own message, with
a plausible value in each of its places, is read as an event of that text's kind. Lines are made as the system's own
layout makes them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import NamedTuple

from election_replay.election_core.dialects import NAMED, Record
from election_replay.election_core.dialects.dialect import Text
from election_replay.election_core.dialects.etcd import dialect as etcd
from election_replay.election_core.dialects.kafka.texts import TEXTS as KAFKA
from election_replay.election_core.dialects.redis.texts import TEXTS as REDIS
from election_replay.election_core.dialects.rocketmq import dialect as rocketmq
from election_replay.election_core.dialects.zookeeper import dialect as zookeeper
from election_replay.election_core.model.events import Unparsable
from texts.examples import EXAMPLES
from texts.facts import Fact
from texts.ignored import IGNORED, Ignored
from texts.samples import SAMPLES
from texts.statements import HOLE

TEXTS: Mapping[str, tuple[Text, ...]] = {
    "rocketmq": rocketmq.TEXTS,
    "zookeeper": zookeeper.TEXTS,
    "etcd": etcd.TEXTS,
    "redis": REDIS,
    "kafka": KAFKA,
}
STREAMS: Mapping[str, tuple[str, ...]] = {
    "rocketmq-broker": ("broker.log", "lock.log", "transaction.log"),
    "rocketmq-controller": ("controller.log",),
    "rocketmq-container": ("broker_container.log", "broker.log"),
    "rocketmq-namesrv": ("namesrv.log",),
    "rocketmq-store": ("store.log", "broker.log"),
    "rocketmq-remoting": ("remoting.log",),
    "rocketmq-srvutil": ("namesrv.log", "controller.log"),
    "rocketmq-common": ("broker.log", "controller.log", "namesrv.log"),
    "dledger": ("dledger.log",),
    "jraft-core": ("jraft.log",),
    "zookeeper": ("zookeeper.log",),
    "etcd": ("etcd.log",),
    "raft": ("etcd.log",),
    "pkg": ("etcd.log",),
    "redis": ("redis.log",),
    "valkey": ("valkey.log",),
    **dict.fromkeys(
        ("kafka-raft", "kafka-metadata", "kafka-server", "kafka-storage", "kafka_2.13"),
        ("server.log", "kafka-controller.log", "state-change.log"),
    ),
}
"""The files in which an archive's statements are printed."""

BEFORE: Mapping[str, tuple[str, ...]] = {
    "kafka-raft": ("[RaftManager id={}] ",),
    "kafka-metadata": ("[QuorumController id={}] ",),
    "kafka-server": ("[BrokerLifecycleManager id={}] ",),
    "kafka-storage": ("[UnifiedLog partition={}, dir={}] ",),
    "kafka_2.13": (
        *("[Broker id={}] ", "[Partition {} broker={}] ", "[UnifiedLog partition={}, dir={}] "),
        *("[BrokerLifecycleManager id={}] ", "[KafkaRaftServer nodeId={}] "),
    ),
}
"""What a logger of an archive writes in front of its messages (``LogContext``, ``logIdent``)."""

NAMED_TWICE = {"node"}
"""Shapes of values that a statement puts together of two: a node's id, and its name in brackets."""

THREADS = ("NettyServerNIOSelector_1", "DLegerRoleChangeHandler_1", "BrokerPreOnlineService")
"""Threads of RocketMQ by which texts that read alike are told apart."""

FIELD_SAMPLES: Mapping[str, object] = {
    **dict.fromkeys(("String", "Stringer", "Any", "ByteString", "Reflect", "Error", "NamedError"), "8e9e05c52164694d"),
    **dict.fromkeys(("Int", "Int64", "Int32", "Uint", "Uint64", "Uint32"), 7),
    "Strings": ["http://10.0.0.1:2380"],
    "Bool": True,
    "Duration": "1.5s",
    "Time": "2026-03-01T10:00:00.123Z",
    "Float64": 1.5,
}
FIELDS_OF_KEY: Mapping[str, object] = {
    "local-member-attributes": "{Name:etcd1 ClientURLs:[http://10.0.0.1:2379]}",
    **dict.fromkeys(("took", "exceeded-duration", "clock-drift", "election-timeout"), "1.5s"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a statement could have written, and the stream it stands in."""

    text: str
    stream: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a fact: the kind of event it is with a line that proves it, or why it is of no interest."""

    fact: Fact
    kind: str | None = None
    line: Line | None = None
    ignored: Ignored | None = None

    @property
    def unknown(self) -> bool:
        """Neither known nor left out on purpose."""
        return self.kind is None and self.ignored is None


def compare(facts: Iterable[Fact]) -> Iterator[Verdict]:
    """The verdict of each fact."""
    for fact in facts:
        known = _recognised(fact)
        if known is not None:
            yield Verdict(fact, *known)
        else:
            yield Verdict(fact, ignored=next((one for one in IGNORED if one.covers(fact)), None))


def _recognised(fact: Fact) -> tuple[str, Line] | None:
    """The kind and a line that proves it."""
    for candidate in _candidates(fact):
        for line in _lines(fact, candidate[1]):
            if _kind(fact.system, line) == candidate[0].kind:
                return candidate[0].kind, line
    return None


def _candidates(fact: Fact) -> Iterator[tuple[Text, str]]:
    """The texts that have the statement's words, each with a message made of the statement's."""
    example = EXAMPLES.get((fact.file, fact.text))
    for one in _known(fact.system) if example is not None else ():
        yield one.text, example or ""
    for before in ("", *BEFORE.get(fact.component.name, ())):
        yield from _candidates_as(fact, before.replace("{}", HOLE) + _held(fact.text))


def _candidates_as(fact: Fact, held: str) -> Iterator[tuple[Text, str]]:
    """The same, of a message as it stands in a file."""
    for one in _known(fact.system):
        found = one.places.fullmatch(held)
        if found is not None:
            yield one.text, _filled(fact.system, one.text, held, found)
    own = _words(held)
    for one in _known(fact.system):
        found = own.fullmatch(one.sample) if _specific(held, one.text) else None
        if found is not None and not any(_has_words(one, span) for span in found.regs[1:]):
            yield one.text, one.sample


def _held(text: str) -> str:
    """A fact's text with a hole for each value."""
    return "".join(literal + ("" if name is None else HOLE) for literal, name, _, _ in Formatter().parse(text))


def _has_words(known: "_Known", span: tuple[int, int]) -> bool:
    """Whether a value of the statement would hold words of the text."""
    return not known.words.isdisjoint(range(*span))


def sample_of(system: str, shape: str, place: int) -> str:
    """A value of a shape for one place of a message."""
    return SAMPLES[system][shape].replace("#", str(place))


class _Known(NamedTuple):
    """A text, its words with anything in its places, a message of it, and where its own words stand in that."""

    text: Text
    places: re.Pattern[str]
    sample: str
    words: frozenset[int]


@cache
def _known(system: str) -> tuple[_Known, ...]:
    known = []
    for text in TEXTS[system]:
        places, sample, words = "", "", set[int]()
        parts = list(Formatter().parse(text.template.rstrip()))
        for number, (literal, name, shape, _) in enumerate(parts):
            last = number == len(parts) - 1 and name is not None  # an empty last value loses the blank before it
            places += re.escape(literal.rstrip(" ")) + " *" if last and literal.strip() else re.escape(literal)
            places += "" if name is None else "(.*?)"
            words |= {len(sample) + at for at, one in enumerate(literal) if one.isalnum()}
            sample += literal + ("" if name is None else sample_of(system, shape or "", number))
        known.append(_Known(text, re.compile(places, re.DOTALL), sample, frozenset(words)))
    return tuple(known)


def _filled(system: str, text: Text, held: str, found: re.Match[str]) -> str:
    """The statement's message with values of the text's shapes in the places of both, and any in the others."""
    shapes = [shape or "" for _, name, shape, _ in Formatter().parse(text.template.rstrip()) if name is not None]
    message, end = "", 0
    for group, shape in enumerate(shapes, 1):
        start, stop = found.span(group)
        message += held[end:start]
        inner = held[start:stop]
        value = sample_of(system, "decided" if text.then is not None and shape == "text" else shape, group)
        if inner.count(HOLE) == 1 or shape in NAMED_TWICE:
            message += inner.replace(HOLE, value.removeprefix(inner.partition(HOLE)[0].lstrip()), 1).replace(HOLE, "n")
        else:
            message += inner.replace(HOLE, sample_of(system, "", group))
        end = stop
    return message + held[end:]


def _words(held: str) -> re.Pattern[str]:
    return re.compile("(.*?)".join(map(re.escape, held.split(HOLE))), re.DOTALL)


def _specific(held: str, text: Text) -> bool:
    """Whether a statement has enough of a text's words to be told by them."""
    own = len(re.sub(r"\W", "", held.replace(HOLE, "")))
    words = "".join(literal for literal, *_ in Formatter().parse(text.template))
    return own >= 8 and own * 10 >= 6 * len(re.sub(r"\W", "", words))


def _lines(fact: Fact, message: str) -> Iterator[Line]:
    level = {"fatal": "error"}.get(fact.level, fact.level)
    top, _, inner = fact.place.partition(".")
    for stream in STREAMS[fact.component.name]:
        if fact.system == "rocketmq":
            own = fact.file.rpartition("/")[2].removesuffix(".java")
            for thread in dict.fromkeys(("main", own, inner or top, *THREADS)):
                yield Line(f"2026-03-01 10:00:07 {level.upper()} {thread} - {message}", stream)
        elif fact.system == "zookeeper":
            yield Line(f"2026-03-01 10:00:00,123 [myid:1] - {level.upper():5} [main:{top}@1] - {message}", stream)
        elif fact.system == "redis":
            yield Line(f"8773:S 01 Mar 2026 10:00:07.123 {'*' if level == 'info' else '#'} {message}", stream)
        elif fact.system == "kafka":
            yield Line(f"[2026-03-01 10:00:07,123] {level.upper()} {message} (org.apache.kafka.Log)", stream)
        elif fact.fields is not None:
            beside = {key: _value(key, kind) for key, _, kind in (one.partition(":") for one in fact.fields)}
            said = {"level": level, "ts": "2026-03-01T10:00:00.123Z", "caller": "a/b.go:1", "msg": message, **beside}
            yield Line(json.dumps(said, separators=(",", ":")), stream)
        else:
            yield Line(f"2026-03-01 10:00:00.123456 {level[0].upper()} | raft: {message}", stream)


def _value(key: str, kind: str) -> object:
    return FIELDS_OF_KEY.get(key, FIELD_SAMPLES.get(kind, "8e9e05c52164694d"))


def _kind(system: str, line: Line) -> str | None:
    dialect = NAMED[system]
    if not re.match(dialect.record_start, line.text) or not any(one in line.text for one in dialect.needles):
        return None
    try:
        event = dialect.parse(Record(line.text, (), line.stream, dialect.utc_offset_minutes))
    except Unparsable:
        return None
    return event.kind if event else None
