"""``python -m election_replay.jobs.cli``: the command line where its script is not on the path."""

import sys

from election_replay.jobs.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
