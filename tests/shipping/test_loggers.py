"""The loggers' configurations of the page, and JSON encoders, in the real loggers: what they print is read."""

from pathlib import Path

import pytest

from tests.jobs.zone import Zone
from tests.shapes.matrix import ALONE, SYSTEMS, landed_plain, said_by
from tests.shipping.tools import JARS, ROOT, block, needs, run, skipped

NOW = frozenset({"event_time", "thread", "node", "level"})
"""What these records say otherwise than the plain file: they are said now, by one process."""

LOGBACK = """<configuration>
<appender name="A" class="ch.qos.logback.core.FileAppender"><file>{file}</file>{encoder}</appender>
<root level="INFO"><appender-ref ref="A"/></root></configuration>"""
LOG4J2 = """<Configuration><Appenders><File name="A" fileName="{file}">{encoder}</File></Appenders>
<Loggers><Root level="info"><AppenderRef ref="A"/></Root></Loggers></Configuration>"""
TEMPLATE = '<JsonTemplateLayout eventTemplateUri="classpath:{}.json"/>'

ENCODERS = {
    "logback LogstashEncoder": '<encoder class="net.logstash.logback.encoder.LogstashEncoder"/>',
    "logback EcsEncoder": '<encoder class="co.elastic.logging.logback.EcsEncoder"/>',
    "log4j2 EcsLayout": TEMPLATE.format("EcsLayout"),
    "log4j2 LogstashJsonEventLayoutV1": TEMPLATE.format("LogstashJsonEventLayoutV1"),
    "log4j2 GelfLayout": TEMPLATE.format("GelfLayout"),
    "log4j2 JsonLayout": TEMPLATE.format("JsonLayout"),
    "log4j2 GcpLayout": TEMPLATE.format("GcpLayout"),
    "log4j2 GelfLayout of its own": '<GelfLayout host="zk1" compressionType="OFF" includeNewLineDelimiter="true"/>',
}


def say(system: str, logger: str, config: str, tmp_path: Path) -> None:
    """Let a logger print the records of a system."""
    needs("java")
    if not list(JARS.glob("*.jar")):
        skipped("NOT RUN FOR WANT OF loggers: `make shipping-test` fetches them and runs this")
    xml, records = tmp_path / f"{logger}.xml", tmp_path / "records"
    xml.write_text(config)
    rows = [
        (it.level, it.thread, it.logger, it.message.replace("\t", "\\t").replace("\n", "\\n")) for it in said_by(system)
    ]
    records.write_text("".join("\t".join(one or "-" for one in row) + "\n" for row in rows))
    option = f"-Dlogback.configurationFile={xml}" if logger == "logback" else f"-Dlog4j2.configurationFile={xml}"
    run("java", "-cp", f"{JARS}/*", option, str(ROOT / "tests/shipping/Say.java"), logger, str(records))


def told(zone: Zone) -> list[str]:
    rows = sorted((row for row in zone.tables["events"] if row["kind"] != "TICK"), key=lambda row: row["line_no"])
    return [repr({name: row[name] for name in sorted(row) if name not in ALONE | NOW}) for row in rows]


def assert_said(zone: Zone, system: str) -> None:
    zone.land()
    zone.land()
    problems = [row["problem"] for row in zone.tables["landed_files"] if row["problem"]]
    assert not problems, problems
    assert told(zone) == told(landed_plain(system))
    assert {row["time_resolution_ms"] for row in zone.tables["events"]} == {1}


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    return Zone(tmp_path / "landing")


def test_logback_as_on_the_page(zone: Zone, tmp_path: Path) -> None:
    appender = block("<!-- logback").replace("/var/log/brokers", str(zone.logs))
    root = '<root level="INFO"><appender-ref ref="RocketmqBrokerAppender"/></root>'
    say("rocketmq", "logback", f"<configuration>{appender}{root}</configuration>", tmp_path)
    assert_said(zone, "rocketmq")


def test_log4j2_as_on_the_page(zone: Zone, tmp_path: Path) -> None:
    appender = (
        block("<!-- log4j2").replace("/var/log/brokers", str(zone.logs)).replace("%C{1}", "%c")
    )  # who calls is a test
    loggers = '<Loggers><Root level="info"><AppenderRef ref="ROLLINGFILE"/></Root></Loggers>'
    say("zookeeper", "log4j2", f"<Configuration><Appenders>{appender}</Appenders>{loggers}</Configuration>", tmp_path)
    assert_said(zone, "zookeeper")


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("system", ["rocketmq", "zookeeper"])
def test_encoders_of_json(zone: Zone, system: str, name: str, tmp_path: Path) -> None:
    logger = name.split()[0]
    config = LOGBACK if logger == "logback" else LOG4J2
    say(system, logger, config.format(file=zone.logs / SYSTEMS[system], encoder=ENCODERS[name]), tmp_path)
    assert_said(zone, system)
