"""Verdicts for build servers: JUnit XML and SARIF, and the condition under which a build fails.

A rule that could not be judged is a skipped test, never a passed one.
"""

import re
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from election_replay.jobs import JobError
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import SEVERITIES, Row, harmless
from election_replay.jobs.runbook.rules import catalogue

FINDINGS = "SELECT * FROM findings ORDER BY cluster, replica_group, start_time, finding_id"
COVERAGE = """
    SELECT cluster, replica_group, rule, sum(conforms) AS conforms, sum(violates) AS violates,
        sum(undecidable) AS undecidable, min(why_undecidable) AS why
    FROM rule_coverage GROUP BY ALL ORDER BY ALL
"""
EVIDENCE = "SELECT finding_id, path, line_no, text FROM evidence_lines ORDER BY finding_id, position"
DEFAULT = "critical or warning"
"""The default condition under which a build fails."""
UNITS_MS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}
SARIF_LEVELS = {"critical": "error", "warning": "warning", "info": "note"}
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_CLAUSE = re.compile(r"(?P<word>[A-Za-z_]+)(?:\s*>\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ms|s|min|h))?")


@dataclass(frozen=True, slots=True)
class Clause:
    """A severity or a rule's id, and optionally the duration in ms that a finding must exceed."""

    word: str
    longer_than_ms: float | None = None

    def holds(self, finding: Row) -> bool:
        """Return True if the clause matches a finding; one of unknown duration does not exceed any."""
        if self.word not in (finding["severity"], finding["rule"]):
            return False
        if self.longer_than_ms is None:
            return True
        least = finding["duration_min_ms"] if finding["duration_min_ms"] is not None else finding["overlap_min_ms"]
        return least is not None and least > self.longer_than_ms


def condition(text: str) -> tuple[Clause, ...]:
    """Parse ``critical or LEADERLESS > 5 s`` into clauses, one of which must match.

    Raises :class:`JobError` for a word that is neither a severity nor a rule.
    """
    return tuple(_clause(part.strip()) for part in re.split(r"\s+or\s+", text.strip()))


def _clause(text: str) -> Clause:
    found = _CLAUSE.fullmatch(text)
    if found is None:
        raise JobError(f"--fail-on cannot read {text!r}: write it like `critical or LEADERLESS > 5 s`")
    word = found["word"].lower() if found["word"].lower() in SEVERITIES else found["word"].upper()
    if word not in SEVERITIES and word not in catalogue():
        raise JobError(f"--fail-on: {found['word']} is neither a severity ({', '.join(SEVERITIES)}) nor a rule")
    return Clause(word, float(found["number"]) * UNITS_MS[found["unit"]] if found["number"] else None)


def failing(published: Published, when: tuple[Clause, ...]) -> list[Row]:
    """Return the findings for which a build fails."""
    return [finding for finding in published.rows(FINDINGS) if any(clause.holds(finding) for clause in when)]


def junit(published: Published, when: tuple[Clause, ...]) -> str:
    """Return JUnit XML: a suite for each group, a test for each rule checked, a failure for each failing finding."""
    bad: dict[tuple[str, str, str], list[Row]] = {}
    for finding in failing(published, when):
        bad.setdefault((finding["cluster"], finding["replica_group"], finding["rule"]), []).append(finding)
    covered = {(row["cluster"], row["replica_group"], row["rule"]): row for row in published.rows(COVERAGE)}
    root = Element("testsuites", name="election-replay")
    suites: dict[tuple[str, str], Element] = {}
    for cluster, group, rule in sorted({*bad, *covered}):
        name = printable(f"{cluster} / {group}")
        if (cluster, group) not in suites:
            suites[cluster, group] = SubElement(root, "testsuite", name=name)
        case = SubElement(suites[cluster, group], "testcase", classname=name, name=rule)
        for finding in bad.get((cluster, group, rule), []):
            failure = SubElement(case, "failure", message=printable(finding["summary"]), type=finding["severity"])
            failure.text = f"{finding['finding_id']} {finding['start_time'].isoformat()} {finding['certainty']}"
        row = covered.get((cluster, group, rule))
        if not len(case) and row and not row["conforms"] and not row["violates"]:
            why = f": {row['why']}" if row["why"] else ""
            SubElement(case, "skipped", message=printable(f"the logs do not say enough{why}"))
    for suite in suites.values():
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(sum(case.find("failure") is not None for case in suite)))
        suite.set("skipped", str(sum(case.find("skipped") is not None for case in suite)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def printable(text: str) -> str:
    """Return ``text`` without characters that XML cannot hold."""
    return "".join(sign for sign in harmless(text) if sign not in "\ufffe\uffff" and not 0xD800 <= ord(sign) < 0xE000)


def sarif(published: Published) -> dict[str, object]:
    """Return SARIF 2.1.0: every finding with the files and lines that prove it."""
    lines: dict[str, list[Row]] = {}
    for row in published.rows(EVIDENCE):
        if row["path"] is not None and row["line_no"] is not None:
            lines.setdefault(row["finding_id"], []).append(row)
    found = published.rows(FINDINGS)
    rules = sorted({finding["rule"] for finding in found})
    driver = {
        "name": "election-replay",
        "rules": [
            {"id": rule, "shortDescription": {"text": catalogue()[rule].meaning}}
            for rule in rules
            if rule in catalogue()
        ],
    }
    results = [
        {
            "ruleId": finding["rule"],
            "level": SARIF_LEVELS[finding["severity"]],
            "message": {"text": finding["summary"]},
            "partialFingerprints": {"finding": finding["finding_id"]},
            "locations": [_location(line) for line in lines.get(finding["finding_id"], [])],
        }
        for finding in found
    ]
    return {"version": "2.1.0", "$schema": SARIF_SCHEMA, "runs": [{"tool": {"driver": driver}, "results": results}]}


def _location(line: Row) -> dict[str, object]:
    region = {"startLine": line["line_no"], "snippet": {"text": line["text"] or ""}}
    return {"physicalLocation": {"artifactLocation": {"uri": line["path"]}, "region": region}}
