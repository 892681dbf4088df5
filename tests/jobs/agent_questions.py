"""Questions that people ask about real clusters, the calls that an agent makes, and what the answers must say.

The truth of each is in the run's ``run.json``, not in this program. ``FOUND`` stands for the id of the first finding
that the call before it listed.
"""

from dataclasses import dataclass
from typing import Any

FOUND = "(the first finding)"

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Question:
    """``answer`` is a regular expression that the answers of ``calls`` must fit, taken together."""

    about: str
    text: str
    calls: tuple[Call, ...]
    answer: str


def findings(cluster: str, severity: str | None = None) -> Call:
    return "findings", {"cluster": cluster, "severity": severity}


def incident(cluster: str, group: str) -> Call:
    return "incident", {"cluster": cluster, "group": group}


def sql(query: str) -> Call:
    return "sql", {"query": query}


def whois(name: str) -> Call:
    return "whois", {"name": name}


EXPLAIN: Call = ("explain", {"finding_id": FOUND})
RUNBOOK: Call = ("runbook", {"finding_id": FOUND})
CUT_OFF, STOCK, OLD_COPY, KILLED = "master-cut-off", "chaos-stock", "old-copy-497", "kill-leader-533"
LOW, MAJORITY, OLDER, ACTING = "partial-nopv-3535", "kill-majority-384", "older-data-387", "failover-preonline-clean"
REDIS, ETCD = "isolate-master-writer", "kill-leader-35"

QUESTIONS = (
    Question(
        CUT_OFF, "Were there two masters at once, and which?", (findings(CUT_OFF, "critical"),), "broker-1.*broker-3"
    ),
    Question(CUT_OFF, "How many bytes were lost?", (findings(CUT_OFF, "critical"),), "52,?544 bytes"),
    Question(CUT_OFF, "For how long were there two?", (findings(CUT_OFF, "critical"),), "3[4-6](?:\\.\\d)? s"),
    Question(
        CUT_OFF,
        "Which line shows that the second one became master?",
        (findings(CUT_OFF, "critical"), EXPLAIN),
        "broker-3/logs/rocketmqlogs/broker.log:\\d+[^§]*Begin to change to master",
    ),
    Question(CUT_OFF, "What would refute that?", (findings(CUT_OFF, "critical"), EXPLAIN), "refute"),
    Question(CUT_OFF, "What do I check first?", (findings(CUT_OFF, "critical"), RUNBOOK), "Check first: "),
    Question(CUT_OFF, "What must I not do?", (findings(CUT_OFF, "critical"), RUNBOOK), "Do not"),
    Question(CUT_OFF, "Who was master at the end?", (incident(CUT_OFF, "bs-orders"),), "3 \\(broker-3\\) leads"),
    Question(CUT_OFF, "Why was a new master elected?", (incident(CUT_OFF, "bs-orders"),), "cut off"),
    Question(CUT_OFF, "Whose address is 10.81.1.23:10911?", (whois("10.81.1.23:10911"),), "3 is a member of bs-orders"),
    Question(
        CUT_OFF,
        "Who led the controllers?",
        (sql(f"SELECT term, leader FROM terms WHERE cluster = '{CUT_OFF}' AND replica_group = 'controller'"),),
        "1\tn1",
    ),
    Question(
        CUT_OFF,
        "Which brokers were in the SyncStateSet?",
        (sql(f"SELECT members, start_time FROM sync_state_sets WHERE cluster = '{CUT_OFF}' ORDER BY start_time"),),
        "3",
    ),
    Question(
        STOCK, "Which machine's clock was set?", (sql(f"SELECT * FROM clocks WHERE cluster = '{STOCK}'"),), "srv-12"
    ),
    Question(
        STOCK,
        "Who was master of epoch 12?",
        (sql(f"SELECT leader FROM terms WHERE cluster = '{STOCK}' AND replica_group = 'stock_7' AND term = 12"),),
        "leader\n3$",
    ),
    Question(STOCK, "Who is broker 3?", (whois("srv-12"),), "3 is a member of stock_7"),
    Question(OLD_COPY, "Did a node forget its term?", (findings(OLD_COPY, "critical"),), "TERM_REGRESSION[^§]*n1"),
    Question(OLD_COPY, "Who voted twice?", (findings(OLD_COPY, "critical"),), "DOUBLE_VOTE[^§]*n1"),
    Question(OLD_COPY, "Did two lead one term?", (findings(OLD_COPY, "critical"),), "SPLIT_BRAIN_SAME_TERM[^§]*term 2"),
    Question(KILLED, "Who led after the kill?", (incident(KILLED, "RaftNode00"),), "n2 becomes leader \\(term 2"),
    Question(KILLED, "Why did the leader change?", (incident(KILLED, "RaftNode00"),), "n1 had died|n1 died|n1 dies"),
    Question(
        KILLED,
        "How long was there no leader?",
        (sql(f"SELECT summary FROM findings WHERE cluster = '{KILLED}' AND rule = 'LEADERLESS'"),),
        "No leader for",
    ),
    Question(LOW, "Was anything lost?", (sql(f"SELECT count(*) AS n FROM losses WHERE cluster = '{LOW}'"),), "n\n0$"),
    Question(
        LOW,
        "Which terms were led, and by whom?",
        (sql(f"SELECT term, leader FROM terms WHERE cluster = '{LOW}' AND leader IS NOT NULL ORDER BY term"),),
        "term\tleader\n2\t",
    ),
    Question(
        ETCD,
        "How many elections were there?",
        (sql(f"SELECT count(*) AS n FROM terms WHERE cluster = '{ETCD}' AND leader IS NOT NULL"),),
        "n\n2$",
    ),
    Question(MAJORITY, "Was there a time without a quorum?", (findings(MAJORITY),), "LEADERLESS"),
    Question(
        OLDER,
        "Who led which epoch?",
        (sql(f"SELECT term, leader FROM terms WHERE cluster = '{OLDER}' AND leader IS NOT NULL ORDER BY term"),),
        "term\tleader\n1\t",
    ),
    Question(ACTING, "Who acted as master?", (incident(ACTING, "broker-a"),), "1 \\(broker-a-1\\) acts as master"),
    Question(REDIS, "Were there two masters?", (findings(REDIS, "critical"),), "redis-1.*redis-3"),
    Question(REDIS, "How much was thrown away?", (findings(REDIS, "critical"),), "29,?995 bytes"),
    Question(REDIS, "Which server is 10.84.6.11?", (whois("10.84.6.11"),), "redis-1"),
)
