"""A success-driven curriculum: the next level opens once the newest open one is solved often enough.

Levels are numbered from easy to hard. Most groups play the newest open level, some review an earlier one. The state
changes only through `record`, which every rank calls with the same gathered outcomes, so ranks agree without talking.
"""

import random
from collections import deque
from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

from vf_grpo.config import CurriculumConfig


class CurriculumState(NamedTuple):
    """What a checkpoint keeps: the newest open level and its latest group means, oldest first."""

    newest: int
    recent: list[float]


class Curriculum:
    def __init__(self, config: CurriculumConfig) -> None:
        self._config = config
        self._newest = 0
        self._recent: deque[float] = deque(maxlen=config.memory)

    @property
    def newest(self) -> int:
        return self._newest

    def choose(self, stream: random.Random) -> int:
        """The level for one group, drawn from `stream`."""
        if self._newest and stream.random() < self._config.review_fraction:
            return stream.randrange(self._newest)
        return self._newest

    def record(self, outcomes: Iterable[tuple[int, float]]) -> None:
        """Take in (level, mean reward) of finished groups, in gathered order."""
        for level, reward in outcomes:
            if level != self._newest:
                continue
            self._recent.append(reward)
            is_full = len(self._recent) == self._config.memory
            if is_full and fmean(self._recent) >= self._config.promote_at and self._has_next:
                self._newest += 1
                self._recent.clear()

    def save(self) -> CurriculumState:
        return CurriculumState(self._newest, list(self._recent))

    def restore(self, state: CurriculumState) -> None:
        self._newest = state.newest
        self._recent = deque(state.recent, maxlen=self._config.memory)

    @property
    def _has_next(self) -> bool:
        return self._newest + 1 < len(self._config.values)
