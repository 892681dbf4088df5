"""``python -m texts``: fetch, extract, compare, write; fails on a statement that is neither known nor left out.

``--recorded``: compare the statements of the last fetch, which lie in ``texts/facts``.
"""

import sys
from pathlib import Path

from texts.compare import compare
from texts.facts import SYSTEMS, extracted, read, write
from texts.fetch import fetch
from texts.report import page

PAGE = Path(__file__).parents[1] / "docs" / "releases.md"


def main() -> int:
    """Return the exit code: 1 where sources are missing or a statement is unknown."""
    if "--recorded" not in sys.argv[1:]:
        missing = fetch()
        if missing:
            print(f"could not be fetched: {', '.join(missing)}", file=sys.stderr)  # noqa: T201 - a command for a person
            return 1
        write(list(extracted()))
    verdicts = [verdict for system in SYSTEMS for verdict in compare(read(system))]
    PAGE.write_text(page(verdicts), encoding="utf-8")
    unknown = sum(one.unknown for one in verdicts)
    print(f"{len(verdicts)} statements, {unknown} of them unknown: {PAGE.relative_to(Path.cwd())}")  # noqa: T201
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
