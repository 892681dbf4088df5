"""Thin Spark jobs around the election core: land, replay, publish, read.

``land``            log files -> bronze lines and silver events
``replay``          silver events -> gold tables
``validate``        the gates: what must hold before anything is published
``publish``         one row in ``gold.runs`` that makes readers see it
``upkeep``          fewer and only needed files
``map_partitions``  the one place where Spark hands rows to Python
``data_files``      the rows of a landing or a replay, which executors write beside the tables for one commit each
``cli``             the command line over all of it
"""


class JobError(Exception):
    """Something that the user can put right; the message is one sentence that says how, each argument a line of it."""

    exit_code = 1
    """What a command that ends with it exits with."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class WrongCommand(JobError):
    """The command line, or the environment that goes with it, is wrong: nothing was begun."""

    exit_code = 2
