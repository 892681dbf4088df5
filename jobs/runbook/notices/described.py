"""Notices of programs that a table describes: those of the settings, and HashiCorp's Raft library."""

_SENTENCES = {
    "ASKS": "asks for votes[ for term {term}]",
    "REFUSES": "does not vote for {peer}",
    "LOST": "does not hear its leader any more[: {peer}]",
}

ALWAYS: dict[str, str] = {}
WHERE_LITTLE_IS_KNOWN = {f"{system}_{kind}": text for system in ("HR", "TOLD") for kind, text in _SENTENCES.items()}
IN_EXCERPTS: dict[str, str] = {}
NEVER = frozenset[str]()
APART = frozenset[str]()
