"""The nightly run as a job of its own: land, check, replay, check, publish; see ``election-replay run --help``."""

import sys

if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["run", *sys.argv[1:]]))
