"""Task keys and the worlds they stand for: hidden preferences, shown ranges, outcome bounds, noise draws.

Every quantity has its own named stream, so that no setting changes what another stream draws.
"""

import math
import random
from dataclasses import dataclass
from statistics import NormalDist

from .ranges import OUTCOME_BOUNDS, Range
from .respondent import Preferences
from .settings import PriorName, Settings, SplitName

ENV = "lottery_elicitation"

_MIN_WIDTH_SHARE = 0.6
"""A randomised range keeps at least this share of the full range."""
_LOW_BOUNDS = Range(-80.0, -20.0)
_HIGH_BOUNDS = Range(60.0, 160.0)
_SIGMAS_PER_RANGE = 6
"""`truncated_normal` has a standard deviation of this fraction of the range, and is clipped to it."""


@dataclass(frozen=True)
class TaskKey:
    """Names a task: everything hidden in it is drawn from streams that carry this name."""

    split: SplitName
    stage: int
    seed: int
    index: int

    def __str__(self) -> str:
        return f"{self.split}/stage{self.stage}/seed{self.seed}/{self.index}"


@dataclass(frozen=True)
class World:
    """One task. `gamma_range`, `lambda_range` and `outcome_bounds` are shown; the rest is hidden from the agent."""

    key: TaskKey
    preferences: Preferences
    gamma_range: Range
    lambda_range: Range
    lambda_support: Range
    """Where loss aversion is drawn from: the shown range, or the band of stage 1."""
    outcome_bounds: Range


def task_key(settings: Settings, index: int) -> TaskKey:
    """The name of the task at `index` of the settings' split, stage and seed."""
    return TaskKey(settings.split, settings.stage, settings.seed, index)


def build_world(settings: Settings, index: int) -> World:
    """The task at `index` of the settings' split, stage and seed."""
    key = task_key(settings, index)
    ranges = random.Random(f"{ENV}/{key}/ranges")
    gamma_range, lambda_range, bounds = settings.gamma_range, settings.lambda_range, OUTCOME_BOUNDS
    if settings.randomise_ranges:
        gamma_range = _sub_range(gamma_range, ranges)
        shown_lambda = _sub_range(lambda_range, ranges)
        if settings.stage != 1:  # a narrower range would tell of the band
            lambda_range = shown_lambda
        bounds = Range(float(round(_uniform(_LOW_BOUNDS, ranges))), float(round(_uniform(_HIGH_BOUNDS, ranges))))
    support = settings.stage1_lambda if settings.stage == 1 else lambda_range
    hidden = random.Random(f"{ENV}/{key}/preferences")
    gamma = quantile(settings.prior, gamma_range, hidden.random())
    preferences = Preferences(gamma, quantile(settings.prior, support, hidden.random()))
    return World(key, preferences, gamma_range, lambda_range, support, bounds)


def noise_draw(key: TaskKey, noise_seed: int, turn: int) -> float:
    """The uniform draw that decides the noisy choice of a turn: a stream of its own for each rollout seed."""
    return random.Random(f"{ENV}/{key}/noise/{noise_seed}/{turn}").random()


def quantile(prior: PriorName, support: Range, probability: float) -> float:
    """The inverse distribution function of a prior over `support`, for a probability in [0, 1)."""
    return support.clip(support.low + support.width * _unit_quantile(prior, probability))


def _unit_quantile(prior: PriorName, probability: float) -> float:
    if prior == "uniform":
        return probability
    if prior == "beta":  # Beta(2, 2): the root of 3 u^2 - 2 u^3 = probability in [0, 1]
        return 0.5 - math.sin(math.asin(1 - 2 * probability) / 3)
    if probability == 0:
        return 0.0
    return NormalDist(0.5, 1 / _SIGMAS_PER_RANGE).inv_cdf(probability)


def cumulative(prior: PriorName, support: Range, point: float) -> float:
    """P(parameter <= point), without the atoms that clipping the normal leaves at the ends (0.3 %)."""
    unit = min(max((point - support.low) / support.width, 0.0), 1.0)
    if prior == "uniform":
        return unit
    if prior == "beta":
        return 3 * unit**2 - 2 * unit**3
    return NormalDist(0.5, 1 / _SIGMAS_PER_RANGE).cdf(unit)


def _uniform(within: Range, stream: random.Random) -> float:
    return within.low + within.width * stream.random()


def _sub_range(full: Range, stream: random.Random) -> Range:
    """A sub-range of random width and place, its ends rounded to 0.01 to be read with ease."""
    width = full.width * (_MIN_WIDTH_SHARE + (1 - _MIN_WIDTH_SHARE) * stream.random())
    low = full.low + (full.width - width) * stream.random()
    return Range(full.clip(round(low, 2)), full.clip(round(low + width, 2)))
