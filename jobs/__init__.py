"""Jobs around the election core: land, replay, publish, read.

Each job is a module here whose function shows its steps; what a step does stands in a room, a package of its own.

``land``            log files -> bronze lines and silver events
``replay``          silver events -> gold tables
``validate``        the gates: what must hold before anything is published
``publish``         one row in ``gold.runs`` that makes readers see it
``upkeep``          fewer and only needed files
``run``             a night: land, check, replay, check, publish
``spark_views``     what is published, in anybody's Spark session

The rooms, from the top to the bottom; none knows one above it: ``cli``, ``showing``, then ``reading``, ``landing``,
``replaying``, ``gates`` and ``publishing``, which do not know each other, ``engines``, ``warehouse``, ``settings``.
"""

import os

ARROW_MEMORY = "ARROW_DEFAULT_MEMORY_POOL"
"""The variable that tells Arrow, when it first asks for memory, where to take it from."""

os.environ.setdefault(ARROW_MEMORY, "system")  # Arrow's own choice keeps what was freed: a driver held a third more

POLARS_THREADS = "POLARS_MAX_THREADS"
"""The variable that tells polars, when it is imported, how many threads to start. By default they are as many as there
are cores, in each process of its own: all but one stand in the others' way. Who imports us may want polars for himself,
so that only processes of ours set it."""

ONE_THREAD = "1"
"""What they set it to, unless it is set."""


class JobError(Exception):
    """Something that the user can put right; the message is one sentence that says how, each argument a line of it."""

    exit_code = 1
    """What a command that ends with it exits with."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class WrongCommand(JobError):
    """The command line, or the environment that goes with it, is wrong: nothing was begun."""

    exit_code = 2
