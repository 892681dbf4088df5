"""Source archives, fetched by the ordinary clients (``mvn``, ``go``, ``git``) into ``build/texts``; what is there is
kept."""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from texts.releases import COMPONENTS, TREE, Component

CACHE = Path("build/texts")
SUFFIXES = {"java": ".java", "go": ".go", "c": ".c", "scala": ".scala"}
_PLUGIN = "org.apache.maven.plugins", "maven-dependency-plugin", "3.6.1"
_POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>texts</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>{body}</project>
"""
_COPY = """<build><plugins><plugin><groupId>{plugin[0]}</groupId><artifactId>{plugin[1]}</artifactId>
<version>{plugin[2]}</version><executions><execution><id>copy</id><phase>validate</phase><goals><goal>copy</goal></goals>
<configuration><artifactItems><artifactItem><groupId>{group}</groupId><artifactId>{artifact}</artifactId>
<version>{version}</version><classifier>sources</classifier></artifactItem></artifactItems>
<outputDirectory>{folder}</outputDirectory></configuration></execution></executions></plugin></plugins></build>"""


def archive(coordinate: str) -> Path:
    """Where an archive lies once it is fetched."""
    if coordinate.startswith(TREE):
        return CACHE / "trees" / f"{coordinate.removeprefix(TREE).replace('/', '_')}.zip"
    if "@" in coordinate:
        return CACHE / "modules" / f"{coordinate.replace('/', '_')}.zip"
    _, artifact, version = coordinate.split(":")
    return CACHE / "jars" / f"{artifact}-{version}-sources.jar"


def fetch() -> list[str]:
    """Fetch what is not there yet. Answers what could not be had; the clients print why."""
    CACHE.mkdir(parents=True, exist_ok=True)
    every = [coordinate for one in COMPONENTS for coordinate in one.archives.values()]
    wanted = [one for one in every if not archive(one).exists()]
    jars = [one for one in wanted if "@" not in one]
    if jars:
        _fetch_jars(jars)
    for one in wanted:
        if one.startswith(TREE):
            _fetch_tree(one)
        elif "@" in one:
            _fetch_module(one)
    return [one for one in wanted if not archive(one).exists()]


def _fetch_jars(coordinates: list[str]) -> None:
    """One run of Maven for all: a project of one module an archive, so that one that is missing stops no other."""
    root = CACHE / "maven"
    shutil.rmtree(root, ignore_errors=True)
    names = []
    for coordinate in coordinates:
        group, artifact, version = coordinate.split(":")
        names.append(f"{artifact}-{version}")
        folder = escape(str(archive(coordinate).parent.resolve()))
        body = _COPY.format(plugin=_PLUGIN, group=group, artifact=artifact, version=version, folder=folder)
        (root / names[-1]).mkdir(parents=True)
        (root / names[-1] / "pom.xml").write_text(_POM.format(name=names[-1], body=body))
    modules = "".join(f"<module>{name}</module>" for name in names)
    (root / "pom.xml").write_text(_POM.format(name="all", body=f"<modules>{modules}</modules>"))
    subprocess.run(["mvn", "-q", "-B", "-fn", "validate"], cwd=root, check=False)  # noqa: S607 - as a person would


def _fetch_module(coordinate: str) -> None:
    cache = (CACHE / "go").resolve()
    environment = {**os.environ, "GOMODCACHE": str(cache), "GOFLAGS": "-modcacherw"}
    command = ["go", "mod", "download", coordinate]
    done = subprocess.run(command, env=environment, cwd=CACHE, check=False)
    path, _, version = coordinate.partition("@")
    stored = cache / "cache" / "download" / path / "@v" / f"{version}.zip"
    if done.returncode == 0 and stored.exists():
        archive(coordinate).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(stored, archive(coordinate))


def _fetch_tree(coordinate: str) -> None:
    """The tree of a tag, by ``git``."""
    path, _, tag = coordinate.removeprefix(TREE).partition("@")
    store, packed = (CACHE / "git").resolve(), archive(coordinate).resolve()
    packed.parent.mkdir(parents=True, exist_ok=True)
    fetch_tag = ("fetch", "-q", "--depth", "1", f"https://github.com/{path}", f"refs/tags/{tag}")
    pack = ("archive", "--format", "zip", "-o", str(packed), "FETCH_HEAD", "src")
    for command in (("init", "-q", "--bare", str(store)), fetch_tag, pack):
        if subprocess.run(["git", *command], cwd=store if store.exists() else CACHE, check=False).returncode:  # noqa: S607
            return


def sources(component: Component, release: str) -> Iterator[tuple[str, bytes]]:
    """The source files of the packages that matter, as ``package/File``, and their texts. No tests."""
    coordinate = component.archives[release]
    suffix, prefix = SUFFIXES[component.language], f"{coordinate}/" if component.language == "go" else ""
    with zipfile.ZipFile(archive(coordinate)) as packed:
        for name in sorted(packed.namelist()):
            path = name.removeprefix(prefix)
            if path.endswith(suffix) and not path.endswith("_test.go") and _matters(path, component.packages):
                yield _short(component, path), packed.read(name)


def _matters(path: str, packages: tuple[str, ...]) -> bool:
    folder = path.rpartition("/")[0] + "/"
    return path in packages or any(
        folder == one if one.endswith("/") else folder.startswith(f"{one}/" if one else "") for one in packages
    )


def _short(component: Component, path: str) -> str:
    """A Java file below its root; a Go file with its package, which moved about from release to release."""
    if component.root:
        return path.removeprefix(f"{component.root}/")
    parts = path.split("/")
    return "/".join(parts[-2:]) if len(parts) > 1 else f"{component.name}/{path}"
