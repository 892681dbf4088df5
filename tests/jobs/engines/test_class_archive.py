"""The archive of classes: a JVM that ends writes it, the next one uses it, and what is not whole is written anew."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from election_replay.jobs.engines.class_archive import KEPT, UNTOLD, archive_options

JAVA = 'openjdk version "17.0.1"'
START = "from election_replay.jobs.engines.spark_session import spark_session as start; start('x', short_lived=True)"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "election-replay"


def named(java: str = JAVA) -> Path:
    """The archive that a JVM is told of."""
    option, untold = archive_options(java, [])
    assert untold == UNTOLD
    return Path(option.partition("=")[2])


def written(archive: Path, begin: bytes = b"\xf0\x0b") -> Path:
    archive.write_bytes(begin + b"\0\0 classes")
    return archive


def test_it_is_written_once_and_used_then(cache: Path) -> None:
    assert archive_options(JAVA, [])[0].startswith(f"-XX:ArchiveClassesAtExit={cache}/")
    archive = written(named())
    assert archive_options(JAVA, []) == [f"-XX:SharedArchiveFile={archive}", UNTOLD]


def test_one_whose_writer_was_killed_is_written_anew(cache: Path) -> None:
    written(named(), b"\0\0")
    assert archive_options(JAVA, [])[0].startswith(f"-XX:ArchiveClassesAtExit={cache}/")


def test_another_java_and_other_jars_have_others_of_which_few_are_kept(cache: Path) -> None:
    jar = cache.parent / "delta.jar"
    jar.touch()
    assert archive_options(JAVA, [str(jar)]) != archive_options(JAVA, [])
    kept = []
    for number, java in enumerate([JAVA, "21", "23", "25"]):
        kept.append(written(named(java)))
        os.utime(kept[-1], (number, number))
    assert set(cache.iterdir()) == set(kept[-KEPT:])


def test_the_options_that_java_tells_of_make_no_other(cache: Path) -> None:
    del cache
    assert archive_options(f"NOTE: Picked up JDK_JAVA_OPTIONS: -Xint\n{JAVA}", []) == archive_options(JAVA, [])


def test_where_there_is_no_place_for_it_there_is_none(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.touch()
    assert archive_options(JAVA, []) == []
    cache.unlink()
    assert archive_options(JAVA, ["/no/such.jar"]) == []
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent / "with a blank"))
    assert archive_options(JAVA, []) == [], "Java would take the rest of the name for another option"


@pytest.mark.slow
def test_java_writes_it_and_reads_classes_from_it(cache: Path, tmp_path: Path) -> None:
    log = tmp_path / "classes.log"
    for options in ("", f"-Xlog:class+load:file={log}"):
        environment = os.environ | {"JDK_JAVA_OPTIONS": options}
        subprocess.run([sys.executable, "-c", START], env=environment, check=True, capture_output=True, timeout=300)
        begun = time.monotonic()
        while not (archives := [*cache.glob("*.jsa")]) or not any(archives[0].read_bytes()[:4]):
            assert time.monotonic() - begun < 120, "the JVM of a process that has ended writes it"
            time.sleep(0.5)
    shared = [line for line in log.read_text().splitlines() if "shared objects file (top)" in line]
    assert len(shared) > 3000
    assert any(" org.apache.spark.sql." in line for line in shared)
