"""Where parameters and outcomes may lie."""

from typing import NamedTuple


class Range(NamedTuple):
    """A closed interval."""

    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    def clip(self, value: float) -> float:
        return min(max(value, self.low), self.high)


GAMMA_RANGE = Range(0.2, 1.5)
"""Utility curvature gamma: v(x) = x^gamma for gains."""
LAMBDA_RANGE = Range(1.0, 4.5)
"""Loss aversion lambda: v(x) = -lambda (-x)^gamma for losses."""
OUTCOME_BOUNDS = Range(-50.0, 100.0)
REFERENCE_LOSS_AVERSION = 2.25
"""The loss aversion of stage 1 in the published environment, and the middle of the stage-1 band."""


class Scales(NamedTuple):
    """Widths of the full parameter ranges: errors are measured as shares of them, also where an episode shows narrower
    ranges.
    """

    gamma: float = GAMMA_RANGE.width
    loss_aversion: float = LAMBDA_RANGE.width


FULL_SCALES = Scales()
