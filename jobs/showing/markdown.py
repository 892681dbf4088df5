"""Prose of generated pages, wrapped as that of written ones."""

import re
from textwrap import wrap

COLUMNS = 120
CODE = re.compile(r"`[^`]*`")


def prose(text: str, mark: str = "") -> list[str]:
    """A paragraph, or an entry of a list behind its ``mark``, in lines; code stays on one line, however long."""
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
