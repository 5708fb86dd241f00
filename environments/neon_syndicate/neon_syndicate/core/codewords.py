"""How typed codes and code words compare, and what a message of code words is worth."""

import unicodedata
from collections.abc import Collection, Sequence

from .balance import MESSAGE_GATE_DENOMINATOR, MESSAGE_GATE_NUMERATOR


def canonical(text: str) -> str:
    """Text as it is compared: NFKC, case-folded, runs of white space as one space, trimmed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def message_items(message: str) -> tuple[str, ...]:
    """The canonical items of a message, a list separated by commas or slashes; blank items are dropped."""
    items = (canonical(item) for item in unicodedata.normalize("NFKC", message).replace("/", ",").split(","))
    return tuple(item for item in items if item)


def message_score(message: str, required: Sequence[str], revealed: Collection[str]) -> float:
    """(matched required - foreign items) / required, at least 0.

    Foreign is an item that is not a revealed code word, and a code word given again.
    """
    items = message_items(message)
    matched = {canonical(word) for word in required if word in revealed}.intersection(items)
    foreign = len(items) - len(matched)
    return max(0, len(matched) - foreign) / len(required)


def passes_gate(score: float, num_required: int) -> bool:
    """Whether a message score reaches the gate, compared as whole words to stay exact."""
    return MESSAGE_GATE_DENOMINATOR * round(score * num_required) >= MESSAGE_GATE_NUMERATOR * num_required
