"""The deterministic election core: logs as evidence, rules as pure functions, verdicts as data.

Nothing in this package imports Spark, reads a clock, draws a random number or touches a file. Time is a
field of an event. The way of the data is *fold per node, judge per group*:

``dialects``   text of a log line -> :class:`~election_core.model.events.Event`
``replay``     events of one node, in program order -> facts; facts of one group -> verdicts
``protocols``  the rules themselves, one file a protocol
"""

RULES_VERSION = "22"
"""Version of the rules; changes whenever the same events may lead to other verdicts."""

FACTS_VERSION = "14"
"""Version of the facts. Those of another one are not read: they are made anew from the events. It grows with every
change of a kind's name or fields, which need not change a rule."""
