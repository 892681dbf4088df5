"""What stands around the lines of a log when they come here, and how it comes off before a dialect reads them.

``model``      what an envelope is and what it says: the node, the program, the file, a time
``prefixes``   envelopes in front of a line: containers, syslog, journald, kubectl, compose
``objects``    envelopes that are JSON objects: shippers, container engines, log stores
``export``     the one format whose entries are many lines: ``journalctl -o export``
``detection``  which envelopes a file's lines came in
``reading``    the lines of such a file, one by one
``encodings``  UTF-16, and line ends that are none

Nothing here knows a dialect: what a known line looks like is asked of whoever calls.
"""

from election_replay.election_core.envelopes.detection import Chain, Known, chain_in, chain_text, detected
from election_replay.election_core.envelopes.model import Broken, Opened
from election_replay.election_core.envelopes.reading import Inner, Reader, Refused

__all__ = ["Broken", "Chain", "Inner", "Known", "Opened", "Reader", "Refused", "chain_in", "chain_text", "detected"]
