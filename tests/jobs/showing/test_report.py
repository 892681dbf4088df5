"""``report``: one file that holds everything, asks nobody for anything, and lets no text become markup."""

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from election_replay.jobs.cli.app import main
from election_replay.jobs.reading.words import harmless
from election_replay.jobs.showing.rendering import TEMPLATES, render
from tests.jobs.tables import GROUP, blank, finding, log_line, publish, put, role, term

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</pre></title></style><iframe src=//evil.example>",
    "<!-- --><![CDATA[ ]]>&lt;b&gt;&#60;i&#62;",
    "\x1b[31mred\x00\x9b\u202eright to left",
    "javascript:alert(1)",
]
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "article", "h1", "h2"),
    *(
        "h3",
        "h4",
        "p",
        "b",
        "i",
        "a",
        "code",
        "pre",
        "ol",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
        "figure",
        "figcaption",
        "time",
    ),
    *("span", "div", "table", "thead", "tbody", "tr", "th", "td", "svg", "g", "rect", "line", "text", "tspan"),
    *("defs", "pattern", "path"),
}


def plain(text: str) -> str:
    """A text as a page holds it."""
    return harmless(text, keep="\n\t")


class Reader(HTMLParser):
    """Which elements and attributes a browser would see, and which text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All text."""
        return "".join(self.texts)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report on a group in which everything that comes from outside is hostile."""
    tables = blank(tmp_path_factory.mktemp("report") / "w")
    group = GROUP | {"cluster": HOSTILE[0], "replica_group": HOSTILE[1]}
    put(tables, "terms", term(1, HOSTILE[2], 0, 5, cause=HOSTILE[3]) | group, term(2, "n2", 5, None) | group)
    roles = [role(HOSTILE[2], "leader", 0, 5, term=1, source_node=HOSTILE[4], start_cause=HOSTILE[3]) | group]
    put(tables, "role_intervals", *roles, role("n2", HOSTILE[6], 5, None) | group)
    said = {"evidence": [f"e{n}" for n in range(len(HOSTILE))], "summary": HOSTILE[1], "nodes": [HOSTILE[0]]}
    found = finding("f1", "SPLIT_BRAIN_OVERLAP", 1, 4, severity="critical", **said) | group
    put(tables, "findings", found, finding("f2", "LEADERLESS", 2, 3, implied_by="f1", summary=HOSTILE[0]) | group)
    lines = [log_line(f"e{n}", f"{text}.log", n, text, cluster=HOSTILE[0]) for n, text in enumerate(HOSTILE)]
    put(tables, "log_lines", *lines)
    coverage = {"rule": "LEADERLESS", "conforms": 0, "violates": 1, "undecidable": 1, "why_undecidable": HOSTILE[0]}
    put(tables, "rule_coverage", group | coverage)
    publish(tables)
    file = Path(tables.root).parent / "incident.html"
    given = ["--warehouse", tables.root, "--cluster", HOSTILE[0], "--group", HOSTILE[1], "-o", str(file)]
    assert main(["report", *given]) == 0
    return file.read_text(encoding="utf-8")


def test_no_text_becomes_markup(hostile: str) -> None:
    page = Reader(hostile)
    assert {name for name, _ in page.elements} <= ELEMENTS
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    assert [value for _, attributes in page.elements for key, value in attributes.items() if key == "src"] == []
    for text in HOSTILE:
        assert plain(text) in page.text


def test_it_asks_nobody_for_anything(hostile: str) -> None:
    page = Reader(hostile)
    links = {attributes["href"] for _, attributes in page.elements if "href" in attributes}
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert links
    assert {link and link.removeprefix("#") for link in links} <= ids
    [style] = re.findall("<style>(.+?)</style>", hostile, re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style
    policy = next(a["content"] for name, a in page.elements if name == "meta" and a.get("http-equiv"))
    assert str(policy).startswith("default-src 'none'")


def test_control_characters_are_shown_and_not_sent(hostile: str) -> None:
    assert not [one for one in hostile if not one.isprintable() and one not in "\n\t"]
    assert "\\x1b[31mred\\x00" in hostile


def test_it_tells_what_the_terminal_tells(hostile: str) -> None:
    text = Reader(hostile).text
    verdict = text[text.index("Verdict") : text.index("What happened")]
    assert verdict.count(plain(HOSTILE[1])) == 1
    for expected in (
        "Verdict",
        "Impact",
        "Made",
        "What happened",
        "Who was what",
        "critical · definite",
        "warning · definite",
        "Findings: 1 critical, 1 warning",
        "definite: so for every reading of the clocks",
        "What would refute it",
        "From it follows",
        "Evidence: 7 lines of logs, word for word, in order of time",
        "What we could not see",
        "could not be judged once",
        "Timeline",
    ):
        assert expected in text


@given(st.text(), st.text())
def test_whatever_a_text_is_it_comes_out_as_text(inside: str, attribute: str) -> None:
    parts = TEMPLATES.get_template("parts.html.j2").module
    page = Reader(harmless(parts.scrolling(attribute, caller=lambda: parts.command(inside)), keep="\n\t"))  # type: ignore[attr-defined]
    assert [name for name, _ in page.elements] == ["div", *(["code"] if inside else [])]
    assert page.elements[0][1]["aria-label"] == plain(attribute)
    assert page.text.rstrip("\n") == plain(inside).rstrip("\n")


UNSAFE = re.compile(r"\bsafe\b|\bautoescape\b|=\s*\{\{|<script>|\bMarkup\b|\bon\w+=|\bstyle=")
"""What would let a text out of its place: marked as harmless, in an attribute without quotes, in a script or a style."""


TEMPLATE_FILES = sorted((Path(__file__).parents[3] / "jobs").rglob("*.j2"))


@pytest.mark.parametrize("file", TEMPLATE_FILES, ids=lambda file: file.name)
def test_no_template_lets_a_text_out_of_its_place(file: Path) -> None:
    assert not UNSAFE.findall(file.read_text("utf-8"))


def test_all_templates_are_in_the_wheel() -> None:
    packed = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    data = packed["tool"]["setuptools"]["package-data"]
    for file in TEMPLATE_FILES:
        package = ".".join(("election_replay", *file.parent.relative_to(Path(__file__).parents[3]).parts))
        assert any(file.match(pattern) for pattern in data[package]), file


def test_a_name_that_a_template_does_not_get_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("refusal.html.j2", title="t", up="", lines=[])


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = blank(tmp_path / "w")
    put(tables, "terms", term(1, "n1", 0, None))
    publish(tables)
    given = ["--warehouse", tables.root, "--cluster", "c1", "--group", "g1", "-o", str(tmp_path / "no" / "x.html")]
    assert main(["report", *given]) == 1
    assert capsys.readouterr().err == f"error: cannot write {tmp_path}/no/x.html: No such file or directory\n"
