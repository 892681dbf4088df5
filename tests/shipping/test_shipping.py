"""Real lines of real clusters, shipped by the real programs, give the events of the plain files."""

import gzip
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.jobs.zone import Zone
from tests.shapes.matrix import ALONE, SYSTEMS, landed_plain, lines_of, plain
from tests.shipping.tools import block, free_port, lines_in, listens, needs, run, running, skipped, wait_for

WHOSE = frozenset({"node", "source_node"})


def told(zone: Zone, without: frozenset[str] = frozenset()) -> list[str]:
    """What the events say, in the order of their times."""
    rows = [row for row in zone.tables["events"] if row["kind"] != "TICK"]
    return sorted(repr({name: row[name] for name in sorted(row) if name not in ALONE | without}) for row in rows)


def halves(system: str) -> tuple[list[bytes], list[bytes]]:
    """The lines of a system, cut where a record begins."""
    lines = plain(system).splitlines(keepends=True)
    begins = [at for at, line in enumerate(lines) if re.match(rb"2026|\{", line)]
    cut = begins[len(begins) // 2]
    return lines[:cut], lines[cut:]


def assert_plain(zone: Zone, system: str, without: frozenset[str] = frozenset()) -> None:
    problems = [row["problem"] for row in zone.tables["landed_files"] if row["problem"]]
    assert not problems, problems
    assert not zone.tables["quarantine"]
    assert told(zone, without) == told(landed_plain(system), without)


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    return Zone(tmp_path / "landing")


def placed(text: str, **places: Path | str) -> str:
    """A configuration of the page, with folders and hosts of the test."""
    for name, place in places.items():
        at = {"logs": "/var/log/brokers", "landing": "/srv/landing/payments", "host": "landing.example.org"}.get(
            name, name
        )
        assert at in text, at
        text = text.replace(at, str(place))
    return text


# rsync


@pytest.mark.parametrize("system", SYSTEMS)
def test_rsync_night_by_night_over_rolling(zone: Zone, system: str, tmp_path: Path) -> None:
    """A log grows, rolls with its numbers moving, is compressed; rsync brings it three times."""
    needs("rsync")
    command = block("rsync")
    logs, name, (old, new) = tmp_path / "logs", SYSTEMS[system], halves(system)
    logs.mkdir()
    words = placed(re.search(r"^rsync .*$", command, re.MULTILINE)[0], **{"broker-1:/var/log/brokers/": f"{logs}/"})  # type: ignore[index]
    words = words.replace("/srv/landing/payments/nodes/broker-1/logs/", f"{zone.logs}/")
    for end in (len(old) // 3, len(old) // 2, len(old)):
        (logs / name).write_bytes(b"".join(old[:end]))
        run(*words.split())
        zone.land()
    (logs / f"{name}.1.gz").write_bytes(gzip.compress((logs / name).read_bytes()))
    (logs / name).write_bytes(b"".join(new))
    run(*words.split())
    zone.land()
    zone.land()
    assert_plain(zone, system)


# logrotate


def rotate(config: Path, state: Path) -> None:
    config.chmod(0o644)
    run(needs("logrotate"), "--force", "--state", str(state), str(config))


@pytest.mark.parametrize("system", SYSTEMS)
def test_logrotate_with_copytruncate(zone: Zone, system: str, tmp_path: Path) -> None:
    """The process goes on writing into the file that was emptied; landings come before, between and after."""
    needs("logrotate")
    config = tmp_path / "brokers"
    config.write_text(placed(block("/etc/logrotate.d/brokers"), logs=zone.logs))
    zone.logs.chmod(0o755)
    old, new = halves(system)
    log = zone.logs / "zookeeper.out" if system == "zookeeper" else zone.logs / SYSTEMS[system]
    with log.open("ab") as writer:
        writer.writelines(old[: len(old) // 2])
        writer.flush()
        zone.land()
        writer.writelines(old[len(old) // 2 :])
        writer.flush()
        rotate(config, tmp_path / "state")
        writer.writelines(new)
    zone.land()
    zone.land()
    assert len(list(zone.logs.iterdir())) == 2
    assert_plain(zone, system)


@pytest.mark.parametrize("system", SYSTEMS)
def test_copytruncate_of_a_file_that_is_not_appended_to(zone: Zone, system: str, tmp_path: Path) -> None:
    """A console that a shell opened with ``>``: its writer goes on at its old place, behind a hole."""
    needs("logrotate")
    config = tmp_path / "brokers"
    config.write_text(placed(block("/etc/logrotate.d/brokers"), logs=zone.logs))
    zone.logs.chmod(0o755)
    old, new = halves(system)
    with (zone.logs / f"{system}.out").open("wb") as writer:
        writer.writelines(old)
        writer.flush()
        rotate(config, tmp_path / "state")
        writer.writelines(new)
    assert (zone.logs / f"{system}.out").read_bytes()[:100] == bytes(100)
    zone.land()
    zone.land()
    assert_plain(zone, system)


# rsyslog


@pytest.mark.parametrize("system", SYSTEMS)
def test_rsyslog_from_the_brokers_file_to_the_landing_zone(zone: Zone, system: str, tmp_path: Path) -> None:
    """One rsyslogd follows the file and sends it over TCP, another writes it where it lands."""
    rsyslogd = needs("rsyslogd")
    logs, landing = tmp_path / "logs", zone.root / "c1"
    logs.mkdir()
    port, name = free_port(), SYSTEMS[system].removesuffix(".log")
    sender, receiver = tmp_path / "sender.conf", tmp_path / "receiver.conf"
    sent = block("/etc/rsyslog.d/30-brokers.conf").replace('broker.log" tag="broker"', f'{name}.log" tag="{name}"')
    sent = placed(sent, logs=logs, host="127.0.0.1").replace('"10514"', f'"{port}"')
    sender.write_text(f'global(workDirectory="{tmp_path}")\n{sent}')
    received = placed(block("/etc/rsyslog.d/10-landing.conf"), landing=landing).replace('"10514"', f'"{port}"')
    formats = {
        "RSYSLOG_TraditionalFileFormat": "traditional",
        "RSYSLOG_SyslogProtocol23Format": "protocol23",
        "jsonmesg": "json",
    }
    actions = [f'action(type="omfile" file="{tmp_path}/{at}.log" template="{one}")' for one, at in formats.items()]
    as_json = 'template(name="jsonmesg" type="string" string="%jsonmesg%\\n")\n'
    begin = 'ruleset(name="landing") {'
    receiver.write_text(received.replace(begin, "\n".join((as_json + begin, *actions))))
    for config in (sender, receiver):
        run(rsyslogd, "-N1", "-f", str(config))
    (logs / f"{name}.log").write_bytes(plain(system))
    count = len(lines_of(system))

    def arrived() -> list[Path]:
        return [path for path in landing.rglob("*.log") if lines_in(path) == count]

    with running(rsyslogd, "-n", "-f", str(receiver), "-i", str(tmp_path / "r.pid")):
        assert wait_for(lambda: listens(port))
        with running(rsyslogd, "-n", "-f", str(sender), "-i", str(tmp_path / "s.pid")):
            assert wait_for(lambda: len(arrived()) == 1), sorted(landing.rglob("*"))
            assert wait_for(lambda: all(lines_in(tmp_path / f"{one}.log") == count for one in formats.values()))
    [path] = arrived()
    host = path.parts[-3]
    assert path == landing / "nodes" / host / "logs" / f"{name}.log"
    zone.land()
    zone.land()
    assert {row["source_node"] for row in zone.tables["events"]} == {host}
    assert_plain(zone, system, WHOSE)
    for folder in formats.values():
        other = Zone(tmp_path / f"zone-{folder}")
        shutil.copy(tmp_path / f"{folder}.log", other.logs / f"{name}.log")
        other.land()
        other.land()
        assert_plain(other, system, WHOSE)


# journald

JOURNAL = r"""
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/journal /run/log/journal
"$1" & journald=$!
for _ in $(seq 100); do [ -S /run/systemd/journal/stdout ] && break; sleep 0.1; done
systemd-cat -t "$2" <"$3"
for _ in $(seq 100); do
  [ "$(journalctl --directory=/run/log/journal -t "$2" -o cat --no-pager | wc -l)" -ge "$4" ] && break; sleep 0.1
done
cp -r /run/log/journal "$5"
kill $journald
wait
"""
"""A journald of its own, in a /run of its own: that of the machine is not touched."""

READ = ("short", "short-precise", "short-iso", "short-iso-precise", "short-full", "short-unix", "with-unit")
READ += ("export", "json", "json-seq", "json-sse", "cat")
TOLD = ("verbose", "json-pretty", "short-monotonic", "short-delta")


@pytest.fixture(scope="module", params=SYSTEMS)
def journal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A real journal into which a service wrote the lines of a system."""
    system, folder = str(request.param), tmp_path_factory.mktemp("journal")
    journald, _, _ = needs("systemd-journald"), needs("systemd-cat"), needs("journalctl")
    lines = folder / "lines"
    lines.write_bytes(plain(system))
    script = folder / "run.sh"
    script.write_text(JOURNAL)
    own = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    count, target = str(len(lines_of(system))), folder / "journal"
    command = [*own, "bash", str(script), journald, system, str(lines), count, str(target)]
    try:
        run(*command)
    except AssertionError as error:
        skipped(f"NOT RUN: no journald of its own can be started here (it needs a mount namespace): {error}"[:300])
    return system, target


@pytest.mark.parametrize("form", READ)
def test_journald_in_every_form_of_journalctl(journal: tuple[str, Path], form: str, zone: Zone) -> None:
    system, folder = journal
    zone.write(SYSTEMS[system], run("journalctl", f"--directory={folder}", "--no-pager", "-o", form))
    zone.land()
    zone.land()
    assert_plain(zone, system, WHOSE)


@pytest.mark.parametrize("form", TOLD)
def test_forms_of_journalctl_that_nobody_reads_are_told(journal: tuple[str, Path], form: str, zone: Zone) -> None:
    system, folder = journal
    zone.write(SYSTEMS[system], run("journalctl", f"--directory={folder}", "--no-pager", "-o", form))
    zone.land()
    zone.land()
    read = told(zone, WHOSE) == told(landed_plain(system), WHOSE)
    assert read or any(row["problem"] for row in zone.tables["landed_files"]) or zone.tables["quarantine"]


def test_the_journal_of_another_machine(journal: tuple[str, Path], zone: Zone, tmp_path: Path) -> None:
    """The commands of the page: an export, received by systemd-journal-remote, exported where it lands."""
    system, folder = journal
    remote = needs("systemd-journal-remote")
    exported = run("journalctl", f"--directory={folder}", "-o", "export", "-t", system)
    run(remote, "-o", str(tmp_path / "remote.journal"), "-", data=exported)
    zone.write(
        SYSTEMS[system], run("journalctl", f"--file={tmp_path / 'remote.journal'}", "-o", "export", "-t", system)
    )
    zone.land()
    zone.land()
    assert_plain(zone, system, WHOSE)
