"""Means over tasks with their uncertainty, and pass@k.

Rollouts of one task are not independent samples of the task distribution, so each task counts once: the mean is that of
the tasks' means, and the standard error that of the tasks' spread. The interval is the normal one.
"""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

Z_95 = 1.96


class Estimate(NamedTuple):
    """A mean over tasks (nan without a value) and its standard error (None for fewer than two tasks)."""

    mean: float
    standard_error: float | None

    @property
    def half_width(self) -> float:
        """Of the 95 % interval; 0 where the error is not known."""
        return Z_95 * (self.standard_error or 0.0)

    def __str__(self) -> str:
        """The mean with half the width of its 95 % interval."""
        return f"{self.mean:.3f}" + ("" if self.standard_error is None else f" ± {self.half_width:.3f}")


def estimate(values_by_task: Sequence[Sequence[float]]) -> Estimate:
    """The mean of the tasks' means; tasks without a value are left out."""
    means = [statistics.fmean(values) for values in values_by_task if values]
    if len(means) < 2:
        return Estimate(means[0] if means else math.nan, None)
    return Estimate(statistics.fmean(means), statistics.stdev(means) / math.sqrt(len(means)))


def pass_at_k(passes_by_task: Sequence[Sequence[bool]], k: int) -> Estimate:
    """The chance that at least one of k rollouts passes, unbiased: 1 - C(n - c, k) / C(n, k) (Chen et al., 2021).

    n rollouts of a task, c of which pass; tasks with fewer than k rollouts are left out.
    """
    return estimate(
        [
            [1.0 - math.comb(len(passes) - sum(passes), k) / math.comb(len(passes), k)]
            for passes in passes_by_task
            if len(passes) >= k
        ]
    )
