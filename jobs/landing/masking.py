"""Secrets in log lines: values of password-like keys, and passwords in URLs, become ``***`` before a line is read.

Systems print their settings when they start, and settings hold passwords. What a key is called decides, in any case
and whatever stands before or behind the word: ``secretKey=``, ``rocketmq.acl.secretKey:``, ``"acl_secret_key":``,
``--client-secret``, ``<password>``, ``?access_token=``. The key and the form of the line stay: a quoted value stays
quoted, and a bare value of a quoted key, a number of JSON say, becomes a quoted one, so that what could be read can
still be read. An empty value, ``null``, ``true`` and ``false`` are no secrets and say something; they stay.

Hardly any line speaks of such keys: each is asked for the literals first, and by :func:`without_secrets` many lines at
once. Every repetition of a pattern is bounded, possessive, or tried at few places of a line alone, so that no line is
costly.
"""

import re

import polars as pl
import pyarrow.compute as pc

from election_replay.jobs.landing.literals import any_of

MASK = "***"

_NAMES = ("passw", "passphrase", "passcode", "pwd", "secret", "token", "credential", "authorization")
_KEYS = ("access", "account", "api", "auth", "encryption", "private", "shared", "signing")

SPEAKING = ("pass", "pwd", "secret", "token", "credential", "authorization", "key", "bearer")
"""One of these, in small letters, stands in every line with a key of a secret."""

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
"""A key and what stands between it and its value."""

_ENDS = r"""\s,;&|)\]}>"'<"""
_NOTHING = re.compile(rf"(?:null|nil|none|undefined|true|false)?(?:[{_ENDS}\\]|$)", re.ASCII | re.IGNORECASE)
_QUOTE = re.compile(r"""\\{0,7}+["']""")
_BARE = re.compile(
    r"\[[^\[\]{}]*+\]"
    rf"""|(?!\{{(?!\w{{1,20}}\}}))(?:[^{_ENDS}]|(?!\s|</)[{_ENDS}](?!\s|$|[\\"')\]}},;>&|]|[\w.-]{{1,60}}+\s?[=:]))+""",
    re.ASCII,
)
"""A value without quotes: up to a blank, or to a mark with which something else begins or ends.

The repeated group is not possessive: Python before 3.11.5 gets that wrong, and nothing follows it anyway.
"""

_URL = re.compile(r"""(://[^\s/@:"'<>?#]{0,200}+:)(?!\d{1,5}[/?#,;])[^\s/"'<>]{1,1000}@""", re.ASCII)
_ACCOUNT = re.compile(
    r"""([=;,"'][\w.-]{1,100}+:)[^\s/;,"'<>@=:]{1,200}+@(?=[\w.\[:\]-]{1,255}:\d{2,5}(?!\d))""", re.ASCII
)


def masked(text: str) -> str:
    """``text`` without the secrets in it."""
    lowered = text.lower()
    for word in SPEAKING:  # any() would take twice as long, of each line that is kept
        if word in lowered:
            text = _without_values(text)
            break
    return _ACCOUNT.sub(rf"\g<1>{MASK}@", _URL.sub(rf"\g<1>{MASK}@", text)) if "@" in text else text


def _without_values(text: str) -> str:
    """``text`` with the values of its keys masked."""
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
    """Where the quoted value ends that begins at ``at``; at the end of the text if nothing closes it."""
    escapes = r"(?<!\\)(?:\\\\)*" if len(mark) == 1 else r"(?<!\\)"
    found = re.compile(rf"{escapes}{re.escape(mark)}").search(text, at)
    return found.end() - len(mark) if found else len(text)


def without_secrets(texts: pl.Series) -> list[str]:
    """Many texts, each :func:`masked`."""
    found: list[str] = texts.to_list()
    suspect = pc.match_substring_regex(texts.to_arrow(), any_of((*SPEAKING, "@")), ignore_case=True)
    for at in pc.indices_nonzero(suspect).to_pylist():
        found[at] = masked(found[at])
    return found
