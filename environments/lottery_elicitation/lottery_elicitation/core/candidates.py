"""The pairs a design considers: analytic, one parameter at a time, and steep under noise.

(x, p; 0) against a sure c splits respondents at gamma = ln p / ln(c / x), whatever their loss aversion; (x, p; -x)
against 0 splits them at loss aversion = p / (1 - p), whatever their gamma. Under noise p = 1/e is the steepest split of
gamma, and mixed gambles of other shapes tell more of either parameter than the clean cuts do.
"""

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .lotteries import Pair, lottery, sure
from .posterior import ParameterGrid
from .ranges import Range

_STEEPEST = math.exp(-1)
_EVEN_LOSSES = (0.04, 1.0, 8)
"""Losses of the even-odds gambles, as shares of the stake: lowest, highest, number (geometric)."""
_MIXED_PROBABILITIES = (0.3, 0.4, 0.5, 0.6)
_MIXED_LOSSES = (0.1, 0.3)
"""Shares of the largest amount that can be lost."""
_SURE_GAINS = (0.1, 0.2, 0.4)
"""Shares of the largest gain."""


def gamma_cut(threshold: float, stake: float, probability: float = _STEEPEST) -> Pair:
    """(stake, p; 0) against a sure amount: A is chosen iff gamma >= threshold."""
    return Pair(lottery((stake, probability), (0.0, 1 - probability)), sure(stake * probability ** (1 / threshold)))


def lambda_cut(threshold: float, stake: float) -> Pair:
    """(stake, p; -stake) against nothing: A is chosen iff loss aversion <= threshold."""
    probability = threshold / (1 + threshold)
    return Pair(lottery((stake, probability), (-stake, 1 - probability)), sure(0.0))


def stakes(outcome_bounds: Range) -> tuple[float, float]:
    """The largest gain, and the largest amount that can be both gained and lost, within bounds around 0."""
    return outcome_bounds.high, min(outcome_bounds.high, -outcome_bounds.low)


def candidate_pairs(grid: ParameterGrid, outcome_bounds: Range, *, is_noisy: bool) -> tuple[Pair, ...]:
    """The pairs considered: cuts at the inner cell edges; under noise also mixed gambles against nothing or a sure
    gain.
    """
    gain, mixed = stakes(outcome_bounds)
    pairs = [gamma_cut(edge, gain) for edge in _inner_edges(grid.gammas)]
    pairs += [lambda_cut(edge, mixed) for edge in _inner_edges(grid.loss_aversions)]
    if is_noisy:
        losses = mixed * np.geomspace(*_EVEN_LOSSES)
        pairs += [Pair(lottery((mixed, 0.5), (-float(loss), 0.5)), sure(0.0)) for loss in losses]
        for probability, loss, sure_gain in product(_MIXED_PROBABILITIES, _MIXED_LOSSES, _SURE_GAINS):
            gamble = lottery((gain, probability), (-loss * mixed, 1 - probability))
            pairs.append(Pair(gamble, sure(sure_gain * gain)))
    return tuple(pairs)


def _inner_edges(middles: NDArray[np.float64]) -> list[float]:
    """The edges between equal cells, from their middles."""
    return [float(edge) for edge in (middles[1:] + middles[:-1]) / 2]
