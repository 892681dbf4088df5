"""Pages as trees of elements, written by the standard library, so that no text, wherever it comes from, can become
markup.
"""

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

from election_replay.jobs.reading.words import harmless

Child = Element | str | None


def tag(name: str, /, *children: Child | Iterable[Child], **attributes: object) -> Element:
    """An element. A trailing underscore in an attribute's name is dropped, others become hyphens; ``None``: none."""
    given = {
        key.rstrip("_").replace("_", "-"): plain(str(value)) for key, value in attributes.items() if value is not None
    }
    element = Element(name, given)
    for child in children:
        for part in [child] if child is None or isinstance(child, str | Element) else child:
            add(element, part)
    return element


def add(parent: Element, child: Child) -> None:
    """Put an element or a text at the end of ``parent``."""
    if child is None:
        return
    if isinstance(child, Element):
        parent.append(child)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + plain(child)
    else:
        parent.text = (parent.text or "") + plain(child)


def plain(text: str) -> str:
    """``text`` without control characters, which a page must not hold; lines stay lines."""
    return harmless(text, keep="\n\t")


def document(head: Iterable[Element], body: Iterable[Child]) -> str:
    """A whole page."""
    common = (
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
    )
    whole = tag("html", tag("head", common, head), tag("body", body), lang="en")
    return "<!DOCTYPE html>\n" + tostring(whole, encoding="unicode", method="html")
