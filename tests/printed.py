"""The commands that pages print, as a shell takes them: one line each, in the order of the page."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLUSTERS = ROOT / "docs/clusters.md"


def sections(page: Path = CLUSTERS) -> dict[str, list[str]]:
    """The commands below each heading of a page, by the heading; headings without any are left out.

    A line that begins with ``--`` is more words for the command before it.
    """
    parts = re.split(r"(?m)^##+ (.+)$", joined(page.read_text(encoding="utf-8")))
    found = {title: list(commands(text)) for title, text in zip(parts[1::2], parts[2::2], strict=True)}
    return {title: lines for title, lines in found.items() if lines}


def section(title: str) -> list[str]:
    """The commands below one heading of the page about clusters."""
    return sections()[title]


def commands(text: str) -> Iterator[str]:
    """The indented lines of a text, and those of its blocks for a shell."""
    for block, line in re.findall(r"(?s)^```sh\n(.*?)^```|^ {4}(\S[^\n]*)", text, re.MULTILINE):
        yield from [line] if line else block.splitlines()


def in_comments(file: Path) -> list[str]:
    """The commands in the comments of a profile, or of a file like it: two more spaces are before them."""
    text = "".join(re.findall(r"(?m)^#.*\n", file.read_text(encoding="utf-8")))
    return re.findall(r"(?m)^ {3}(\S.*)$", joined(re.sub(r"(?m)^#", "", text)))


def joined(text: str) -> str:
    """A text whose commands stand on one line each."""
    return re.sub(r" *\\\n\s*", " ", text)
