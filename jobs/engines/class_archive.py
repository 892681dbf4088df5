"""Classes that a JVM has read once, kept for the next one: Spark's own start takes a third less time.

Java calls this class data sharing: a JVM that ends writes the classes that it read into an archive, and later ones map
it. It fits one Java with one class path, and Java itself passes over an archive that does not fit.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pyspark

PREFIX = "spark-classes-"
KEPT = 2
"""So many archives are kept, of a hundred megabytes each: other ones are those of former releases."""
UNTOLD = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""What does not fit is passed over without a word."""
OPTIONS_FROM_AFAR = ("NOTE: Picked up ", "Picked up ")
"""Java tells of the options in JDK_JAVA_OPTIONS and JAVA_TOOL_OPTIONS before it says what it is."""
MAGIC_BYTES = 4
"""An archive begins with these; Java writes them last."""


def archive_options(java: str, jars: Iterable[str]) -> list[str]:
    """The options with which a local Spark's JVM uses the archive, or writes it when it ends.

    ``java`` is what that Java says of itself, ``jars`` are what its class path has beside Spark's own. None where there
    is no folder for it: ``$XDG_CACHE_HOME/election-replay``, by default below ``~/.cache``.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "election-replay")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        archive = folder / f"{PREFIX}{_key(java, jars)}.jsa"
        if _whole(archive):
            return [f"-XX:SharedArchiveFile={archive}", UNTOLD]
        if not os.access(folder, os.W_OK) or any(character.isspace() for character in str(archive)):
            return []
        for old in sorted(folder.glob(f"{PREFIX}*.jsa"), key=lambda path: path.stat().st_mtime)[: 1 - KEPT]:
            old.unlink()
    except (OSError, RuntimeError):  # what cannot be kept is read anew
        return []
    return [f"-XX:ArchiveClassesAtExit={archive}", UNTOLD]


def _key(java: str, jars: Iterable[str]) -> str:
    """What an archive fits: this Java, and these files as they are now."""
    spark = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    build = [line for line in java.splitlines() if not line.startswith(OPTIONS_FROM_AFAR)]
    files = [*sorted((spark / "jars").glob("*.jar")), *map(Path, jars)]
    stats = [(str(file), (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files]
    return sha256(repr((build, stats)).encode()).hexdigest()[:16]


def _whole(archive: Path) -> bool:
    """Whether an archive is there, and was written to its end."""
    try:
        with archive.open("rb") as file:
            return any(file.read(MAGIC_BYTES))
    except FileNotFoundError:
        return False
