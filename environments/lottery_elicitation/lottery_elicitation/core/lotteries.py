"""Lotteries and pairs of them: values that validate themselves."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .ranges import Range

Choice = Literal["A", "B"]

MIN_OUTCOMES, MAX_OUTCOMES = 2, 3
PROBABILITY_DRIFT = 0.02
"""Largest distance of a sum of probabilities from 1 that is renormalised rather than refused."""
_EXACT = 1e-9
_DRIFT_ROUNDING = 1e-12


class Outcome(NamedTuple):
    value: float
    probability: float


@dataclass(frozen=True)
class Lottery:
    """Two or three outcomes whose probabilities sum to 1. Anything else raises ValueError."""

    outcomes: tuple[Outcome, ...]

    def __post_init__(self) -> None:
        if not MIN_OUTCOMES <= len(self.outcomes) <= MAX_OUTCOMES:
            raise ValueError(f"a lottery must have {MIN_OUTCOMES} or {MAX_OUTCOMES} outcomes, got {len(self.outcomes)}")
        if not all(math.isfinite(value) and 0 <= probability <= 1 for value, probability in self.outcomes):
            raise ValueError(f"values must be finite and probabilities in [0, 1], got {self.outcomes}")
        if abs(self.total_probability - 1) > _EXACT:
            raise ValueError(f"the probabilities of a lottery must sum to 1, got {self.total_probability}")

    @property
    def total_probability(self) -> float:
        return math.fsum(outcome.probability for outcome in self.outcomes)

    def to_json(self) -> dict[str, list[dict[str, float]]]:
        return {"outcomes": [outcome._asdict() for outcome in self.outcomes]}


class Pair(NamedTuple):
    """What the respondent chooses between."""

    a: Lottery
    b: Lottery


def lottery(*outcomes: tuple[float, float]) -> Lottery:
    """A lottery from (value, probability) tuples."""
    return Lottery(tuple(Outcome(float(value), float(probability)) for value, probability in outcomes))


def sure(value: float) -> Lottery:
    """`value` for certain, written with the two outcomes that a lottery must have."""
    return lottery((value, 0.5), (value, 0.5))


class Reading(NamedTuple):
    """A lottery read from JSON, and whether its probabilities had to be renormalised."""

    lottery: Lottery
    is_renormalised: bool


def read_number(value: object, name: str) -> float | str:
    """`value` as a finite float, or the fault: booleans, strings, null, NaN and infinities are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{name} is {_excerpt(value)}; it must be a JSON number"
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else f"{name} is not finite; it must be a finite number"


def read_lottery(value: object, name: str, bounds: Range) -> Reading | str:
    """The lottery in a JSON value, or the fault in it."""
    if not isinstance(value, Mapping):
        return f'{name} is {_excerpt(value)}; it must be an object {{"outcomes": [...]}}'
    outcomes = value.get("outcomes")
    if not isinstance(outcomes, list):
        return f"{name}.outcomes must be a list of {MIN_OUTCOMES} or {MAX_OUTCOMES} outcomes"
    if not MIN_OUTCOMES <= len(outcomes) <= MAX_OUTCOMES:
        return f"{name} has {len(outcomes)} outcomes; it must have {MIN_OUTCOMES} or {MAX_OUTCOMES}"
    read = [_read_outcome(item, f"{name}.outcomes[{i}]", bounds) for i, item in enumerate(outcomes)]
    faults = [item for item in read if isinstance(item, str)]
    if faults:
        return faults[0]
    return _normalised([item for item in read if isinstance(item, Outcome)], name)


def _read_outcome(item: object, name: str, bounds: Range) -> Outcome | str:
    if not isinstance(item, Mapping):
        return f'{name} is {_excerpt(item)}; it must be an object {{"value": ..., "probability": ...}}'
    missing = [key for key in ("value", "probability") if key not in item]
    if missing:
        return f"{name} has no {missing[0]!r}"
    value = read_number(item["value"], f"{name}.value")
    if isinstance(value, str):
        return value
    if not bounds.low <= value <= bounds.high:
        return f"{name}.value is {value:g}; it must lie in [{bounds.low:g}, {bounds.high:g}]"
    probability = read_number(item["probability"], f"{name}.probability")
    if isinstance(probability, str):
        return probability
    if not 0 <= probability <= 1:
        return f"{name}.probability is {probability:g}; it must lie in [0, 1]"
    return Outcome(value, probability)


def _normalised(outcomes: list[Outcome], name: str) -> Reading | str:
    total = math.fsum(outcome.probability for outcome in outcomes)
    if abs(total - 1) <= _EXACT:
        return Reading(Lottery(tuple(outcomes)), is_renormalised=False)
    if abs(total - 1) > PROBABILITY_DRIFT + _DRIFT_ROUNDING:
        return f"the probabilities of {name} sum to {total:.6g}; they must sum to 1 (within {PROBABILITY_DRIFT})"
    scaled = tuple(Outcome(value, min(probability / total, 1.0)) for value, probability in outcomes)
    return Reading(Lottery(scaled), is_renormalised=True)


def _excerpt(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
