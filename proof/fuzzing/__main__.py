"""Fuzzing of all that is landed, guided by coverage (atheris, that is libFuzzer): `pip install -e '.[fuzzing]'` first.

python -m proof.fuzzing                      # ten minutes, dealt among all targets
python -m proof.fuzzing --seconds 3600       # longer
python -m proof.fuzzing --only 'dialect etcd' --keep

An input that crashes, loses a line, takes more than ten seconds or two gigabytes is written to build/fuzzing, and the
exit code is 1. ``--keep`` puts inputs that reach more code beside those that are kept, which tests land again.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from proof.fuzzing.forked import HERE, Target, libfuzzer, targets

FOUND = HERE.parents[1] / "build" / "fuzzing"
SECONDS = 600
LONGEST_BYTES, LONGEST_S, MOST_MB = 4096, 10, 2048
BOUNDS = (f"-max_len={LONGEST_BYTES}", f"-timeout={LONGEST_S}", f"-rss_limit_mb={MOST_MB}")
MOST_KEPT = 12
"""Inputs of a target: a short replay needs no more."""

INPUTS = re.compile(r"^stat::number_of_executed_units: (\d+)", re.MULTILINE)


def fuzzed(target: Target, seconds: int, reached: Path) -> tuple[bool, int, str]:
    """Whether nothing was found, how many inputs were tried, and libFuzzer's words.

    Inputs that reached more code come into ``reached``.
    """
    options = [f"-max_total_time={seconds}", "-print_final_stats=1", f"-artifact_prefix={FOUND}/{target.folder.name}-"]
    log = FOUND / f"{target.folder.name}.log"
    well = libfuzzer(target, [*BOUNDS, *options, str(reached), str(target.folder)], log)
    said = log.read_text(errors="replace")
    tried = INPUTS.search(said)
    return well, int(tried[1]) if tried else 0, said


def keep(target: Target, reached: Path) -> None:
    """Keep some of the inputs that reached more code, small ones and larger ones, until there are enough."""
    found = sorted(reached.iterdir(), key=lambda file: (file.stat().st_size, file.name))
    room = max(MOST_KEPT - len(list(target.folder.iterdir())), 0)
    step = max(len(found) / room, 1) if room else 1
    for file in {found[int(at * step)] for at in range(min(room, len(found)))}:
        shutil.copy(file, target.folder / file.name[:12])


def tell(line: str) -> None:
    """Say how far the fuzzing is."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Fuzz all targets, or one."""
    parser = argparse.ArgumentParser(prog="python -m proof.fuzzing", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for all targets together")
    parser.add_argument("--only", metavar="TARGET", choices=[target.name for target in targets()])
    parser.add_argument("--keep", action="store_true", help="keep inputs that reach more code")
    asked = parser.parse_args()
    FOUND.mkdir(parents=True, exist_ok=True)
    chosen = [target for target in targets() if asked.only in (None, target.name)]
    well, total = True, 0
    for target in chosen:
        with tempfile.TemporaryDirectory() as reached:
            held, tried, said = fuzzed(target, max(asked.seconds // len(chosen), 1), Path(reached))
            tell(f"{target.name}: {tried:,} inputs, {'nothing found' if held else 'FOUND'}")
            if not held:
                tell(said[-3000:])
            elif asked.keep:
                keep(target, Path(reached))
        well, total = well and held, total + tried
    tell(f"{len(chosen)} targets, {total:,} inputs")
    return int(not well)


if __name__ == "__main__":
    sys.exit(main())
