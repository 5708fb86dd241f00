"""What an ideal observer knows: the posterior over a grid of respondents, its entropy, and the loss of an estimate."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .generator import cumulative
from .lotteries import Choice, Pair
from .ranges import Range, Scales
from .respondent import ChoiceNoise, probabilities_on_grid
from .settings import PriorName

CELLS = 40
"""Cells of each parameter."""
LIKELIHOOD_FLOOR = 1e-6
"""Least likelihood of an answer: cells that an answer cuts through, or rounding, must not rule everything out."""

_Array = NDArray[np.float64]


class ParameterGrid(NamedTuple):
    """Cell middles of gamma (g,) and of loss aversion (l,), and the prior probability of each cell (g, l)."""

    gammas: _Array
    loss_aversions: _Array
    prior: _Array


@lru_cache(maxsize=256)
def parameter_grid(gamma: Range, loss_aversion: Range, prior: PriorName, cells: int = CELLS) -> ParameterGrid:
    """The grid over two ranges; a range of no width is one cell."""
    gammas, gamma_prior = _axis(gamma, prior, cells)
    loss_aversions, lambda_prior = _axis(loss_aversion, prior, cells)
    return ParameterGrid(gammas, loss_aversions, np.outer(gamma_prior, lambda_prior))


def _axis(support: Range, prior: PriorName, cells: int) -> tuple[_Array, _Array]:
    if support.width == 0:
        return np.array([support.low]), np.ones(1)
    edges = np.linspace(*support, cells + 1)
    mass = np.diff([cumulative(prior, support, float(edge)) for edge in edges])
    return (edges[1:] + edges[:-1]) / 2, mass / mass.sum()


def updated(belief: _Array, probability_of_a: _Array, choice: Choice) -> _Array:
    """Bayes' rule for one answer; arrays of one shape."""
    likelihood = probability_of_a if choice == "A" else 1 - probability_of_a
    weighted = belief * np.maximum(likelihood, LIKELIHOOD_FLOOR)
    return np.asarray(weighted / weighted.sum())


def posterior(
    grid: ParameterGrid, answers: Sequence[tuple[Pair, Choice]], noise: ChoiceNoise, belief: _Array | None = None
) -> _Array:
    """The belief (g, l) after answers to pairs, starting from `belief` (the prior by default)."""
    belief = grid.prior if belief is None else belief
    for pair, choice in answers:
        belief = updated(belief, probabilities_on_grid(pair, grid.gammas, grid.loss_aversions, noise), choice)
    return belief


def entropy_bits(belief: _Array) -> float:
    """Shannon entropy of a belief."""
    positive = belief[belief > 0]
    return float(-(positive * np.log2(positive)).sum())


def expected_loss(grid: ParameterGrid, belief: _Array, estimate: tuple[float, float], scales: Scales) -> float:
    """Expected normalised squared error (-mse) of an estimate under a belief."""
    gamma_error = ((grid.gammas - estimate[0]) / scales[0]) ** 2
    lambda_error = ((grid.loss_aversions - estimate[1]) / scales[1]) ** 2
    return float(belief.sum(axis=1) @ gamma_error + belief.sum(axis=0) @ lambda_error)
