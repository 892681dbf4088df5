"""Generates docs/runbook.md: the next steps for findings of each rule, by system and cause."""

import sys
from collections.abc import Iterator

from election_replay.election_core.dialects import SYSTEMS
from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.runbook.steps import ANY, CAUSES, REDIS_CLUSTER, all_steps
from election_replay.jobs.showing.markdown import prose

HEAD = """# Runbook

Generated from `jobs/runbook/` by `python -m election_replay.jobs.showing.runbook_page`; do not edit.

What to do when a finding is told: three things to check, in this order, and one that makes it worse. `election-replay
explain` shows the steps of one finding; the views `next_steps` and `rules` have them for SQL. Names in capitals are to
be filled in; what a rule means and what would refute it stands in [rules.md](rules.md). The commands are those of
RocketMQ 5 (`mqadmin`), etcd 3.5 (`etcdctl`, `etcdutl`), ZooKeeper 3.4 to 3.9 (`zkServer.sh`, `zkCli.sh`, four letter
words) and of Linux; each only looks, but for `mqadmin sendMsgStatus`, which sends ten messages to see whether they are
taken."""

NAMES = {**{system.name: system.title for system in SYSTEMS}, REDIS_CLUSTER: "Redis Cluster", ANY: "Any system"}


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from HEAD.splitlines()
    for rule in catalogue().values():
        yield ""
        yield f"## {rule.rule}"
        yield ""
        yield from prose(rule.meaning)
        for steps in all_steps():
            if steps.rule == rule.rule:
                yield ""
                cause = "" if steps.cause == ANY else f", where {CAUSES[steps.cause]}"
                yield f"**{NAMES[steps.system]}{cause}**"
                yield ""
                for number, check in enumerate(steps.checks, 1):
                    yield from prose(str(check), f"{number}. ")
                yield from prose(f"{steps.do_not} ({steps.source})", "4. ")


if __name__ == "__main__":
    sys.stdout.write("\n".join(page()) + "\n")
