"""Writes simulated worlds as files: a landing zone with known faults, and the truth beside it."""

from dataclasses import dataclass
from pathlib import Path

from election_replay.election_core.simulate.catalogue import SCENARIOS, WILD, truths
from election_replay.election_core.simulate.judged import Score, findings_of, score
from election_replay.election_core.simulate.landing import files, truth_lines
from election_replay.election_core.simulate.scenario import Scenario, played
from election_replay.election_core.simulate.telling import story
from election_replay.election_core.simulate.truth import Truth
from election_replay.election_core.simulate.world import World
from election_replay.jobs import JobError


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated world and its truth."""

    scenario: Scenario
    seed: int
    world: World
    truths: list[Truth]

    @property
    def cluster(self) -> str:
        """Return the name of the cluster's folder in a landing zone."""
        return f"{self.scenario.name}-{self.seed}"

    def story(self) -> list[str]:
        """Return the story of the world, line by line."""
        return list(story(self.scenario, self.world, self.truths))

    def judged(self) -> Score:
        """Judge the world's logs and compare the findings with the truth."""
        return score(self.truths, findings_of(self.world, self.cluster))


def simulate(name: str, seed: int) -> Simulated:
    """Simulate a scenario. Raises :class:`JobError` if there is none of that name."""
    scenario = SCENARIOS.get(name) or WILD.get(name)
    if scenario is None:
        raise JobError(f"there is no scenario {name}: election-replay simulate --list names them all")
    world = played(scenario, seed)
    return Simulated(scenario, seed, world, truths(scenario, world))


def write(simulated: Simulated, out: str) -> list[Path]:
    """Write logs and truth below ``out/<cluster>`` and return the files, the truth last.

    Raises :class:`JobError` if the folder exists.
    """
    folder = Path(out) / simulated.cluster
    if folder.exists():
        raise JobError(f"{folder} is there already: remove it, or take another seed or folder")
    written = []
    for path, content in files(simulated.world):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        written.append(file)
    lines = truth_lines(simulated.scenario, simulated.seed, simulated.world, simulated.truths)
    truth = folder / "truth.jsonl"
    truth.write_text("".join(f"{line}\n" for line in lines))
    return [*written, truth]
