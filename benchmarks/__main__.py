"""All that is measured of landing and replaying: `make bench` prints it, and rewrites docs/performance.md."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.printed import rewritten

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
MODULES = ("sizes", "landing_alone", "landing", "engines", "replay")


def printed() -> Iterator[str]:
    """The lines of all benchmarks, as they come. One that fails ends it."""
    for module in MODULES:
        command = [sys.executable, "-m", f"benchmarks.{module}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            yield from (line for line in running.stdout or () if line.startswith('{"name"'))
        if running.returncode:
            sys.exit(f"{' '.join(command)} ended with {running.returncode}")


def main() -> None:
    """Measure, print, and write what was printed into the page."""
    lines = []
    for line in printed():
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    now = datetime.now(UTC).date().isoformat()
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), lines, now), encoding="utf-8")


if __name__ == "__main__":
    main()
