"""Terms and epochs as logical clocks: only known ones are compared."""


def is_larger(term: int | None, other: int | None) -> bool:
    """Return True when ``term`` is known to be larger; an unknown term proves nothing, and zero is a term."""
    return term is not None and other is not None and term > other
