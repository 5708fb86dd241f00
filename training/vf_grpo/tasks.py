"""Which task a dataset row stands for.

TRL shuffles, repeats and shards a dataset of prompts; ours holds only task identities (`train[17]`), so that every
member of a group, on whatever rank, resolves to the same task. With a curriculum a row stands for a draw: the level
is chosen when the row is played, from state that all ranks share.
"""

import random
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import verifiers.v1 as vf
from pydantic import JsonValue

from vf_grpo.config import CurriculumConfig, TrainConfig
from vf_grpo.curriculum import Curriculum

_IDENTITY = re.compile(r"train\[(\d+)\]")


class PlannedTask(NamedTuple):
    """A task and the curriculum level it belongs to (None without a curriculum)."""

    task: vf.Task
    level: int | None


class TaskPlan:
    """Training and held-out tasks of a run, loaded once and identical on every rank."""

    def __init__(self, config: TrainConfig, env: vf.Env[Any]) -> None:
        levels: Sequence[JsonValue] = config.curriculum.values if config.curriculum else [None]
        self._levels = [_take(_taskset(env, config.curriculum, level), config.num_tasks) for level in levels]
        self._seed = config.seed
        self.curriculum = Curriculum(config.curriculum) if config.curriculum else None
        self.held_out = _held_out(config, env)
        self.num_rows = max(len(tasks) for tasks in self._levels)
        smallest = min(len(tasks) for tasks in self._levels)
        if smallest < config.batch.groups_per_step:
            raise ValueError(
                f"the taskset yields {smallest} tasks, fewer than batch.groups_per_step "
                f"{config.batch.groups_per_step}: raise the taskset's own size or lower groups_per_step"
            )

    def identities(self) -> list[str]:
        """The prompt column: one identity a row."""
        return [f"train[{index}]" for index in range(self.num_rows)]

    def resolve(self, identity: str, step: int) -> PlannedTask:
        """The task that `identity` stands for at `step`: the same on every rank and for every member of a group."""
        match = _IDENTITY.fullmatch(identity)
        if match is None:
            raise ValueError(f"unknown task identity {identity!r}: expected the form train[17]")
        index = int(match[1])
        if self.curriculum is None:
            return PlannedTask(self._levels[0][index], None)
        stream = random.Random(f"curriculum/{self._seed}/{step}/{index}")
        level = self.curriculum.choose(stream)
        tasks = self._levels[level]
        return PlannedTask(tasks[index % len(tasks)], level)


def _taskset(env: vf.Env[Any], curriculum: CurriculumConfig | None, level: JsonValue) -> vf.Taskset[Any, Any]:
    return env.taskset if curriculum is None else _with_settings(env, {curriculum.field: level})


def _with_settings(env: vf.Env[Any], settings: dict[str, JsonValue]) -> vf.Taskset[Any, Any]:
    """The environment's taskset with some settings replaced; an unknown one is refused by name."""
    config = env.taskset.config
    unknown = sorted(set(settings) - set(type(config).model_fields))
    if unknown:
        raise ValueError(f"{config.id} has no taskset setting {unknown}; it has {sorted(type(config).model_fields)}")
    changed = type(config).model_validate({**config.model_dump(exclude_unset=True), "id": config.id, **settings})
    return vf.load_taskset(changed)


def _held_out(config: TrainConfig, env: vf.Env[Any]) -> list[vf.Task]:
    evaluation = config.evaluation
    if not evaluation.num_tasks:
        return []
    if evaluation.taskset:
        tasks = _take(_with_settings(env, dict(evaluation.taskset)), evaluation.num_tasks)
    else:
        tasks = _take(env.taskset, config.num_tasks + evaluation.num_tasks)[config.num_tasks :]
    if len(tasks) < evaluation.num_tasks:
        raise ValueError(
            f"evaluation.num_tasks is {evaluation.num_tasks} but only {len(tasks)} held-out tasks are left: "
            "raise the taskset's own size, lower num_tasks, or set evaluation.taskset"
        )
    return tasks


def _take(taskset: vf.Taskset[Any, Any], count: int) -> list[vf.Task]:
    return list(islice(taskset, count))
