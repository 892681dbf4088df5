"""How much a test does: `make prove` sets PROVE, and has it do all that it can; `make test` has it do a part."""

import os
from typing import TypeVar

import pytest

PROVING = "PROVE" in os.environ

Amount = TypeVar("Amount")


def amount(part: Amount, everything: Amount) -> Amount:
    """How much to do now."""
    return everything if PROVING else part


def only_when_proving(takes: str) -> pytest.MarkDecorator:
    """For a test that `make prove` runs alone; ``takes`` says how long."""
    return pytest.mark.skipif(not PROVING, reason=f"{takes}: `make prove` runs it")
