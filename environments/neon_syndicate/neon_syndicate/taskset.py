"""verifiers v1: the taskset and its task."""

from collections.abc import Iterator
from typing import Self

import verifiers.v1 as vf
from pydantic import PrivateAttr, model_validator

from .arguments import NeonArguments
from .core.fingerprint import grader_fingerprint
from .core.generator import mission_of
from .core.grader import Grade, RewardName, grade
from .core.prompts import SYSTEM_PROMPT
from .core.simulator import replay, settle
from .policies import oracle, play


class NeonData(vf.TaskData):
    id: str
    """The task key; the mission is built from it."""


class NeonTaskConfig(vf.TaskConfig):
    # The public knob is on the taskset config; env servers and replay rebuild tasks from this config alone.
    _reward: RewardName = PrivateAttr("shaped")


class NeonTask(vf.Task[NeonData, vf.State, NeonTaskConfig]):
    @property
    def key(self) -> str:
        return self.data.id

    def grade(self, replies: list[str]) -> Grade:
        """The grade of a transcript; turns never played count as silence."""
        return grade(settle(replay(mission_of(self.data.id), replies)))

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        trace.info["grader_fingerprint"] = grader_fingerprint()

    @vf.metric
    async def diagnostics(self, trace: vf.Trace) -> dict[str, float]:
        return self.grade(trace.info.get("replies", [])).metrics()

    @vf.reward
    async def signal(self, trace: vf.Trace) -> dict[str, float]:
        name = self.config._reward
        return {name: self.grade(trace.info.get("replies", [])).signal(name)}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Perfect play wins with full marks, and silence wins nothing."""
        best = grade(settle(play(mission_of(self.data.id), oracle, seed=0)))
        return best.grader == best.success == 1.0 and self.grade([]).success == 0.0


class NeonConfig(NeonArguments, vf.TasksetConfig):
    task: NeonTaskConfig = NeonTaskConfig()

    @model_validator(mode="after")
    def _mirror_knobs(self) -> Self:
        self.task = self.task.model_copy()
        self.task._reward = self.reward
        return self


class NeonTaskset(vf.Taskset[NeonTask, NeonConfig]):
    def __init__(self, config: NeonConfig) -> None:
        super().__init__(config)
        self.INFINITE = config.is_endless

    def load(self) -> Iterator[NeonTask]:
        for key in self.config.task_keys():
            yield NeonTask(NeonData(id=key, prompt=None, system_prompt=SYSTEM_PROMPT), self.config.task)
