"""A node's own term or epoch, which is stored on its disk and never decreases, not even by a restart."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import TermWentBack
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class OwnTerm:
    """Follows the ``term`` of one node, line by line, and notes each decrease."""

    term: int | None = None
    _reached: FoldEvent | None = None
    _back: list[tuple[int, int, FoldEvent | None, FoldEvent]] = field(default_factory=list)

    def note(self, term: int, event: FoldEvent) -> None:
        """Take the node's own term from a line."""
        if self.term is not None and term < self.term:
            self.went_back(self.term, term, event)
        if self.term != term:
            self.term, self._reached = term, event

    def went_back(self, before: int, after: int, event: FoldEvent) -> None:
        """Note that a line shows the node in the term ``after`` although it was in the larger one ``before``."""
        self._back.append((before, after, self._reached if self.term == before else None, event))

    def facts(self, emit: FactWriter) -> Iterator[TermWentBack]:
        """Yield each decrease, with the line that first showed the larger term, if there is one."""
        for before, after, reached, event in self._back:
            shown = (reached.event_id,) if reached is not None else ()
            yield TermWentBack(*emit.at(event), before=before, after=after, evidence=shown)
