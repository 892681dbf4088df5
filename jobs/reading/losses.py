"""What was lost in an incident: sums of losses and of repeated messages, as one sentence."""

from collections.abc import Iterator, Sized

from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.words import ELSEWHERE, LOSSES, Row, listed, loss_in_words, messages_repeated


def damage(incident: Incident) -> Iterator[str]:
    """Yield one sentence with the sums of losses and repeated messages; the view ``losses`` counts each cut once."""
    parts = list(losses_in_words([finding for finding in incident.findings if finding["damage"]]))
    repeated = [finding["messages_repeated"] for root in incident.roots for finding in repeating(incident, root)]
    if repeated:
        parts.append(messages_repeated(sum(repeated)) + in_places(repeated))
    if parts:
        yield f"Damage: {'; '.join(parts)}."


def losses_in_words(rows: list[Row]) -> Iterator[str]:
    """Yield phrases about losses, summed by unit and by where the data is missing."""
    for column, unit, loss in LOSSES:
        for missing in ("log", "queues"):
            of_kind = [row for row in rows if row[column] and (row["lost_from"] or "log") == missing]
            harmless = [row["nodes"][0] for row in of_kind if missing == "queues" and row["severity"] == "info"]
            if len(harmless) < len(of_kind):
                total = sum(row["damage"] for row in of_kind)
                unless = f" (those of {listed(dict.fromkeys(harmless))} do no harm unless it leads)" if harmless else ""
                yield f"{loss_in_words(total, unit, ELSEWHERE.get(missing, loss))}{in_places(of_kind)}{unless}"
    for row in rows:
        if row["lost_from"] == "one_side":
            yield f"what {row['cut_node']} has from byte {row['cut_from']:,} to {row['cut_to']:,} exists there only"


def in_places(cuts: Sized) -> str:
    """Return a phrase about the number of cuts in a sum; empty for one."""
    return f", in {len(cuts)} places" if len(cuts) > 1 else ""


def repeating(incident: Incident, finding: Row) -> Iterator[Row]:
    """Yield the findings with repeated messages in a tree, without those implied by another such finding."""
    if finding["messages_repeated"]:
        yield finding
        return
    for echo in incident.echoes(finding):
        yield from repeating(incident, echo)
