"""Jobs around the election core: land, replay, publish, read.

Each job is a module here whose function shows its steps; the steps are implemented in the packages.

``land``            log files -> bronze lines and silver events
``replay``          silver events -> gold tables
``validate``        the gates: what must hold before anything is published
``publish``         one commit to the pointer, after which readers see the run
``upkeep``          joins small files, removes files that no kept run needs
``run``             a night: land, check, replay, check, publish
``spark_views``     the published tables, in a Spark session of the user's

Packages from top to bottom; none imports one above it: ``cli``, ``showing``, then ``reading``, ``landing``,
``replaying``, ``gates`` and ``publishing``, which do not import each other; ``engines``, ``warehouse``, ``settings``.
"""

import os

ARROW_MEMORY = "ARROW_DEFAULT_MEMORY_POOL"
"""The environment variable by which Arrow chooses its allocator, when it first allocates."""

os.environ.setdefault(ARROW_MEMORY, "system")  # Arrow's default keeps what was freed: a driver held a third more

POLARS_THREADS = "POLARS_MAX_THREADS"
"""The environment variable with the number of threads that polars starts when it is imported. By default each process
starts one a core, and ours run side by side on all cores. A user who imports this package may use polars himself, so
only processes that we start set it."""

ONE_THREAD = "1"
"""The number of polars threads in our processes, unless the variable is set."""


class JobError(Exception):
    """An error that the user can fix; the message says how. Each argument is a line of it."""

    exit_code = 1
    """The exit code of a command that ends with this error."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class WrongCommand(JobError):
    """The command line or its environment is wrong; nothing was begun."""

    exit_code = 2
