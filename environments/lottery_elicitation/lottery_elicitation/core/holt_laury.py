"""The Holt-Laury battery: ten safe/risky pairs whose switch point measures utility curvature.

Pair k (k = 1..10) offers the safe lottery (2.00 with p, else 1.60) against the risky one (3.85 with p, else 0.10), p =
k/10. All outcomes are gains, so the choices depend on the utility curvature gamma alone and say nothing about loss
aversion.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAFE_OUTCOMES = (2.00, 1.60)
RISKY_OUTCOMES = (3.85, 0.10)
PROBABILITIES = tuple(k / 10 for k in range(1, 11))
NUM_PAIRS = len(PROBABILITIES)

_BISECTIONS = 100
_EDGE_MARGIN = 1e-9
"""Gap kept from a switch threshold, so that an estimate lies strictly inside its interval."""


class CurvatureIntervals(NamedTuple):
    """Intervals of gamma with one choice vector each: `edges` (rows + 1,) ascending, `num_safe` (rows,)."""

    edges: NDArray[np.float64]
    num_safe: NDArray[np.float64]


def safe_choices(gamma: NDArray[np.float64] | float) -> NDArray[np.bool_]:
    """Whether the safe lottery (A) is chosen, shape (..., 10) for gamma of shape (...). Ties choose A."""
    curvature = np.asarray(gamma, dtype=np.float64)[..., None]
    p = np.asarray(PROBABILITIES)
    safe = p * SAFE_OUTCOMES[0] ** curvature + (1 - p) * SAFE_OUTCOMES[1] ** curvature
    risky = p * RISKY_OUTCOMES[0] ** curvature + (1 - p) * RISKY_OUTCOMES[1] ** curvature
    return np.asarray(safe >= risky)


def choice_pattern(gamma: float) -> str:
    """The ten choices as a string of A (safe) and B (risky)."""
    return "".join("A" if is_safe else "B" for is_safe in safe_choices(gamma))


def accuracy(estimated_gamma: float, true_gamma: float) -> float:
    """Share of the ten pairs on which the two curvatures choose alike."""
    return float(np.mean(safe_choices(estimated_gamma) == safe_choices(true_gamma)))


def indifference_probability(gamma: float) -> float:
    """p at which both lotteries are worth the same: risky is chosen iff p is larger."""
    low = SAFE_OUTCOMES[1] ** gamma - RISKY_OUTCOMES[1] ** gamma
    high: float = RISKY_OUTCOMES[0] ** gamma - SAFE_OUTCOMES[0] ** gamma
    return float(low / (low + high))


@lru_cache(maxsize=256)
def switch_thresholds(gamma_low: float, gamma_high: float) -> tuple[float, ...]:
    """Ascending curvatures strictly inside the range at which one of the ten choices switches, by bisection.

    `indifference_probability` falls as gamma rises, so every pair switches at one curvature at most.
    """
    thresholds = []
    for probability in reversed(PROBABILITIES):
        low, high = gamma_low, gamma_high
        if not indifference_probability(low) > probability > indifference_probability(high):
            continue
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if indifference_probability(middle) > probability else (low, middle)
        thresholds.append((low + high) / 2)
    return tuple(thresholds)


def curvature_intervals(gamma_low: float, gamma_high: float) -> CurvatureIntervals:
    """The intervals of [gamma_low, gamma_high] on which the choice vector is constant."""
    edges = np.array([gamma_low, *switch_thresholds(gamma_low, gamma_high), gamma_high])
    return CurvatureIntervals(edges, safe_choices((edges[1:] + edges[:-1]) / 2).sum(axis=-1).astype(np.float64))


def estimates_per_interval(intervals: CurvatureIntervals, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """The point of every interval nearest to `mean` (...): shape (..., rows)."""
    low, high = intervals.edges[:-1] + _EDGE_MARGIN, intervals.edges[1:] - _EDGE_MARGIN
    return np.minimum(np.maximum(mean[..., None], np.minimum(low, high)), high)


def expected_accuracies(intervals: CurvatureIntervals, row_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected accuracy of an estimate in each interval, given the probability of each: (..., rows) -> (..., rows)."""
    disagreements = np.abs(intervals.num_safe[:, None] - intervals.num_safe[None, :])
    return np.asarray(row_probabilities @ (1 - disagreements / NUM_PAIRS))
