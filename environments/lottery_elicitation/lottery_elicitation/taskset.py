"""verifiers v1: the taskset and its task."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Self

import verifiers.v1 as vf
from pydantic import PrivateAttr, model_validator

from .arguments import LotteryArguments
from .core.actions import Estimate, Proposal
from .core.battery import battery
from .core.generator import task_key
from .core.grader import METRICS, Grade, grade, grader_fingerprint
from .core.prompts import system_prompt
from .core.scoring import RewardName
from .core.settings import Settings
from .core.simulator import State, initial_state, replay, step


class LotteryData(vf.TaskData):
    id: str
    """split/stage/seed/index: the hidden parameters are drawn from streams of this name."""
    index: int


class LotteryTaskConfig(vf.TaskConfig):
    # The public knobs are on the taskset config; env servers and replay rebuild tasks from that config alone.
    _reward: RewardName = PrivateAttr("robust")
    _settings: Settings = PrivateAttr(Settings())


class LotteryTask(vf.Task[LotteryData, vf.State, LotteryTaskConfig]):
    @property
    def key(self) -> str:
        return self.data.id

    def start(self, noise_seed: int) -> State:
        return initial_state(self.config._settings, self.data.index, noise_seed)

    def grade(self, trace: vf.Trace) -> Grade:
        facts = trace.info.get("episode")
        return grade(replay(self.config._settings, facts) if facts else self.start(noise_seed=0))

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        trace.info["grader_fingerprint"] = grader_fingerprint()

    @vf.metric
    async def diagnostics(self, trace: vf.Trace) -> dict[str, float]:
        grades = asdict(self.grade(trace))
        return {name: grades[name] for name in METRICS}

    @vf.reward
    async def signal(self, trace: vf.Trace) -> dict[str, float]:
        return {self.config._reward: self.grade(trace).reward}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """The truth, committed where stopping is first allowed, scores full marks; an untouched episode scores none."""
        untouched = state = self.start(noise_seed=0)
        truth = Estimate(*state.world.preferences)
        while not state.is_over:
            pair = None if state.num_turns + 1 >= state.settings.min_turns else battery()[0]
            state = step(state, Proposal(pair=pair, estimate=truth, terminate_early=True))
        full, none = grade(state), grade(untouched)
        return full.mse == 0.0 and full.hl_accuracy == full.success5 == 1.0 and none.hl_accuracy == none.success5 == 0.0


class LotteryConfig(LotteryArguments, vf.TasksetConfig):
    task: LotteryTaskConfig = LotteryTaskConfig()

    @model_validator(mode="after")
    def _mirror_knobs(self) -> Self:
        self.task = self.task.model_copy()
        self.task._reward, self.task._settings = self.reward, self.settings()
        return self


class LotteryTaskset(vf.Taskset[LotteryTask, LotteryConfig]):
    def load(self) -> Iterator[LotteryTask]:
        config = self.config
        settings = config.settings()
        prompt = system_prompt(settings)
        for index in range(config.num_tasks(config.split)):
            data = LotteryData(id=str(task_key(settings, index)), index=index, prompt=None, system_prompt=prompt)
            yield LotteryTask(data, config.task)
