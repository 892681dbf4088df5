"""The format of ``journalctl -o export``: entries of lines ``FIELD=value``, each entry ended by an empty line.

A value that contains a line end, such as a stack trace, is binary: the name of the field on a line of its own, then the
value's length in 8 bytes (little endian), the value, and a line end. So lines are passed byte for byte, as latin-1.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from election_replay.election_core.envelopes.model import Broken, Opened
from election_replay.election_core.envelopes.objects import opened

NAME = "journal export"
LONGEST_VALUE = 256 << 10
"""The most bytes of a binary value; a longer one is damage."""

FIELDS = frozenset(
    {
        *("MESSAGE", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT", "_COMM", "CONTAINER_NAME"),
        *("CONTAINER_PARTIAL_MESSAGE", "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP"),
    }
)
"""The fields of an entry that are kept."""

_FIELD = re.compile(r"([A-Z_][A-Z0-9_]{0,63})(?:=(.*))?\Z", re.DOTALL)
BEGIN = "__CURSOR="


@dataclass(slots=True)
class Export:
    """Reads such a file line by line; its fields are the state between lines."""

    fields: dict[str, str] = field(default_factory=dict)
    line_no: int = 0
    binary: str | None = None
    value: str = ""
    lost: bool = False

    @property
    def state(self) -> dict[str, Any]:
        """Its state as plain data."""
        return asdict(self)

    @property
    def waiting(self) -> int:
        """The number of characters of the unfinished entry."""
        return sum(map(len, self.fields.values())) + len(self.value)

    def read(self, line_no: int, line: str) -> Iterator[tuple[int, Opened]]:
        """Yield the entry that ends with this line, with the number of the line on which its message begins. Raises
        :class:`Broken` for a line that is no part of an entry; the lines up to the next entry are then skipped."""
        if self.lost and not line.startswith(BEGIN):
            return
        self.lost = False
        if self.binary is not None:
            self._more(line)
        elif line == "":
            yield from self.finish()
        elif (found := _FIELD.match(line)) is None:
            self._lose()
            raise Broken("no field of a journal entry")
        elif found[2] is None:
            self.binary, self.value = found[1], ""
            self._began(found[1], line_no)
        else:
            self._began(found[1], line_no)
            self._keep(found[1], found[2])

    def finish(self) -> Iterator[tuple[int, Opened]]:
        """Yield the unfinished entry, without an incomplete binary value."""
        self.binary, self.value = None, ""
        entry = {name: value.encode("latin-1").decode("utf-8", "replace") for name, value in self.fields.items()}
        line_no, self.fields, self.line_no = self.line_no, {}, 0
        found = opened({"__REALTIME_TIMESTAMP": "0", **entry}, ("journal json",))
        if found is not None:
            yield line_no, found[1]

    def _began(self, name: str, line_no: int) -> None:
        if name == "MESSAGE":
            self.line_no = line_no

    def _keep(self, name: str, value: str) -> None:
        if name in FIELDS:
            self.fields[name] = value

    def _more(self, line: str) -> None:
        """Add another line of a binary value."""
        self.value += line + "\n"
        if len(self.value) < 8:
            return
        size = int.from_bytes(self.value[:8].encode("latin-1"), "little")
        if size > LONGEST_VALUE:
            self._lose()
            raise Broken(f"a value of {size} bytes, longer than {LONGEST_VALUE}")
        if len(self.value) > 8 + size + 1:
            self._lose()
            raise Broken("a value that is longer than it says")
        if len(self.value) == 8 + size + 1:
            self._keep(self.binary or "", self.value[8:-1])
            self.binary, self.value = None, ""

    def _lose(self) -> None:
        self.fields, self.binary, self.value, self.lost = {}, None, "", True
