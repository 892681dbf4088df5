"""Wrapping of prose in generated Markdown pages."""

import re
from textwrap import wrap

COLUMNS = 120
CODE = re.compile(r"`[^`]*`")


def prose(text: str, mark: str = "") -> list[str]:
    """Return a paragraph, or a list entry that begins with ``mark``, as lines; code is never broken."""
    whole = CODE.sub(lambda code: code[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    lines = wrap(
        whole,
        COLUMNS,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
