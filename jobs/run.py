"""The nightly run as a job of its own: land, check, replay, check, publish; see ``election-replay run --help``."""

import sys


def main() -> None:
    """Run as a job of its own: ``spark-submit jobs/run.py --landing DIR --warehouse DIR``."""
    from jobs.cli.app import main as command_line

    sys.exit(command_line(["run", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
