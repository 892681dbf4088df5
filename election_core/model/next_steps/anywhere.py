"""What to do about findings whatever the system: clocks, logs, identities, and protocols without tools of their own."""

from functools import partial

from election_replay.election_core.model.catalogue.rule import RuleId
from election_replay.election_core.model.next_steps import commands as run
from election_replay.election_core.model.next_steps.steps import ANY, WAS_SET, Check, NextSteps

CHRONY = "chrony documentation, chronyc"
OURS = "docs/operations.md"
BULLY = "Garcia-Molina (1982)"
RING = "Chang and Roberts (1979)"

_LINES = Check("What each node logged around that moment, in one time", run.AROUND)
_EXPLAIN = Check("Which lines prove it, and what would refute it", run.LINES)
_MACHINES = Check("Which machine spoke as which member, and when", run.IDENTITIES)
_NET = Check("Whether the nodes reach each other", run.REACH)
_UP = Check("Since when the process runs", run.SYSTEMD)
_LANDED = Check("Which files were read, and what was wrong with them", run.LANDED)

of = partial(NextSteps, system=ANY)

ANYWHERE_STEPS: tuple[NextSteps, ...] = (
    of(
        rule=RuleId.SPLIT_BRAIN_SAME_TERM,
        checks=(_MACHINES, _LINES, _NET),
        do_not="Do not restart both leaders: first find out which of them the others followed.",
        source=f"{BULLY}; {RING}",
    ),
    of(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        checks=(_LINES, _NET, _UP),
        do_not="Do not restart the older leader before what it did meanwhile is known.",
        source=f"{BULLY}; {RING}",
    ),
    of(
        rule=RuleId.LEADERLESS,
        checks=(_LINES, _UP, _NET),
        do_not="Do not restart all nodes at once: that ends the election that is under way, and begins another one.",
        source=f"{BULLY}; {RING}",
    ),
    of(
        rule=RuleId.ELECTION_STORM,
        checks=(_NET, _LINES, _UP),
        do_not="Do not restart nodes one after the other to calm it: each restart is one more election.",
        source=f"{BULLY}; {RING}",
    ),
    of(
        rule=RuleId.MEMBER_CANNOT_JOIN,
        checks=(
            Check("Which error the member prints each time that it gives up", run.AROUND),
            Check("Whether its disk is full or slow", run.DISK),
            _NET,
        ),
        do_not="Do not restart another member before this one has joined: the group may have none to spare.",
        source="Raft section 5.5; ZooKeeper administrator's guide",
    ),
    of(
        rule=RuleId.BULLY_NOT_HIGHEST,
        checks=(_LINES, _UP, _NET),
        do_not="Do not give a node another id while the group runs.",
        source=BULLY,
    ),
    of(
        rule=RuleId.RING_NOT_HIGHEST,
        checks=(_LINES, _UP, _NET),
        do_not="Do not give a node another id while the ring runs.",
        source=RING,
    ),
    of(
        rule=RuleId.CLOCK_SKEW,
        checks=(
            Check("How far the machine's clock is from its sources now", run.CHRONY),
            Check("Which sources it follows, and whether they can be reached", run.CHRONY_SOURCES),
            Check("Which clocks were wrong, when, and by how much", run.CLOCKS),
        ),
        do_not="Do not set the clock by hand while the node leads: let it be slewed, or hand leadership over first.",
        source=CHRONY,
    ),
    of(
        rule=RuleId.CLOCK_SKEW,
        cause=WAS_SET,
        checks=(
            Check("Who set the clock: the time service, a person, or a machine that was restored", run.CLOCK_JUMPS),
            Check("How far the machine's clock is from its sources now", run.CHRONY),
            Check("Which clocks were wrong, when, and by how much", run.CLOCKS),
        ),
        do_not="Do not compare times around the jump by hand: the order of lines in one file still holds.",
        source=CHRONY,
    ),
    of(
        rule=RuleId.LOG_GAP,
        checks=(
            Check("Whether a pause of the process fills the silence", run.PAUSES),
            Check("Whether the machine itself stood still", run.OOM),
            _LANDED,
        ),
        do_not="Do not conclude anything from lines that are missing in it: the process may have run.",
        source=OURS,
    ),
    of(
        rule=RuleId.IDENTITY_CONTRADICTION,
        checks=(_MACHINES, _LANDED, _EXPLAIN),
        do_not="Do not correct the inventory before the folder's logs are known to be of one machine.",
        source=OURS,
    ),
    of(
        rule=RuleId.UNKNOWN_VERSION,
        checks=(
            Check("Which lines name the release", run.LINES),
            Check("Which lines are read, and as what", "election-replay inspect FILE"),
            _LANDED,
        ),
        do_not="Do not take silence about this node for health: lines that it words differently are not understood.",
        source=OURS,
    ),
    of(
        rule=RuleId.NOT_JUDGED,
        checks=(
            Check("What the fault is", run.LINES),
            Check("Whether it goes away when the cluster is judged anew", run.REPLAY),
            _LANDED,
        ),
        do_not="Do not delete the logs: a version without the fault judges what is missing from them.",
        source=OURS,
    ),
)
