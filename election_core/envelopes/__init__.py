"""Envelopes: what shippers put around the lines of a log, and how it is removed before a dialect reads them.

``model``      envelopes and what they tell: node, program, file, time
``prefixes``   envelopes before a line: containers, syslog, journald, kubectl, compose
``objects``    envelopes that are JSON objects: shippers, container engines, log stores
``export``     the only format whose entries have many lines: ``journalctl -o export``
``detection``  finding the envelopes of a file
``reading``    the lines of such a file, one by one
``encodings``  UTF-16, and CR as the line end

Nothing here knows a dialect: the caller passes a test for known lines.
"""

from election_replay.election_core.envelopes.detection import Chain, Known, chain_in, chain_text, detected
from election_replay.election_core.envelopes.model import Broken, Opened
from election_replay.election_core.envelopes.reading import Inner, Reader, Refused

__all__ = ["Broken", "Chain", "Inner", "Known", "Opened", "Reader", "Refused", "chain_in", "chain_text", "detected"]
