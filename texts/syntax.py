"""What the readers of Go and of Java ask of a syntax tree."""

from collections.abc import Iterator

from tree_sitter import Node


def descendants(node: Node, kind: str) -> Iterator[Node]:
    """The nodes of a kind below ``node`` and itself, in the order of the text."""
    stack = [node]
    while stack:
        one = stack.pop()
        if one.type == kind:
            yield one
        stack.extend(reversed(one.named_children))


def text_of(node: Node) -> str:
    """The source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def field_of(node: Node, name: str) -> str:
    """The source text of a named field of a node; nothing where it has none."""
    found = node.child_by_field_name(name)
    return "" if found is None else text_of(found)
