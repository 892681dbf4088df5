"""Settings: the shipped file is the defaults, and errors name file, line, key and what is allowed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from election_replay.election_core.dialects import DIALECTS
from election_replay.election_core.model.inventory import InventoryRow
from election_replay.election_core.model.timing import Timeout, configured_of
from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.settings.config import SYSTEMS, Config, Privacy, load

SHIPPED = Path(__file__).parents[3] / "conf" / "pipeline.yaml"


def test_the_shipped_file_holds_the_defaults() -> None:
    assert load(SHIPPED) == Config()


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
    assert load(file).inventoried().listed == {
        ("pay", "host-1"): InventoryRow("broker-a", "0"),
        ("pay", "host-2"): InventoryRow("broker-a", None),
    }


def test_times_of_a_group_that_its_logs_do_not_print(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "timing:\n"
        "  - {timeouts: {lock_life: 90000}}\n"
        "  - {cluster: pay, replica_group: 'broker-*', timeouts: {lock_life: 120000, controller_poll: 30000}}\n"
    )
    rules = load(file).inventoried().timing
    assert configured_of(rules, "pay", "broker-a") == {Timeout.LOCK_LIFE: 120_000, Timeout.CONTROLLER_POLL: 30_000}
    assert configured_of(rules, "shop", "broker-a") == {Timeout.LOCK_LIFE: 90_000}


def test_what_is_hashed(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("privacy:\n  hash: [address]\n  host_names: ['*.corp']\n")
    assert load(file).privacy == Privacy(hash=("address",), host_names=("*.corp",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "layuot: x",
            "p.yaml, line 1: unknown key layuot; known are clock_bound_ms, commit_every_gb, inventory, layout",
        ),
        ("1: x", "unknown key 1"),
        ("clock_bound_ms: soon", "line 1: clock_bound_ms must be a whole number from 0 to 86400000, milliseconds"),
        ("clock_bound_ms: true", "clock_bound_ms must be a whole number"),
        ("clock_bound_ms: '5'", "clock_bound_ms must be a whole number"),
        ("clock_bound_ms: 1.0e+23", "clock_bound_ms must be a whole number from 0 to 86400000"),
        ("clock_bound_ms: -1", "clock_bound_ms must be a whole number from 0"),
        ("clock_bound_ms: 86400001", "clock_bound_ms must be a whole number from 0 to 86400000"),
        (f"clock_bound_ms: {'9' * 5000}", "line 1: not valid YAML: this is no int"),
        ("utc_offset_minutes: 999999999", "utc_offset_minutes must be a whole number from -840 to 840, minutes"),
        (
            "sources: [{utc_offset_minutes: -841}]",
            "sources, line 1: utc_offset_minutes must be a whole number from -840",
        ),
        ("shuffle_partitions: 0", "shuffle_partitions must be a whole number from 1 to 100000"),
        ("shuffle_partitions: 1000000000", "shuffle_partitions must be a whole number from 1 to 100000"),
        ("commit_every_gb: 0", "commit_every_gb must be a whole number from 1 to 1000000, gigabytes"),
        ("layout: 3", "layout must be a path of folders"),
        *(
            (f"layout: '{layout}'", r"layout must be a path of folders such as .* each of the two names once, /\*\*")
            for layout in (
                *(
                    "",
                    "**",
                    "logs/**",
                    "{cluster}/**",
                    "{cluster}/{node}",
                    "{cluster}/{node}/logs/*",
                    "{node}/{node}/**",
                ),
                *(
                    "{cluster}/{cluster}/{node}/**",
                    "{cluster}/{node}/{day}/**",
                    "/{cluster}/{node}/**",
                    "a//{cluster}/{node}/**",
                ),
                *("../{cluster}/{node}/**", "{cluster}/*/{node}/**", "{cluster}\\\\{node}/**", "{clus{node}ter}/**"),
                "{cluster}/{node}/" + "x" * 1000 + "/**",
            )
        ),
        ("layout: '{cluster}/nodes/{node}/metadata/**'", "layout and metadata_layout are the same"),
        ("sources: 3", "p.yaml, line 1: sources must be a list"),
        ("\nprivacy: 3", "p.yaml, line 2: privacy: expected keys and values"),
        ("privacy:\n  hash: address", "p.yaml: privacy, line 2: hash must be a list of address and client_id"),
        ("privacy:\n  hash: [port]", "p.yaml: privacy, line 2: hash must be a list of address and client_id"),
        ("privacy: {hash: [address, address]}", "hash must be a list of address and client_id, or of one of them"),
        ("privacy:\n\n  key: x", "p.yaml: privacy, line 3: unknown key key; known are hash, host_names, key_env"),
        ("privacy: {key_env: 3}", "key_env must be the name of an environment variable"),
        ("privacy: {key_env: a b}", "key_env must be the name of an environment variable"),
        ("privacy: {host_names: ['*']}", r"privacy, line 1: host_names must be a list of patterns such as \*.corp"),
        ("privacy: {host_names: ['a*b*c*d*']}", r"with at most 3 \* in each"),
        ("# one\n\nlayuot: x", "p.yaml, line 3: unknown key layuot"),
        ("sources:\n  - cluster: a\n    node: 7\n", "p.yaml: sources, line 3: node must be a text"),
        ("sources:\n  - cluster: a\n  - cluster: ''\n", "p.yaml: sources, line 3: cluster must be a text of 1 to 255"),
        (f"sources: [{{node: {'x' * 256}}}]", "node must be a text of 1 to 255 characters"),
        ("clock_bound_ms: -1\nshuffle_partitions: 0\n", r"line 1: clock_bound_ms .* \(and 1 more\)"),
        ("layout: a\nlayout: b", "p.yaml, line 2: not valid YAML: layout stands here twice"),
        ("sources: [{cluter: a}]", "unknown key cluter; known are clock_bound_ms, cluster, node"),
        ("sources: [x]", "sources, line 1: expected keys and values"),
        ("sources: [null]", "sources, line 1: expected keys and values"),
        ("time_zone: Europe/Berln", "time_zone must be the IANA name of a zone"),
        ("time_zone: ../../etc/passwd", "time_zone must be the IANA name of a zone"),
        ("time_zone: UTC\nutc_offset_minutes: 0", "p.yaml: give time_zone or utc_offset_minutes, not both"),
        ("sources:\n  - {time_zone: UTC, utc_offset_minutes: 0}", "sources, line 2: give time_zone .* not both"),
        ("inventory: {a: b}", "inventory must be a list"),
        ("inventory:\n  - {cluster: c, node: n}", "inventory, line 2: replica_group is missing"),
        ("inventory: [{cluster: c, node: n, replica_group: g, member: 1}]", "member must be a text"),
        ("inventory: [{cluster: c, node: n, replica_group: g, broker: x}]", "unknown key broker"),
        (
            "inventory:\n  - {cluster: c, node: n, replica_group: g}\n  - {cluster: c, node: n, replica_group: h}",
            "inventory, line 3: node n of cluster c is listed twice",
        ),
        ("timing: [{timeouts: {lock_lif: 1}}]", "p.yaml: timing, line 1: timeouts must be times by their names"),
        ("timing: [{timeouts: {silence: 1}}]", "names of docs/timing.md that a cluster can change"),
        ("timing: [{timeouts: {lock_life: 0}}]", "each with a whole number from 1 to 86400000"),
        ("timing: [{timeouts: {lock_life: '5'}}]", "timeouts must be times"),
        ("timing:\n  - {cluster: c}", "timing, line 2: timeouts is missing"),
        ("- a", "expected keys and values"),
        ("false", "expected keys and values"),
        ("a: [", "line 1: not valid YAML"),
        ("a: \0", "not valid YAML"),
        ("a: !!timestamp x", "this is no timestamp"),
        ("a: !!python/name:os.system x", "not valid YAML: could not determine a constructor"),
        ("{[a]: b}", "this is no map"),
        ("sources: &a [x]\ninventory: *a", "line 2: not valid YAML: aliases are not allowed: write the value out"),
        ("layout: " + "[" * 20_000, "line 1: not valid YAML: values lie deeper than 16 levels"),
        ("- " * 20_000, "values lie deeper than 16 levels"),
        ("#" * (8 << 20) + "\n", "more than 8,388,608 bytes: that is no file of settings"),
    ],
    ids=lambda text: text[:30],
)
def test_a_mistake_is_named_with_its_file(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text)
    with pytest.raises(JobError, match=expected) as error:
        load(file)
    assert "p.yaml" in str(error.value)


def test_a_bomb_of_aliases_is_refused_at_its_first_one(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 9)}]" for one in range(1, 30)]
    file.write_text("\n".join(lines))
    with pytest.raises(JobError, match=r"p\.yaml, line 2: not valid YAML: aliases are not allowed"):
        load(file)


@given(st.binary(max_size=200) | st.text(alphabet="layouthsricep_:-[]{}&*!?|>'\"#%@,. \n0123456789", max_size=200))
def test_any_bytes_are_settings_or_one_readable_line(
    tmp_path_factory: pytest.TempPathFactory, data: bytes | str
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    try:
        said = str(load(file))
    except JobError as error:
        said = str(error)
    assert said.startswith((str(file), "Config("))
    assert "\n" not in said


def test_what_code_makes_is_checked_too() -> None:
    with pytest.raises(ValidationError):
        Config(clock_bound_ms=-1)


def test_config_check_says_what_is_in_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("clock_bound_ms: 50\nsources:\n  - {cluster: pay, clock_bound_ms: 5}\n")
    assert main(["config", "check", "--config", str(file)]) == 0
    said = capsys.readouterr().out
    assert "clock_bound_ms: 50" in said
    assert "shuffle_partitions: None (default)" in said
    assert "p.yaml is sound" in said
    file.write_text("clock_bound: 50\n")
    assert main(["config", "check", "--config", str(file)]) == 1
    assert "p.yaml, line 1: unknown key clock_bound" in capsys.readouterr().err


def test_each_system_whose_lines_a_layout_can_take_apart_can_be_named() -> None:
    assert {dialect.name for dialect in DIALECTS if dialect.parse_line} == {*SYSTEMS}


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
        ("{files: x, system: pulsar}", "system must be one of rocketmq, zookeeper, etcd, "),
        ("{files: x, system: etcd, layout: '%p %m'}", "has no date"),
        ("{system: etcd}", "files is missing"),
    ],
)
def test_a_bad_layout_is_refused(tmp_path: Path, rule: str, reason: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(f"layouts: [{rule}]\n")
    with pytest.raises(JobError, match=reason):
        load(file)
