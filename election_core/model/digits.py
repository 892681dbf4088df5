"""Whole numbers as printed in logs."""

LONGEST = 19
LARGEST = 2**63 - 1


def number(printed: str | None) -> int | None:
    """Return ``printed`` as a number, or ``None`` unless it is ASCII digits alone and fits into 64 bits.
    ``str.isdigit`` does not suffice: it accepts ``²``, which ``int`` refuses."""
    if printed is None or len(printed) > LONGEST or not (printed.isascii() and printed.isdigit()):
        return None
    found = int(printed)
    return found if found <= LARGEST else None
