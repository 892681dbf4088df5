"""What ``look`` tells of scraps: it answers each, calms falsely about none, and invents no cause."""

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.cli.look import other_zones
from tests.proving import amount

MAILED = Path(__file__).parents[1] / "mailed"

NEVER = (
    "nothing went wrong",
    "Nobody began to lead",
    "Binder Error",
    "gold/",
    "expectation",
    "data_docs",
    "no_overlap",
    "was frozen",
    "somebody asked for it",
    "{'",
)
"""What nobody is told who asked for a look."""

SAID = {
    "dledger-killed-follower": (
        r"0 critical, 0 warning, 0 info",
        r"n0 \(dledger-killed-follower\) dies between 03:26:56 and 03:27:35; it starts again at 03:27:35",
    ),
    "dledger-one-candidate": (r"No line says who became leader", r"Seen of n0 .*: follower .*; candidate"),
    "dledger-preferred-hands-over": (
        r"18:04:53 n0 leads \(term 3\); no line says since when",
        r"18:05:08 n2 becomes leader \(term 4\)",
    ),
    "vault-asks-again": (
        r"asks for votes for term 91",
        r"vlt-0\.vlt-internal:8201 leads by the word of others, vlt-1\.vlt-internal:8201 \(pod\) follows",
        r"follower of vlt-0\.vlt-internal:8201 2 times from 07:32:16\.948",
    ),
    "etcd-k0s": (
        r"f7af985960aaaaaa \(seed-7\): hears no leader for its timeout \(term 2\)",
        r"3d91a6b8c2bbbbbb does not answer its health check",
    ),
    "zk-kibana-table": (
        r"06:53:06\.728 keeper-1: loses its leader",
        r"Seen of keeper-0: candidate from 06:53:06\.935",
    ),
    "consul-journal-one-apart": (
        r"infra-consul28 leads \(term not known\); no line says since when",
        r"infra-consul27 becomes leader \(term 2173\)",
    ),
    "dledger-votes-refused": (
        r"as candidate, is answered by n2 \(term 15\): REJECT_ALREADY_HAS_LEADER",
        r"ends a round of votes for term 15 with 0 of 3 votes: WAIT_TO_REVOTE",
    ),
    "etcd-already-bootstrapped": (
        r"its times have no year: taken for 20\d\d",
        r"08:00:01 .*cannot start, or not join its cluster.* \(2 times, to .*08:00:06\)",
    ),
    "etcd-cluster-id-mismatch": (
        r"its times have no year: taken for 20\d\d",
        r"a member of another cluster is at a configured address \(332a8a315e5ccccc\)",
        r"To tell who leads, ask for the whole log of each etcd member",
    ),
    "etcd-cut-lines": (r"becomes leader \(term 902\)",),
    "etcd-journal-no-year": (
        r"its times have no year: taken for 20\d\d",
        r"15:54:38 134af6e5d3cccccc leads \(term 12282\); no line says since when",
        r"15:54:39 2a09651707aaaaaa \(master-1\) becomes leader \(term 12284\)",
    ),
    "etcd-k3s-no-quorum": (
        r"hears no leader for its timeout \(term 2\) \(2 times, to 08:00:06\.092\)",
        r"706ca1e01eedbbbb does not answer its health check",
        r"No line says who became leader",
    ),
    "etcd-heard-of-two-leaders": (
        r"04:05:20\.100 b2b2b2b2b2b2b2b2 becomes leader \(term 9\)\. What a1a1a1a1a1a1a1a1 was then, the logs do not say",
        r"starts again\. 04:05:40 c3c3c3c3c3c3c3c3 \(member\): is told to stop \(terminated\)\. At the end of the logs",
    ),
    "etcd-two-folders-of-one-member": (
        r"19:08:18\.723 3fb5947b3ed5bbbb becomes leader \(term 9\).*It had led until 19:08:11\.500",
        r"3fb5947b3ed5bbbb leads, a043e4c51f47aaaa \(after\) follows\.",
        r"after/etcd\.log, before/etcd\.log: read as a log of after, the member that speaks in it",
    ),
    "etcd-warn-only": (
        r"its heartbeats, as leader, are late by 2\.7 s",
        r"04:12:31\.773 .*gives up the lead: it hears no quorum",
        r"No line says who became leader",
    ),
    "kafka-broker-not-leader": (
        r"10:20:41\.340 2 .*leads orders-3 in epoch 14",
        r"ask for server\.log, controller\.log and state-change\.log",
    ),
    "kraft-epochs-climb": (r"a round of votes brings no majority", r"No line says who became leader"),
    "kraft-lead-ends": (
        r"1 .*led \(epoch 81\); no line says since when; its lead ends here: it heard of a larger epoch",
    ),
    "sentinels-in-one-text": (
        r"Sentinel_2_log: asks for votes to replace the master of mymaster",
        r"Sentinel_2_log: chooses 10\.9\.0\.89:6379 to take over",
    ),
    "nomad-steps-down": (
        r"nomad-002 led \(term not known\) until 19:39:22\.292: it gave up for want of a quorum",
        r"nomad-001: asks for votes for term 5",
    ),
    "zk-slow-disk-any-name": (
        r"the disk takes 3\.9 s to make entries durable",
        r"ask for the whole server log of each ZooKeeper server",
    ),
    "redis-cluster-no-majority": (
        r"06:14:31\.284 replica: asks for votes for epoch 6",
        r"does not take over: Waiting for votes, but majority still not reached",
        r"ask for the whole log of each server and of each sentinel",
    ),
    "redis-no-good-slave": (
        r"the master of cache cannot be replaced: no replica is fit to take over \(2 times, to 17:05:52\.390\)",
    ),
    "redis-sentinel-pingpong": (
        r"13:34:43\.218 .*names 10\.31\.0\.10:6380 as master of intra from here on.*"
        r"13:37:48\.473 .*names 10\.31\.0\.11:6380 as master of intra.*"
        r"13:38:10\.133 .*names 10\.31\.0\.10:6380 as master of intra",
    ),
    "redis28-sentinel-no-year": (
        r"its times have no year: taken for 20\d\d",
        r"10:26:07\.224 10\.20\.0\.230:6379 becomes master \(epoch 61\)",
    ),
    "rmq-controller-nobody": (
        r"06:02:11 rmq-controller-nobody: broker 1 of b0 is silent for too long",
        r"no replica can become master of b0 \(2 times, to 06:02:16\)",
    ),
    "zk-compose-three": (r"13:22:13\.401 zoo3_1 becomes leader \(epoch 1\)", r"zoo1_1 follows"),
    "zk-confluent-layout": (r"No leader for 60\.2 s", r"cannot reach server 5 for elections at zk-4\.zk-headless:3888"),
    "zk-follower-loses-leader": (
        r"09:49:48\.747 0 .*loses its leader: java\.io\.EOFException",
        r"follower from 09:49:48\.971 to the end of its log",
    ),
    "zk-leader-known-by-its-end": (
        r"2 \(zk2\) led \(epoch not known\) until 03:17:41\.006: it gave up for want of a quorum; no line says since when",
    ),
    "etcd-cks-one-node": (
        r"57aee66a9503bbbb does not answer its health check: dial tcp 10\.1\.0\.38:2380: connect: connection refused",
        r"No leader for 70\.2 s",
        r"No line says who became leader",
    ),
    "etcd-force-new-cluster": (
        r"3 entries that were not committed are dropped",
        r"08:41:00\.100 .*makes a new cluster of itself alone.*the old members must be wiped",
        r"member bb00000000000002 is removed from the cluster",
        r"09:30:00 .*a member of another cluster is at a configured address \(cc00000000000003\)",
    ),
    "etcd-glued-json": (
        r"07:12:02\.983 27ecc6d4a68daaaa \(follower\) led \(term 511\); no line says since when",
        r"07:12:04\.694 27ecc6d4a68daaaa \(follower\) becomes leader again \(term 515\): it ran, and gave up because a "
        r"member came with a larger term",
    ),
    "etcd30-leader-flap": (
        r"19:08:10\.300 a043e4c51f47aaaa \(node-a\) leads \(term 7\); no line says since when",
        r"19:08:18\.723 3fb5947b3ed5bbbb becomes leader \(term 9\).*had given up\. "
        r"It had led until 19:08:11\.500: no line shows a leader for 7\.2 s",
    ),
    "etcd-heartbeats-only": (
        r"its heartbeats, as leader, are late by 41 to 312 ms \(3 times, to 11:20:58\.402\)",
        r"no line tells a role",
        r"To tell who leads, ask for the whole log of each etcd member",
    ),
    "etcd-rke-removed": (r"09:17:44\.690 .*\(s3\): learns that its cluster removed it, and ends", r"must be wiped"),
    "k8s-cri-restart": (r"6073661cd508bbbb becomes leader \(term 28\)",),
    "nested-zip-mixed": (r"No leader for 14\.8 s to 19\.9 s",),
    "newest-first": (r"master-2\.log: the newest line comes first: it is read backwards", r"No leader for 14\.8 s"),
    "rmq-controller-flap-one-slave": (
        r"01:00:01 1 leads \(epoch 6\); no line says since when",
        r"02:12:33 2 becomes master \(epoch 7\)\. What",
        r"02:14:21 2 becomes master \(epoch 9\)\. What",
        r"2: the controller refuses its SyncStateSet: .*\{1\}",
    ),
    "rmq-controller-unreachable": (
        r"reaches none of its controllers \[10\.24\.24\.41:8878, 10\.24\.24\.42:8878, 10\.24\.24\.43:8878\]",
        r"No line says who became master",
    ),
    "rmq-haclient-expired": (
        r"connection to its master 10\.0\.0\.10:10912 was silent for too long",
        r"no line tells a role",
        r"ask for all of ~/logs/rocketmqlogs of each broker",
    ),
    "rmq-namesrv-only": (
        r"02:31:00 .*the broker at 10\.0\.0\.1:10911 says nothing for 2 min 0 s: the name server drops it",
        r"02:31:01 .*the name server registers the broker at 10\.0\.0\.1:10911 \(2 times, to 02:31:30\)",
        r"a name server does not know who leads",
    ),
    "rmq-one-dledger-broker": (
        r"03:43:20 .*did not follow its DLedger member, which was leader \(term 9\): it gave up after 2 min 26 s",
        r"No leader for at most 2 min 38 s: rmq-one-dledger-broker \(term 9\) was elected but did not serve, until "
        r"rmq-one-dledger-broker led term 11 and served clients 6 s to 8 s later",
        r"becomes leader again \(term 11\)",
    ),
    "small-crash-no-facts": (r"late by 312 ms", r"no line tells a role", r"To tell who leads, ask for"),
    "small-false-frozen": (
        r"What 2 \(small-false-frozen\) was then, the logs do not say\. Its log has no line from 02:12:51 to 02:13:05\.",
    ),
    "small-newest-first": (r"it is read backwards", r"10:39:01 c3c3c3c3c3c3c3c3 leads \(term 2\)"),
    "small-removed-member": (r"learns that its cluster removed it, and ends",),
    "talos-prefixed-learner": (
        r"1 cluster, 1 replica group",
        r"192\.168\.7\.12 is member 69fe75323e12bbbb of 8138989705480001",
        r"09:46:29\.425 .*member 192\.168\.7\.12 at https://192\.168\.7\.12:2380 is added to the cluster as a learner",
        r"a change of members is refused: learner is not ready \(13 times, to 09:58:29\.438\)",
    ),
    "zk-brackets-eaten": (
        r"08:23:21\.160 .*wins an election, and is not established yet",
        r"breaks off: Timeout while waiting for epoch from quorum",
    ),
    "zk-k8s-one-pod": (
        r"No leader for 2 min 42 s",
        r"cannot reach server 2 for elections at demo-zookeeper-1\.demo-zookeeper-headless\.messaging:3888",
    ),
    "zk-votes-only": (
        r"hears no vote in time, and waits for one for up to 25\.6 s more",
        r"as candidate, hears server 2, which is LEADING, vote for server 2",
    ),
    "zk-warnings-of-two": (
        r"10:00:05\.120 zk1: cannot reach server 3 for elections at zk3/10\.7\.0\.13:3888",
        r"10:02:30\.240 zk1, zk2: loses its leader",
        r"zk2: breaks off with learner one that it does not name",
    ),
    "zk-leader-cannot-bind": (
        r"wins an election and cannot lead: it cannot listen for the others at "
        r"zk-0\.zk-headless\.default\.svc\.cluster\.local:2888 \(2 times, to 16:25:41\.551\)",
    ),
    "consul-leader-misses": (
        r"23:38:50 .*does not vote for 10\.7\.0\.12:8300",
        r"At the end of the logs \(23:38:58\) .*leads\.",
    ),
    "consul-output-key": (r"asks for votes for term 588", r"asks for votes for term 589"),
    "etcd-leader-and-asker": (
        r"04:05:10\.500 issue-part-2: asks for votes for term 71",
        r"04:05:12\.910 issue-part-1 leads no longer: it heard of a larger term",
    ),
    "kraft-votes-rejected": (r"rejected the vote that 6 asks for in epoch 12", r"No line says who became leader"),
    "redis-cluster-letters": (
        r"CACHE1 led \(epoch not known\) until 03:11:44\.034",
        r"CACHE2: its lines call it a master",
        r"CACHE3: its lines call it a replica",
    ),
    "redis-rows-of-a-table": (
        r"Seen of cache-0: follower of 10\.9\.1\.6:6379",
        r"Seen of cache-1: follower of 10\.9\.1\.5:6379",
    ),
    "sentinel-names-the-year": (
        r"taken for 2021, since its lines name that year",
        r"2021-11-10 03:52:40\.820 .*the sentinel (2d){20} votes for (1c){20} in epoch 37",
        r"is not replaced: this sentinel is not elected in time",
    ),
    "sentinels-as-list": (
        r"its headings name 2 logs",
        r"watch-2: names 10\.9\.45\.89:6379 as master of orders from here on",
    ),
    "vault-unknown-term": (
        r"led \(term not known\) until 04:17:39\.602: .* No line shows a leader for 23\.1 s\.",
        r"vlt-0: asks for votes for term 19",
    ),
    "zk-smaller-id": (r"1 \(zk\): has a smaller id than server 2, and waits for that one to connect",),
}
"""Of each folder what has to be told, as patterns over the answer in one line."""


