"""The fixed Holt-Laury battery as a method: ask the pairs in order or by bisection, then fit preferences by grid
search.

All its outcomes are gains, so it tells nothing about loss aversion: the fit leaves that at the middle of its range.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .actions import Estimate
from .holt_laury import PROBABILITIES, RISKY_OUTCOMES, SAFE_OUTCOMES, indifference_probability
from .lotteries import Choice, Pair, lottery
from .ranges import Range
from .respondent import ChoiceNoise, probabilities_on_grid

GRID_STEP = 0.01
_ROUNDING = 1e-9


@lru_cache(maxsize=1)
def battery() -> tuple[Pair, ...]:
    """The ten pairs, the safe lottery first."""
    return tuple(
        Pair(
            lottery((SAFE_OUTCOMES[0], p), (SAFE_OUTCOMES[1], 1 - p)),
            lottery((RISKY_OUTCOMES[0], p), (RISKY_OUTCOMES[1], 1 - p)),
        )
        for p in PROBABILITIES
    )


def agreement(
    answers: Sequence[tuple[Pair, Choice]], gammas: NDArray[np.float64], loss_aversions: NDArray[np.float64]
) -> NDArray[np.int64]:
    """How many answers each respondent of a grid would give without noise: (gammas, loss_aversions).

    Where nothing can be lost, loss aversion is not looked at: one column is computed and shared.
    """
    is_gains_only = all(x >= 0 for pair, _ in answers for side in pair for x, _ in side.outcomes)
    columns = loss_aversions[:1] if is_gains_only else loss_aversions
    agreed = np.zeros((len(gammas), len(columns)), dtype=np.int64)
    for pair, choice in answers:
        agreed += (probabilities_on_grid(pair, gammas, columns, ChoiceNoise()) == 1) == (choice == "A")
    return np.broadcast_to(agreed, (len(gammas), len(loss_aversions)))


def grid_axis(support: Range) -> NDArray[np.float64]:
    """The points of a range at steps of 0.01."""
    num_points = int(support.width / GRID_STEP + _ROUNDING) + 1
    return np.linspace(support.low, support.low + GRID_STEP * (num_points - 1), num_points)


def best_curvatures(answers: Sequence[tuple[Pair, Choice]], gamma: Range) -> NDArray[np.float64]:
    """The grid curvatures that agree with the most answers of the battery."""
    gammas = grid_axis(gamma)
    agreed = agreement(answers, gammas, np.ones(1))[:, 0]
    return np.asarray(gammas[agreed == agreed.max()])


def fit(answers: Sequence[tuple[Pair, Choice]], gamma: Range, loss_aversion: Range) -> Estimate:
    """The middle of the best-fitting curvatures, beside the middle of the range of loss aversion."""
    return Estimate(float(best_curvatures(answers, gamma).mean()), loss_aversion.middle)


def next_bisection(answers: Sequence[tuple[Pair, Choice]], gamma: Range) -> Pair | None:
    """The middle one of the pairs that a curvature of the range may still answer either way; None when there is none.

    Safe at p means safe at every lower p, risky at p means risky at every higher p.
    """
    lowest, highest = indifference_probability(gamma.high), indifference_probability(gamma.low)
    open_pairs = [k for k, probability in enumerate(PROBABILITIES) if lowest < probability < highest]
    for pair, choice in answers:
        asked = battery().index(pair)
        open_pairs = [k for k in open_pairs if (k > asked if choice == "A" else k < asked)]
    return battery()[open_pairs[len(open_pairs) // 2]] if open_pairs else None
