"""Secrets in log lines: values of password-like keys, and passwords in URLs, become ``***`` before a line is read.

Systems print their settings when they start, and settings hold passwords. The name of the key decides, in upper or
lower case, with any prefix or suffix: ``secretKey=``, ``rocketmq.acl.secretKey:``, ``"acl_secret_key":``,
``--client-secret``, ``<password>``, ``?access_token=``. The key and the form of the line stay: a quoted value stays
quoted, and the bare value of a quoted key, such as a JSON number, becomes a quoted one, so that JSON stays valid. An
empty value, ``null``, ``true`` and ``false`` are no secrets but information, and stay.

Hardly any line has such a key, so lines are searched for the literals of :data:`SPEAKING` first, and
:func:`without_secrets` searches many lines at once. Every repetition in a pattern is bounded, possessive, or tried at
few places of a line only, so that no line is costly.
"""

import re

import polars as pl
import pyarrow.compute as pc

from election_replay.jobs.landing.literals import any_of

MASK = "***"

_NAMES = ("passw", "passphrase", "passcode", "pwd", "secret", "token", "credential", "authorization")
_KEYS = ("access", "account", "api", "auth", "encryption", "private", "shared", "signing")

SPEAKING = ("pass", "pwd", "secret", "token", "credential", "authorization", "key", "bearer")
"""Every line that holds the key of a secret contains one of these words, once it is lowercased."""

_WORD = rf"(?:{'|'.join(_NAMES)}|(?:{'|'.join(_KEYS)})[-_.]?key|(?<![a-z])pass(?![a-z]))"
_KEY = rf"{_WORD}[\w.-]{{0,60}}+"
_IS = (
    r"(?:"
    r"""(?P<quoted>\\{0,3}["'])?\s{0,3}(?:=>\s{0,3}|:=?\s{0,3}|(?<=\s)=\s{0,3}|=|%3d)"""  # key=value, "key": "value"
    r"""|(?<!-)>"""  # <key>value</key>
    r"""|["']\s{1,3}value\s?=\s?"""  # <property name="key" value="value"/>
    r"""|</name>\s{0,40}<value>"""  # <name>key</name><value>value</value>
    r""")(?:(?:bearer|basic|digest|negotiate)\s{1,3})?"""  # Authorization: Bearer value
)
_OPTION = rf"""--[\w.-]{{0,30}}?{_KEY}(?:\s{{1,3}}|["'],\s?(?=["'])|,\s)(?!-)"""  # --key value
_HEAD = re.compile(rf"{_OPTION}|{_KEY}{_IS}|(?<![a-z])bearer\s{{1,3}}", re.ASCII | re.IGNORECASE)
"""The pattern of a key and of all that stands between the key and its value."""

_ENDS = r"""\s,;&|)\]}>"'<"""
_NOTHING = re.compile(rf"(?:null|nil|none|undefined|true|false)?(?:[{_ENDS}\\]|$)", re.ASCII | re.IGNORECASE)
_QUOTE = re.compile(r"""\\{0,7}+["']""")
_BARE = re.compile(
    r"\[[^\[\]{}]*+\]"
    rf"""|(?!\{{(?!\w{{1,20}}\}}))(?:[^{_ENDS}]|(?!\s|</)[{_ENDS}](?!\s|$|[\\"')\]}},;>&|]|[\w.-]{{1,60}}+\s?[=:]))+""",
    re.ASCII,
)
"""The pattern of a value without quotes, which ends before a blank or before a mark that starts or ends something else.

The repeated group is not possessive: Python before 3.11.5 gets that wrong, and no pattern follows the group anyway.
"""

_URL = re.compile(r"""(://[^\s/@:"'<>?#]{0,200}+:)(?!\d{1,5}[/?#,;])[^\s/"'<>]{1,1000}@""", re.ASCII)
_ACCOUNT = re.compile(
    r"""([=;,"'][\w.-]{1,100}+:)[^\s/;,"'<>@=:]{1,200}+@(?=[\w.\[:\]-]{1,255}:\d{2,5}(?!\d))""", re.ASCII
)


def masked(text: str) -> str:
    """Return ``text`` with each secret value replaced by :data:`MASK`."""
    lowered = text.lower()
    for word in SPEAKING:  # any() would take twice as long, for every line that is kept
        if word in lowered:
            text = _without_values(text)
            break
    return _ACCOUNT.sub(rf"\g<1>{MASK}@", _URL.sub(rf"\g<1>{MASK}@", text)) if "@" in text else text


def _without_values(text: str) -> str:
    """Return ``text`` with the values of secret keys replaced by :data:`MASK`."""
    parts, done = [], 0
    for head in _HEAD.finditer(text):
        at = head.end()
        if at < done:
            continue
        if opening := _QUOTE.match(text, at):
            mark = opening.group()
            at, end = opening.end(), _closing(text, opening.end(), mark)
            if end == at:
                continue
            kept = MASK
        elif not _NOTHING.match(text, at) and (bare := _BARE.match(text, at)):
            end, quote = bare.end(), head["quoted"] or ""
            kept = f"{quote}{MASK}{quote}"
        else:
            continue
        parts += [text[done:at], kept]
        done = end
    return "".join([*parts, text[done:]])


def _closing(text: str, at: int, mark: str) -> int:
    """Return the index of the quote that closes the value which begins at ``at``; ``len(text)`` if none does."""
    escapes = r"(?<!\\)(?:\\\\)*" if len(mark) == 1 else r"(?<!\\)"
    found = re.compile(rf"{escapes}{re.escape(mark)}").search(text, at)
    return found.end() - len(mark) if found else len(text)


def without_secrets(texts: pl.Series) -> list[str]:
    """Return the texts as a list, in their order, each :func:`masked`."""
    found: list[str] = texts.to_list()
    suspect = pc.match_substring_regex(texts.to_arrow(), any_of((*SPEAKING, "@")), ignore_case=True)
    for at in pc.indices_nonzero(suspect).to_pylist():
        found[at] = masked(found[at])
    return found
