"""Alarms over the step metrics: three ways a run goes wrong that no single number shows.

collapse: nearly every group is dead for a whole window (the guess-and-quit fixed point). hack: from one window to the
next the gap grew while the true reward fell. sync: sampler and trainer disagree about what was sampled.
"""

from collections import deque
from collections.abc import Mapping
from statistics import fmean
from typing import Literal, NamedTuple

from vf_grpo.config import AlarmConfig

AlarmName = Literal["collapse", "hack", "sync"]
StepRow = Mapping[str, float | None]


class Alarm(NamedTuple):
    name: AlarmName
    message: str


class Alarms:
    """Feed it one row a step; it answers with the alarms that row raises, each once until its condition has cleared."""

    def __init__(self, config: AlarmConfig) -> None:
        self._config = config
        self._rows: deque[StepRow] = deque(maxlen=2 * config.window)
        self._active: set[AlarmName] = set()

    def check(self, row: StepRow) -> list[Alarm]:
        self._rows.append(row)
        found = [alarm for alarm in (self._collapse(), self._hack(), self._sync(row)) if alarm is not None]
        fresh = [alarm for alarm in found if alarm.name not in self._active]
        self._active = {alarm.name for alarm in found}
        return fresh

    def _collapse(self) -> Alarm | None:
        dead = [row.get("dead_group_fraction") for row in self._rows][-self._config.window :]
        limit = self._config.collapse_dead_fraction
        if len(dead) < self._config.window or any(value is None or value <= limit for value in dead):
            return None
        return Alarm(
            "collapse", f"more than {limit:.0%} of the groups were dead for {len(dead)} steps: nothing is learnt"
        )

    def _hack(self) -> Alarm | None:
        gap, true = self._change("gap"), self._change("true_mean")
        limit = self._config.hack_slope
        if gap is None or true is None or gap <= limit or true >= -limit:
            return None
        return Alarm(
            "hack", f"the gap grew by {gap:.3f} while the true reward fell by {-true:.3f}: the signal is gamed"
        )

    def _sync(self, row: StepRow) -> Alarm | None:
        difference = row.get("logprob_difference")
        if difference is None or difference <= self._config.max_logprob_difference:
            return None
        return Alarm(
            "sync", f"sampler and trainer log-probabilities differ by {difference:.3f} on average: stale weights?"
        )

    def _change(self, name: str) -> float | None:
        """Mean of the newer window minus mean of the older one; None until both are full."""
        values = [value for row in self._rows if (value := row.get(name)) is not None]
        window = self._config.window
        return fmean(values[window:]) - fmean(values[:window]) if len(values) == 2 * window else None
