"""Terms and epochs as logical clocks: only known ones are compared."""


def is_larger(term: int | None, other: int | None) -> bool:
    """Whether ``term`` is surely the larger one; of an unknown term nothing follows, and zero is a term like others."""
    return term is not None and other is not None and term > other
