"""The prospect-theory respondent: v(x) = x^gamma for gains, -lambda (-x)^gamma for losses; EU(L) = sum p v(x).

Without noise A is chosen iff EU(A) >= EU(B). With Fechner noise s, P(A) = 1 / (1 + exp(-(EU(A) - EU(B)) / (s * span))),
where the span is 1 for `raw` units and v(max) - v(min) over the possible outcomes of the pair for `contextual` units.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .lotteries import Choice, Lottery, Pair
from .settings import NoiseUnits

_MAX_EXPONENT = 60.0
"""exp of more changes no probability in double precision."""

_Array = NDArray[np.float64]


class Preferences(NamedTuple):
    """Utility curvature gamma and loss aversion lambda."""

    gamma: float
    loss_aversion: float


class ChoiceNoise(NamedTuple):
    """Fechner noise; scale 0 is a deterministic respondent."""

    scale: float = 0.0
    units: NoiseUnits = "contextual"


def value(outcome: float, preferences: Preferences) -> float:
    if outcome >= 0:
        return float(outcome**preferences.gamma)
    return float(-preferences.loss_aversion * (-outcome) ** preferences.gamma)


def expected_utility(lottery: Lottery, preferences: Preferences) -> float:
    """Summed exactly, so that the order of outcomes never decides a tie."""
    return math.fsum(probability * value(outcome, preferences) for outcome, probability in lottery.outcomes)


def probability_of_a(pair: Pair, preferences: Preferences, noise: ChoiceNoise) -> float:
    """P(choice is A)."""
    difference = expected_utility(pair.a, preferences) - expected_utility(pair.b, preferences)
    if noise.scale == 0:
        return float(difference >= 0)
    span = 1.0
    if noise.units == "contextual":
        possible = [x for lottery in pair for x, probability in lottery.outcomes if probability > 0]
        span = value(max(possible), preferences) - value(min(possible), preferences)
    if difference == 0:
        return 0.5
    return 1 / (1 + math.exp(-max(-_MAX_EXPONENT, min(_MAX_EXPONENT, difference / (noise.scale * span)))))


def choose(pair: Pair, preferences: Preferences, noise: ChoiceNoise, uniform: float) -> Choice:
    """The choice, given a draw from [0, 1) that only matters under noise."""
    return "A" if uniform < probability_of_a(pair, preferences, noise) else "B"


def expected_utilities(
    values: ArrayLike, probabilities: ArrayLike, gamma: ArrayLike, loss_aversion: ArrayLike
) -> _Array:
    """EU of many lotteries: outcomes (..., k) with respondents (...) -> (...). Pad lotteries with probability 0."""
    outcomes = np.asarray(values, dtype=np.float64)
    magnitude = np.abs(outcomes) ** np.asarray(gamma, dtype=np.float64)[..., None]
    signed = np.where(outcomes < 0, -np.asarray(loss_aversion, dtype=np.float64)[..., None] * magnitude, magnitude)
    return np.asarray((signed * np.asarray(probabilities, dtype=np.float64)).sum(axis=-1))


def choices_without_noise(
    values: ArrayLike, probabilities: ArrayLike, gamma: ArrayLike, loss_aversion: ArrayLike
) -> NDArray[np.bool_]:
    """Whether A is chosen: pairs (..., 2, k), A first, with respondents (...) -> (...)."""
    utilities = expected_utilities(
        values, probabilities, np.asarray(gamma)[..., None], np.asarray(loss_aversion)[..., None]
    )
    return np.asarray(utilities[..., 0] >= utilities[..., 1])


def probabilities_on_grid(pair: Pair, gammas: _Array, loss_aversions: _Array, noise: ChoiceNoise) -> _Array:
    """P(choice is A) for every respondent of a grid: (gammas, loss_aversions).

    Gains do not depend on loss aversion and losses are linear in it, so only the gamma axis needs powers.
    """
    gain_a, loss_a = _utility_parts(pair.a, gammas)
    gain_b, loss_b = _utility_parts(pair.b, gammas)
    difference = (gain_a - gain_b)[:, None] - (loss_a - loss_b)[:, None] * loss_aversions
    if noise.scale == 0:
        return (difference >= 0).astype(np.float64)
    span: _Array | float = 1.0
    if noise.units == "contextual":
        possible = [x for lottery in pair for x, probability in lottery.outcomes if probability > 0]
        span = _values(max(possible), gammas, loss_aversions) - _values(min(possible), gammas, loss_aversions)
    exponent = np.divide(difference, noise.scale * span, out=np.zeros_like(difference), where=difference != 0)
    return np.asarray(1 / (1 + np.exp(-np.clip(exponent, -_MAX_EXPONENT, _MAX_EXPONENT))))


def _utility_parts(lottery: Lottery, gammas: _Array) -> tuple[_Array, _Array]:
    """EU = gain - lambda * loss: both parts by gamma."""
    gain, loss = np.zeros_like(gammas), np.zeros_like(gammas)
    for outcome, probability in lottery.outcomes:
        part = probability * abs(outcome) ** gammas
        gain, loss = (gain + part, loss) if outcome >= 0 else (gain, loss + part)
    return gain, loss


def _values(outcome: float, gammas: _Array, loss_aversions: _Array) -> _Array:
    magnitude = (abs(outcome) ** gammas)[:, None]
    return np.asarray(-magnitude * loss_aversions if outcome < 0 else magnitude * np.ones_like(loss_aversions))
