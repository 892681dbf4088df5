"""What limits the verdicts: clocks, silence, doubtful logs, unknown releases, faults of this software."""

from election_replay.election_core.model.catalogue.rule import Rule, RuleId

LIMITS: tuple[Rule, ...] = (
    Rule(
        id=RuleId.NOT_JUDGED,
        severity="warning",
        meaning=(
            "A fault of this software kept a log or a replica group from being replayed; its rows are missing, and "
            "all others were judged. Or a verdict contradicts itself: not everything that it says can be true, so the "
            "finding that says it is only possible."
        ),
        source="This software",
        needs="nothing: it says that something is missing or cannot be true",
        refuted_by="Nothing: a replay by a version without the fault judges what is missing or cannot be.",
    ),
    Rule(
        id=RuleId.LOG_GAP,
        severity="info",
        meaning=(
            "A log is silent for at least ten seconds within one run of its process: the process was frozen, or lines "
            "were lost. Nothing is concluded from the missing lines. A log that is silent for most of its time has no "
            "rhythm, as an excerpt of a search: its holes say nothing."
        ),
        source="RocketMQ logback files: appenders drop INFO lines in bursts",
        needs="the periodic lines of a log",
        proven_by="the two lines around the silence are of one clock",
        refuted_by="Lines of that time in a file that was not collected.",
    ),
    Rule(
        id=RuleId.CLOCK_SKEW,
        severity="warning; info for a step inside the configured bound",
        meaning=(
            "A clock was further from true time than its configured bound, as messages prove, or it was set: its own "
            "lines go back, or no constant offset explains its messages. One finding names each wrong clock, when it "
            "was set and by how much, and how far it was ahead or behind in between. Times are corrected as far "
            "as messages between members prove; around a step they are uncertain. Terms, the order of lines in its "
            "file and all other clocks are not affected."
        ),
        source="Difference constraints between clock offsets; the order of lines in a file",
        needs="a message between the two machines that both logged; lines on both sides of a step in one file",
        proven_by="a message cannot be read before it was sent",
        refuted_by=(
            "Another pair of lines for the message: a request that was sent twice, or an answer to another one."
        ),
    ),
    Rule(
        id=RuleId.IDENTITY_CONTRADICTION,
        severity="warning; info for one log in two folders",
        meaning=(
            "It is not clear for which member a log speaks: it contradicts the inventory, changes its own name, or "
            "another folder speaks for the same member at the same time. Two folders with the same log are judged "
            "once. Members that share one folder and name themselves in each line are told apart; brokers that name "
            "themselves only in some lines are not judged. Rules about the order of one node's lines answer "
            "undecidable."
        ),
        source="RocketMQ brokerName, dLegerGroup, dLegerSelfId; ZooKeeper myid; the inventory in the settings",
        needs="lines in which a process names itself, or an entry of the inventory",
        refuted_by=(
            "A log of another node in the folder: then the lines that name the other group or member are not this "
            "node's own."
        ),
    ),
    Rule(
        id=RuleId.UNKNOWN_VERSION,
        severity="info",
        meaning=(
            "A node runs a release whose log texts and rules are not known: lines that it words differently are not "
            "understood, and nothing is concluded from their absence."
        ),
        source="RocketMQ MQVersion, 4.5 to 5.5; ZooKeeper 3.4 to 3.9; etcd 3.3 to 3.7",
        needs="a line that says the release: its start (ZooKeeper, etcd), or the name of rocketmqHome",
        refuted_by="A line that names a release whose texts are known.",
    ),
)
