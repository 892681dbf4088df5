"""Sends one message about new findings to a chat, a pager, a mailbox or a webhook, by Apprise.

New are findings first published after the run of the last message to the same address (the view ``findings_new``),
except reviewed false alarms. That time is a property of ``side/reviews``, so no finding is sent twice, and a failed
message is sent next time.
"""

import tempfile
from collections import Counter
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from apprise import Apprise, NotifyFormat, NotifyType

from election_replay.election_core.judge.wording import number_of
from election_replay.jobs import JobError
from election_replay.jobs.reading.incident import incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import SEVERITIES, Row, cell, surely
from election_replay.jobs.showing.report import page
from election_replay.jobs.warehouse.warehouse import Warehouse

SHOWN = 10
"""The maximum number of findings in one message; it counts the rest."""

NOTIFIED = "electionReplay.told."
"""The prefix of the property, by address, that holds the time up to which messages were sent."""

NEW = """
    SELECT * FROM findings_new($since) WHERE severity IN (SELECT unnest($severities))
        AND (implied_by IS NULL OR implied_by NOT IN (SELECT finding_id FROM findings))
        AND finding_id NOT IN (SELECT finding_id FROM reviewed WHERE state = 'false_alarm')
    ORDER BY list_position($severities, severity), start_time, finding_id
"""


def notify(warehouse: Warehouse, address: str, least: str, dashboard: str | None, *, picture: bool) -> int:
    """Send the new findings of severity ``least`` or graver to an address, and return their number.

    ``picture`` attaches the report of the first one's group. Raises :class:`JobError` if Apprise does not know the
    address, or if the message could not be sent.
    """
    published = Published(warehouse)
    sender = Apprise()
    if not sender.add(address):
        raise JobError("the address is none that Apprise knows: `apprise --details` lists them, such as slack://...")
    key = NOTIFIED + sha256(address.encode()).hexdigest()[:16]
    before = published.before["published_at"].isoformat() if published.before else "2000-01-01T00:00:00+00:00"
    since = datetime.fromisoformat(warehouse.opened("reviews").metadata().configuration.get(key) or before)
    severities = [*SEVERITIES[: SEVERITIES.index(least) + 1]]
    new = published.rows(NEW, {"since": since, "severities": severities})
    if new:
        with tempfile.TemporaryDirectory(prefix="election-replay-notify-") as scratch:
            attached = picture_of(published, new[0], Path(scratch)) if picture else None
            kind = NotifyType.FAILURE if new[0]["severity"] == "critical" else NotifyType.WARNING
            text = body(new, dashboard)
            if not sender.notify(text, title(new), kind, body_format=NotifyFormat.TEXT, attach=attached):
                raise JobError("nothing was sent: the address refuses it or is not there; the next call tries again")
    until = published.run["published_at"].isoformat()
    warehouse.opened("reviews").alter.set_table_properties({key: until}, raise_if_not_exists=False)
    return len(new)


def title(new: list[Row]) -> str:
    """Return the message's title: the number of new findings by severity."""
    counts = Counter(finding["severity"] for finding in new)
    each = ", ".join(f"{counts[severity]:,} {severity}" for severity in SEVERITIES if counts[severity])
    return f"election-replay: {number_of(len(new), 'new finding')} ({each})"


def body(new: list[Row], dashboard: str | None) -> str:
    """Return the message's text: each finding's place, time and summary, and the address of its page."""
    lines = []
    for finding in new[:SHOWN]:
        where = f"{finding['cluster']} / {finding['replica_group']}"
        lines += [f"{surely(finding)} {finding['rule']}  {where}  {cell(finding['start_time'])}", finding["summary"]]
        lines += [f"{dashboard.rstrip('/')}/finding?id={finding['finding_id']}"] if dashboard else []
        lines.append("")
    if len(new) > SHOWN:
        lines.append(f"and {len(new) - SHOWN:,} more")
    return "\n".join(lines).rstrip()


def picture_of(published: Published, finding: Row, folder: Path) -> str:
    """Write the report of a finding's group to a file and return its path."""
    made = folder / "incident.html"
    made.write_text(page(incident(published, finding["cluster"], finding["replica_group"])), encoding="utf-8")
    return str(made)
