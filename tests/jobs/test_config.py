"""Settings: defaults without a file, and errors that name key and file."""

from pathlib import Path

import pytest

from election_core.witness import Listed
from jobs import JobError
from jobs.cli import main
from jobs.config import Config, Privacy, load

SHIPPED = Path(__file__).parents[2] / "conf" / "pipeline.yaml"


def test_the_shipped_file_holds_the_defaults() -> None:
    assert load(SHIPPED) == Config()


def test_no_file_means_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load() == Config()


def test_the_last_rule_that_fits_wins(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "clock_bound_ms: 100\n"
        "sources:\n"
        "  - {cluster: 'pay-*', clock_bound_ms: 50}\n"
        "  - {cluster: pay-1, node: n3, clock_bound_ms: 5000, utc_offset_minutes: 0}\n"
    )
    config = load(file)
    assert [config.bound_of("pay-1", "n3"), config.bound_of("pay-1", "n1"), config.bound_of("x", "n1")] == [
        5000,
        50,
        100,
    ]
    assert [config.zone_of("pay-1", "n3", 480), config.zone_of("x", "n1", 480)] == [0, 480]


def test_a_zone_is_an_offset_or_a_name(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "time_zone: Europe/Berlin\n"
        "sources:\n"
        "  - {cluster: 'pay-*', utc_offset_minutes: 480}\n"
        "  - {cluster: pay-1, node: n3, time_zone: America/New_York}\n"
    )
    config = load(file)
    zones = [config.zone_of(cluster, node, 0) for cluster, node in (("x", "n1"), ("pay-1", "n1"), ("pay-1", "n3"))]
    assert zones == ["Europe/Berlin", 480, "America/New_York"]


def test_the_inventory_names_members(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "inventory:\n"
        "  - {cluster: pay, node: host-1, replica_group: broker-a, member: '0'}\n"
        "  - {cluster: pay, node: host-2, replica_group: broker-a}\n"
    )
    assert load(file).listed() == {
        ("pay", "host-1"): Listed("broker-a", "0"),
        ("pay", "host-2"): Listed("broker-a", None),
    }


def test_what_is_hashed(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("privacy:\n  hash: [address]\n  host_names: ['*.corp']\n")
    assert load(file).privacy == Privacy(hash=("address",), host_names=("*.corp",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("layuot: x", "unknown key layuot"),
        ("clock_bound_ms: soon", "clock_bound_ms must be a whole number"),
        ("clock_bound_ms: true", "clock_bound_ms must be a whole number"),
        ("clock_bound_ms: -1", "clock_bound_ms must be at least 0"),
        ("shuffle_partitions: 0", "shuffle_partitions must be at least 1"),
        ("layout: 3", "layout must be a text"),
        ("sources: 3", "sources must be a list"),
        ("privacy: 3", "p.yaml: privacy: expected keys and values"),
        ("privacy:\n  hash: address", "p.yaml: privacy, line 2: hash must be a list of texts"),
        ("privacy:\n  hash: [port]", "p.yaml: privacy, line 2: port cannot be hashed; what can is address, client_id"),
        ("privacy:\n\n  key: x", "p.yaml: privacy, line 3: unknown key key; known are hash, host_names, key_env"),
        ("privacy: {key_env: 3}", "key_env must be a text"),
        ("privacy: {host_names: ['*']}", "privacy, line 1: .* is no pattern such as"),
        ("# one\n\nlayuot: x", "p.yaml, line 3: unknown key layuot"),
        ("sources:\n  - cluster: a\n    node: 7\n", "p.yaml: sources, line 3: node must be a text"),
        ("layout: a\nlayout: b", "layout stands here twice"),
        ("sources: [{cluter: a}]", "unknown key cluter"),
        ("sources: [x]", "expected keys and values"),
        ("time_zone: Europe/Berln", "Europe/Berln is no zone"),
        ("time_zone: ../../etc/passwd", "is no zone"),
        ("sources: [{time_zone: UTC, utc_offset_minutes: 0}]", "not both"),
        ("inventory: {a: b}", "inventory must be a list"),
        ("inventory: [{cluster: c, node: n}]", "inventory: replica_group is missing"),
        ("inventory: [{cluster: c, node: n, replica_group: g, member: 1}]", "member must be a text"),
        ("inventory: [{cluster: c, node: n, replica_group: g, broker: x}]", "unknown key broker"),
        (
            "inventory: [{cluster: c, node: n, replica_group: g}, {cluster: c, node: n, replica_group: h}]",
            "node n of cluster c is listed twice",
        ),
        ("- a", "expected keys and values"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_mistake_is_named_with_its_file(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text)
    with pytest.raises(JobError, match=expected) as error:
        load(file)
    assert "p.yaml" in str(error.value)


def test_config_check_says_what_is_in_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("clock_bound_ms: 50\nsources:\n  - {cluster: pay, clock_bound_ms: 5}\n")
    assert main(["config", "check", "--config", str(file)]) == 0
    said = capsys.readouterr().out
    assert "clock_bound_ms: 50" in said
    assert "shuffle_partitions: 8 (default)" in said
    assert "p.yaml is sound" in said
    file.write_text("clock_bound: 50\n")
    assert main(["config", "check", "--config", str(file)]) == 1
    assert "p.yaml, line 1: unknown key clock_bound" in capsys.readouterr().err


def test_layouts_say_how_files_are_written(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "layouts:\n"
        "  - {files: 'e*.log', system: zookeeper}\n"
        "  - {files: 'e1.log', system: rocketmq, layout: '%d %p %t - %m%n', node: 'n*'}\n"
    )
    config = load(file)
    assert config.dialect_of("c", "x", ("e1.log",)) == "zookeeper"
    assert config.dialect_of("c", "n1", ("e1.log.3", "e1.log")) == "rocketmq %d %p %t - %m%n"
    assert config.dialect_of("c", "n1", ("broker.log",)) is None


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("{files: x, system: kafka}", "there is no system kafka"),
        ("{files: x, system: etcd, layout: '%p %m'}", "has no date"),
        ("{system: etcd}", "files is missing"),
    ],
)
def test_a_bad_layout_is_refused(tmp_path: Path, rule: str, reason: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(f"layouts: [{rule}]\n")
    with pytest.raises(JobError, match=reason):
        load(file)
