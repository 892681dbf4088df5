"""Which of several clocks, or of their segments, to trust no more when they contradict each other."""


def least_trustworthy(pairs: list[tuple[int, int]]) -> list[int]:
    """The fewest segments without which no contradiction is left: always the one in most of them first."""
    left = [pair for pair in pairs if pair[0] != pair[1]]
    dropped: list[int] = []
    while left:
        counts: dict[int, int] = {}
        for pair in left:
            for number in pair:
                counts[number] = counts.get(number, 0) + 1
        most = max(counts.values())
        worst = [number for number, count in sorted(counts.items()) if count == most]
        # Two machines that contradict each other and nobody else: either may be wrong, so trust neither.
        gone = worst if len(counts) == 2 else worst[:1]
        dropped += gone
        left = [pair for pair in left if not set(pair) & set(gone)]
    return dropped
