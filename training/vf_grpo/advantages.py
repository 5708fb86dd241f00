"""Group statistics of raw rewards, computed by us and not read back from the trainer.

A group is `group_size` episodes of one task. `None` marks an episode that could not be scored: it is left out of every
mean and deviation, and its advantage is 0. Source of the advantage: group-relative policy optimisation, reward minus
group mean, divided by the group's sample standard deviation when scaling by group.
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Literal, NamedTuple

Rewards = Sequence[float | None]

STD_FLOOR = 1e-4
"""Added to the deviation before dividing, as TRL does."""

TIE_TOLERANCE = 1e-8
"""Rewards closer than this are equal, so that a group is dead only if it teaches nothing."""


class DeadGroups(NamedTuple):
    """Fractions of all groups, in [0, 1]; `dead` counts every group without a spread of rewards."""

    dead: float
    all_solved: float
    all_failed: float


def split_groups(rewards: Rewards, group_size: int) -> list[Rewards]:
    """Consecutive groups of `group_size`; raises ValueError when the count does not divide."""
    if len(rewards) % group_size:
        raise ValueError(f"{len(rewards)} rewards do not split into groups of {group_size}: batch sizes disagree")
    return [rewards[start : start + group_size] for start in range(0, len(rewards), group_size)]


def group_advantages(rewards: Rewards, scale: Literal["group", "none"] = "group") -> list[float]:
    """Advantage of each episode of one group; 0.0 for an unscored one and for every member of a dead group."""
    scored = [reward for reward in rewards if reward is not None]
    if len(scored) < 2:
        return [0.0] * len(rewards)
    mean = fmean(scored)
    divisor = stdev(scored) + STD_FLOOR if scale == "group" else 1.0
    return [0.0 if reward is None else (reward - mean) / divisor for reward in rewards]


def dead_groups(rewards: Rewards, group_size: int, solved_at: float) -> DeadGroups:
    """How many groups carry no gradient. A dead group is all-solved when its common reward is at least `solved_at`."""
    solved = failed = 0
    groups = split_groups(rewards, group_size)
    for group in groups:
        scored = [reward for reward in group if reward is not None]
        if not scored:
            failed += 1
        elif max(scored) - min(scored) <= TIE_TOLERANCE:
            solved += scored[0] >= solved_at - TIE_TOLERANCE
            failed += scored[0] < solved_at - TIE_TOLERANCE
    total = max(1, len(groups))
    return DeadGroups((solved + failed) / total, solved / total, failed / total)


def mean_or_none(values: Rewards) -> float | None:
    """Mean of the scored values; None when there are none."""
    scored = [value for value in values if value is not None]
    if any(not math.isfinite(value) for value in scored):
        raise ValueError(f"rewards and metrics are finite numbers: got {scored!r}; fix the environment's grader")
    return fmean(scored) if scored else None