def told(capsys: pytest.CaptureFixture[str], folder: Path) -> str:
    """What ``look`` says of a folder, in one line; it ends well, and has none of the words that nobody is told."""
    code = main(["look", str(folder)])
    out, err = capsys.readouterr()
    assert code == 0, err
    answer = re.sub(r"\s+", " ", out + err)
    for words in NEVER:
        assert words not in answer
    return answer


FOLDERS = sorted(path.name for path in MAILED.iterdir() if path.is_dir())
LAYOUTS = MAILED / "etcd-layout-matrix"
"""One cluster's logs in many layouts, each in a folder of its own; `make prove` looks at all of them."""


@pytest.mark.parametrize("folder", [name for name in FOLDERS if name != LAYOUTS.name])
def test_each_is_answered(
    folder: str, capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]
) -> None:
    record_property("folders as people mail them", 1)
    answer = told(capsys, MAILED / folder)
    for pattern in SAID.get(folder, ()):
        assert re.search(pattern, answer), f"{pattern} is not told: {answer}"


@pytest.mark.parametrize("layout", sorted(path.name for path in LAYOUTS.iterdir())[:: amount(3, 1)])
def test_one_story_is_told_in_any_layout(layout: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = told(capsys, LAYOUTS / layout)
    assert re.search(r"No leader for 14\.8 s to 19\.9 s: (a1a1a1a1a1a1a1a1 \()?[\w-]+\W+term \d+\) died", answer)


def test_a_run_over_logs_without_a_role_says_what_their_lines_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "landing/c1/nodes/n1/logs"
    shutil.copytree(MAILED / "small-crash-no-facts", logs)
    command = ["run", "--engine", "local", "--landing", str(tmp_path / "landing"), "--warehouse", str(tmp_path / "w")]
    assert main([*command, "--config", "none"]) == 0
    answer = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "0 clusters, 0 replica groups" in answer
    for pattern in SAID["small-crash-no-facts"]:
        assert re.search(pattern, answer), f"{pattern} is not told: {answer}"


def test_every_folder_is_described() -> None:
    listed = re.findall(r"^\| ([\w-]+) \|", (MAILED / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in listed if name != "folder"] == FOLDERS
    assert SAID.keys() <= set(listed)


def test_the_file_for_build_servers_is_written_though_nobody_reads_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by ``look FOLDER --junit FILE | head``."""

    def closed(line: str) -> None:
        raise BrokenPipeError(line)

    monkeypatch.setattr("sys.stdout", sys.stdout)  # which the command closes
    monkeypatch.setattr("election_replay.jobs.cli.look.print_line", closed)
    assert main(["look", str(MAILED / "small-removed-member"), "--junit", str(tmp_path / "verdict.xml")]) == 1
    assert "<testsuite" in (tmp_path / "verdict.xml").read_text(encoding="utf-8")


def test_nodes_that_are_whole_hours_off_are_in_another_zone_perhaps() -> None:
    class Offsets:
        def rows(self, _: str) -> list[dict[str, object]]:
            moved = {"n0": -28_799_956, "n1": 5_400_000, "n2": 0, "n3": 3_700_000}
            return [{"source_node": node, "moved_ms": ms} for node, ms in moved.items()]

    assert [*other_zones(Offsets())] == [  # type: ignore[arg-type]
        "  n0: its times are 8 h ahead of the others': in another time zone, perhaps (--config)",
        "  n1: its times are 1.5 h behind the others': in another time zone, perhaps (--config)",
    ]
